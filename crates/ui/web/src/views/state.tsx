// The right side: the state at the cursor (previous → current), what can be done next, who is blocked and why, watches.

import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { jump } from "../editor";
import { Icon, Statement, Who, colour, named } from "../parts";
import { Splitter } from "../splitter";
import * as store from "../store";
import type { Blocked, Leaf } from "../types";

function text(value: unknown): string | null {
  if (value === undefined) return null;
  if (value === null || typeof value !== "object") return String(value);
  // The messages of a channel: one with a single field is shown as that.
  const message = (one: unknown) => (Array.isArray(one) ? (one.length === 1 ? text(one[0]) : `(${one.map(text).join(",")})`) : text(one));
  return Array.isArray(value) ? `[${value.map(message).join(",")}]` : JSON.stringify(value);
}

/** The values before: at the pinned moment, or those that the step changed. */
function previous(): Map<string, string | null> {
  const pin = store.pinned.value;
  const now = store.moment.value!;
  const before = new Map<string, string | null>();
  if (pin) {
    const then = new Map(pin.values.map(one => [one.name, one.text]));
    for (const one of now.values) if (then.get(one.name) !== one.text) before.set(one.name, then.get(one.name) ?? null);
  } else for (const one of now.step?.changes ?? []) before.set(one.name, text(one.before));
  return before;
}

function States() {
  const now = store.moment.value!;
  const before = previous();
  const pin = store.pinned.value;
  const wanted = store.filter.value;
  const fits = (one: Leaf) => { try { return wanted === "" || new RegExp(wanted, "i").test(one.name); } catch { return true; } };
  const list = now.values.filter(one => (!store.changedOnly.value || before.has(one.name)) && fits(one));
  return (
    <section aria-label="State">
      <div class="head">
        <h2>State <span class="faint">{now.moment === 0 ? "at the beginning" : `after step ${now.moment}`}</span></h2>
        <label title="Only what the step changed"><input type="checkbox" checked={store.changedOnly.value} onChange={event => { store.changedOnly.value = event.currentTarget.checked; }} /> changed</label>
        <button class="plain" aria-pressed={pin !== null} title={pin ? `Values are compared with moment ${pin.moment}: a click ends that` : "Pin this moment: later ones are compared with it"} aria-label="Pin this moment"
          onClick={() => { store.pinned.value = pin ? null : now; }}><Icon name="pin" />{pin && pin.moment}</button>
      </div>
      <table class="state">
        <thead class="hidden"><tr><th scope="col">name</th><th scope="col">previous → current</th></tr></thead>
        <tbody>
          {list.map(one => {
            const old = before.get(one.name);
            const [owner, name] = one.pid === undefined ? [null, one.name] : one.name.split(/:(.*)/s) as [string, string];
            return (
              <tr key={one.name} class={before.has(one.name) ? "changed" : ""}>
                <th scope="row">{owner && <><span class={`who ${colour(one.pid!)}`}>{owner}</span><span class="faint">:</span></>}{name}</th>
                <td>{old !== undefined && old !== null && <><del>{old}</del><span class="arrow" aria-label="becomes"> → </span></>}{one.channel ? <Channel text={one.text} /> : <span class="value">{one.text}</span>}</td>
              </tr>
            );
          })}
          {list.length === 0 && <tr><td class="faint" colSpan={2}>{store.changedOnly.value ? "the step changed no value" : "there are no values"}</td></tr>}
        </tbody>
      </table>
      {now.propositions.length > 0 && <ul class="propositions" aria-label="Propositions of the property">
        {now.propositions.map(one => <li key={one.text} class={one.holds ? "ok" : "off"}>{one.holds ? "✓" : "✗"} <code>{one.text}</code></li>)}
      </ul>}
      {now.in_cycle && <p class="faint">in the cycle, which is repeated forever</p>}
    </section>
  );
}

function Channel({ text }: { text: string }) {
  return <span class="value channel">{text === "[]" ? <span class="faint">empty</span> : text}</span>;
}

