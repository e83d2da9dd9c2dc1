// Formulas of linear temporal logic: written with patterns, drawn as an automaton, judged on the run at once, checked.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { Picture } from "../parts";
import * as store from "../store";
import type { Judgement, Truth } from "../types";

const SIGNS: [string, string][] = [["[] ", "always"], ["<> ", "eventually"], [" U ", "until"], [" W ", "weak until"], [" V ", "release"], ["X ", "next"], ["!", "not"], [" && ", "and"], [" || ", "or"], [" -> ", "implies"], [" <-> ", "if and only if"]];
const PATTERNS: [string, string][] = [
  ["[] p", "invariance: p always holds"],
  ["[] !p", "absence: p never happens"],
  ["<> p", "guarantee: p happens"],
  ["[] (p -> <> q)", "response: every p is followed by q"],
  ["[]<> p", "recurrence: p happens again and again"],
  ["<>[] p", "stability: p holds from some moment on"],
  ["!q W p", "precedence: no q before p"],
  ["[] (p -> (!q W r))", "p bars q until r"],
  ["(<> p) -> (!q U p)", "no q before the first p"],
  ["[] (p -> !q)", "exclusion: never both"],
  ["[]<> p -> []<> q", "if p happens again and again, so does q"],
];
const WORD: Record<Truth, string> = { true: "✓ the run satisfies it", false: "✗ the run violates it", open: "? still open: it depends on what comes" };

/** Where the formula and its propositions hold along the run. */
function Strip({ of }: { of: Judgement }) {
  const rows: [string, Truth[]][] = [["from here on", of.from], ...of.propositions.map(([name, list]): [string, Truth[]] => [name, list.map(one => (one ? "true" : "false"))])];
  const width = Math.max(4, Math.min(18, 900 / Math.max(1, of.moments.length)));
  return (
    <div class="strips scroll" tabIndex={0} role="region" aria-label="The formula along the run">
      <table><tbody>
        {rows.map(([name, list]) => (
          <tr key={name}><th scope="row"><code>{name}</code></th><td>
            <svg width={list.length * width} height={16} role="img" aria-label={`${name}: ${list.filter(one => one === "true").length} of ${list.length} moments`}>
              {list.map((one, at) => (
                <rect key={at} class={`truth-${one} ${of.moments[at] === store.cursor.value ? "now" : ""}`} x={at * width} y={1} width={Math.max(2, width - 1)} height={14} onClick={() => store.go(of.moments[at]!)}><title>{`moment ${of.moments[at]}: ${one}`}</title></rect>
              ))}
            </svg>
          </td></tr>
        ))}
      </tbody></table>
    </div>
  );
}

export function Ltl() {
  const run = store.run.value;
  const field = useRef<HTMLTextAreaElement>(null);
  const [drawn, setDrawn] = useState<{ svg: string; states: number; never: string } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [judged, setJudged] = useState<string | null>(null);
  const text = store.formula.value.trim();
  useEffect(() => {
    if (text === "") { setDrawn(null); setError(null); return; }
    const timer = setTimeout(async () => {
      try {
        setDrawn(await api.post("/ltl", { formula: text }));
        setError(null);
      } catch (wrong) { setError((wrong as Error).message); setDrawn(null); }
    }, 200);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    store.judgement.value = null;
    setJudged(null);
    if (!run || text === "" || error) return;
    const timer = setTimeout(async () => {
      try { store.judgement.value = await api.post<Judgement>(`/runs/${run.id}/judge`, { formula: text }); } catch (wrong) { setJudged((wrong as Error).message); }
    }, 250);
    return () => clearTimeout(timer);
  }, [text, run, error]);
  const insert = (sign: string) => {
    const area = field.current!;
    const [from, to] = [area.selectionStart, area.selectionEnd];
    store.formula.value = area.value.slice(0, from) + sign + area.value.slice(to);
    requestAnimationFrame(() => { area.focus(); area.setSelectionRange(from + sign.length, from + sign.length); });
  };
  const judgement = store.judgement.value;
  return (
    <div class="view"><div class="scroll ltl" tabIndex={0} role="region" aria-label="Linear temporal logic">
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Operators">{SIGNS.map(([sign, name]) => <button key={sign} title={name} aria-label={name} onClick={() => insert(sign)}><code>{sign.trim()}</code></button>)}</div>
        <label>Pattern <select value="" onChange={event => { if (event.currentTarget.value) store.formula.value = event.currentTarget.value; event.currentTarget.value = ""; }}>
          <option value="">choose…</option>{PATTERNS.map(([formula, name]) => <option key={formula} value={formula}>{formula}   {name}</option>)}
        </select></label>
      </div>
      <label class="formula">Formula; its propositions are expressions of the model
        <textarea ref={field} rows={2} spellcheck={false} value={store.formula.value} placeholder="[] (request -> <> granted)" onInput={event => { store.formula.value = event.currentTarget.value; }} />
      </label>
      {error && <p class="bad" role="alert">{error}</p>}
      <div class="toolbar">
        <button class="accent" disabled={text === "" || !!error || !store.model.value} onClick={() => store.beginCheck(["--ltl", text])}>Check on all runs</button>
        <button disabled={text === "" || !!error} onClick={() => store.beginCheck(["--ltl", `!(${text})`])} title="Looks for a run that satisfies the formula: there is one unless the negation holds">Is there a run with it?</button>
      </div>
      {run && judgement && <section aria-label="On this run"><h3>On this run: <span class={`truth ${judgement.verdict}`}>{WORD[judgement.verdict]}</span></h3><Strip of={judgement} /></section>}
      {run && judged && <p class="warn">On this run: {judged}</p>}
      {drawn && <section aria-label="Automaton"><h3>Automaton <span class="faint">{drawn.states} {drawn.states === 1 ? "state" : "states"}; runs that visit a filled one again and again satisfy the formula</span></h3>
        <div class="scroll paper" tabIndex={0} role="region" aria-label="Automaton of the formula"><Picture svg={drawn.svg} label="Automaton of the formula" /></div>
        <details><summary>Never claim</summary><pre tabIndex={0}>{drawn.never}</pre></details></section>}
    </div></div>
  );
}