function Next() {
  const run = store.run.value!;
  const now = store.moment.value!;
  return (
    <section aria-label="Next">
      <div class="head"><h2>Next</h2><span class="faint">{run.may_branch ? "" : "keys 1 to 9"}</span></div>
      {now.choices.length === 0 && <p class="faint note">{run.fault && now.moment === run.steps ? "Nothing: the run ends here." : "Nobody can move."}</p>}
      <ol class="choices">
        {now.choices.map(one => (
          <li key={one.choice} class={one.taken ? "taken" : ""}>
            <button class="choice" disabled={run.may_branch !== null && !one.taken} title={run.may_branch ?? (one.taken ? "the step of the run" : "branch here")}
              onClick={() => store.take(now.moment, [one.choice])}>
              <Statement of={one} />
              {one.fault && <span class="bad"> ✗ {one.fault.message}</span>}
              <span class="faint"> {one.taken ? (run.on_trail ? "the trail" : "this run") : "branch"}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Stuck({ of }: { of: Blocked }) {
  const [first, ...rest] = of.alternatives;
  const show = (one: typeof first) => one && (
    <>
      <button class="link" onClick={() => jump(one.file, one.line)}><code>{one.text}</code></button>: {one.reason}
      {one.helpers.length > 0 && <> <span class="helps">{one.helpers.map((who, at) => (
        <span key={at}>{at > 0 && ", "}<Who of={who} /> could help{who.can_move ? "" : ", but is blocked as well"} (<button class="link" onClick={() => jump(who.file, who.line)}>line {who.line}</button>)</span>
      ))}</span></>}
    </>
  );
  return (
    <li>
      <Who of={of} /> waits{of.valid_end && <span class="faint"> (a valid end)</span>} at {show(first)}
      {of.held && <span class="faint"> held: {of.held.kind}{of.held.by ? ` by ${named(of.held.by)}` : ""}</span>}
      {rest.length > 0 && <details><summary>{rest.length} more {rest.length === 1 ? "alternative" : "alternatives"}</summary><ul>{rest.map((one, at) => <li key={at}>{show(one)}</li>)}</ul></details>}
    </li>
  );
}

function Waiting() {
  const all = store.moment.value!.blocked;
  // Processes that have ended wait only for younger ones, which is no news.
  const ended = all.filter(one => one.valid_end && one.alternatives.every(way => way.kind === "younger-processes"));
  const list = all.filter(one => !ended.includes(one));
  return (
    <section aria-label="Blocked">
      <div class="head"><h2>Blocked</h2><span class="faint">{list.length === 0 ? "nobody" : ""}</span></div>
      <ul class="blocked">
        {list.map(one => <Stuck key={one.pid} of={one} />)}
        {ended.length > 0 && <li class="faint">{ended.map((one, at) => <span key={one.pid}>{at > 0 && ", "}<Who of={one} /></span>)} {ended.length === 1 ? "has" : "have"} ended.</li>}
      </ul>
    </section>
  );
}

interface Sample { moment: number; text: string | null; value: unknown }

/** A value over the whole run, as steps of a line; names are numbered in order of appearance. */
function Spark({ samples }: { samples: Sample[] }) {
  const run = store.run.value!;
  const words = new Map<string, number>();
  const height = (one: Sample) => {
    if (typeof one.value === "number") return one.value;
    if (typeof one.value === "boolean") return one.value ? 1 : 0;
    if (one.text === null) return null;
    if (!words.has(one.text)) words.set(one.text, words.size);
    return words.get(one.text)!;
  };
  const points = samples.map(one => [one.moment, height(one)] as const).filter((one): one is readonly [number, number] => one[1] !== null);
  if (points.length < 2) return null;
  const low = Math.min(...points.map(one => one[1])), high = Math.max(...points.map(one => one[1]), low + 1);
  const x = (moment: number) => 2 + (moment - run.first) / Math.max(1, run.steps - run.first) * 196;
  const y = (value: number) => 24 - (value - low) / (high - low) * 20;
  const path = points.map(([moment, value], at) => `${at ? `H${x(moment).toFixed(1)}V` : `M${x(moment).toFixed(1)},`}${y(value).toFixed(1)}`).join("");
  return <svg class="spark" viewBox="0 0 200 28" preserveAspectRatio="none" aria-hidden="true"><path d={path} /><line x1={x(store.cursor.value)} x2={x(store.cursor.value)} y1="0" y2="28" /></svg>;
}

function Watch({ expr }: { expr: string }) {
  const run = store.run.value!;
  const at = store.cursor.value;
  const [value, setValue] = useState<{ text: string; bad: boolean }>({ text: "", bad: false });
  const [samples, setSamples] = useState<Sample[]>([]);
  const parsed = expr.match(/^(\d+):(.*)$/s);
  const body = parsed ? { pid: Number(parsed[1]), expr: parsed[2]! } : { expr };
  useEffect(() => {
    let gone = false;
    api.post<{ text: string }>(`/runs/${run.id}/evaluate`, { moment: at, ...body })
      .then(found => { if (!gone) setValue({ text: found.text, bad: false }); })
      .catch(error => { if (!gone) setValue({ text: (error as Error).message, bad: true }); });
    return () => { gone = true; };
  }, [run, at, expr]);
  useEffect(() => {
    let gone = false;
    api.post<{ samples: Sample[] }>(`/runs/${run.id}/series`, body).then(found => { if (!gone) setSamples(found.samples); }).catch(() => { if (!gone) setSamples([]); });
    return () => { gone = true; };
  }, [run, expr]);
  return (
    <li>
      <code>{expr}</code><span class={value.bad ? "bad" : "value"}> {value.text}</span>
      <button class="plain" aria-label={`Remove ${expr}`} onClick={() => { store.watches.value = store.watches.value.filter(one => one !== expr); }}><Icon name="cross" /></button>
      <Spark samples={samples} />
    </li>
  );
}

function Watches() {
  const draft = useSignal("");
  const add = (event: Event) => {
    event.preventDefault();
    const expr = draft.value.trim();
    if (expr && !store.watches.value.includes(expr)) store.watches.value = [...store.watches.value, expr];
    draft.value = "";
  };
  return (
    <section aria-label="Watches">
      <div class="head"><h2>Watch</h2></div>
      <ul class="watches">{store.watches.value.map(expr => <Watch key={expr} expr={expr} />)}</ul>
      <form onSubmit={add} class="toolbar">
        <label class="grow"><span class="hidden">Expression to watch</span><input type="text" value={draft.value} placeholder="x + len(q) … or 1:local of process 1" onInput={event => { draft.value = event.currentTarget.value; }} /></label>
        <button disabled={!draft.value.trim()}>Add</button>
      </form>
    </section>
  );
}

export function StatePane() {
  const now = store.moment.value;
  if (!store.run.value || !now) {
    return (
      <aside class="pane state-pane" aria-label="State of the run">
        <Splitter side="right" label="Width of the state" />
        {!store.run.value && <div class="empty small"><p>No run yet.</p><p class="faint">A counterexample opens by itself when a check finds one; <em>Simulate</em> begins a run of the model.</p></div>}
      </aside>
    );
  }
  return (
    <aside class={`pane state-pane ${store.stale.value ? "stale" : ""}`} aria-label="State of the run">
      <Splitter side="right" label="Width of the state" />
      <div class="scroll sections" tabIndex={0} role="region" aria-label="State, next steps, who is blocked, watches"><States /><Next /><Waiting /><Watches /></div>
    </aside>
  );
}
