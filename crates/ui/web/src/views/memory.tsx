// Memory systems: a system, what it is to be held against, the table of verdicts, and violations as tables of what each
// processor did.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as api from "../api";
import { Empty, Icon, grouped, seconds } from "../parts";
import * as store from "../store";
import type { Check, MemoryCatalogue, MemoryProperty, MemoryReport, MemoryRow } from "../types";

type Aim = "model" | "rules" | "litmus" | "classify";
const AIMS: [Aim, string][] = [["model", "a memory model"], ["rules", "rules"], ["litmus", "litmus tests"], ["classify", "all models"]];
const SIGN = { holds: "✓", violated: "✗", unknown: "?" } as const;

function What({ of }: { of: MemoryRow }) {
  const place = of.address ?? "";
  switch (of.operation) {
    case "write": return <>write <b>{place}</b> := {of.value}</>;
    case "began to write": return <>write <b>{place}</b> := {of.value} …</>;
    case "read": return <>read <b>{place}</b>{of.value !== null && <> = {of.value}</>}</>;
    case "reached memory": return <><b>{place}</b> := {of.value}</>;
    default: return <>{of.operation}</>;
  }
}

/** A violation: a column for each processor, a row for each operation; the last one is what must not be. */
function Violation({ check, of }: { check: Check; of: MemoryProperty }) {
  const rows = of.table ?? [];
  const memory = rows.some(one => one.processor === null);
  const columns = [...Array(of.processors).keys()];
  return (
    <div class="violation-table">
      {of.because && <p class="bad">{of.because}</p>}
      <table class="operations">
        <caption class="hidden">What each processor did in {of.name}</caption>
        <thead><tr><th scope="col" class="right">#</th>{columns.map(cpu => <th key={cpu} scope="col" class={`who c${cpu}`}>P{cpu}</th>)}{memory && <th scope="col">memory</th>}</tr></thead>
        <tbody>{rows.map((row, at) => (
          <tr key={row.row} class={at === rows.length - 1 ? "last" : ""}>
            <th scope="row" class="right">{row.row}</th>
            {columns.map(cpu => <td key={cpu}>{row.processor === cpu && <What of={row} />}</td>)}
            {memory && <td>{row.processor === null && <What of={row} />}</td>}
          </tr>
        ))}</tbody>
      </table>
      <button onClick={() => store.openViolation(check.id, of.name)}>Walk through</button>
    </div>
  );
}

function verdict(of: MemoryProperty): [string, string] {
  if (of.allowed_by) return of.reached === null ? ["unknown", "? unknown"] : of.verdict === "violated" ? ["violated", "✗ reached"] : of.reached ? ["running", "reached"] : ["holds", "not reached"];
  return [of.verdict, `${SIGN[of.verdict]} ${of.verdict}`];
}

function Result({ check, report }: { check: Check; report: MemoryReport }) {
  const shown = useSignal<string | null>(null);
  const all = [...report.properties, ...report.tests];
  const selected = shown.value ?? all.find(one => one.table && one.verdict === "violated")?.name ?? null;
  return (
    <>
      <table class="properties memory-verdicts">
        <thead><tr><th scope="col">test</th><th scope="col">verdict</th><th scope="col">about</th><th scope="col" class="right">states</th></tr></thead>
        {all.map(one => {
          const [sort, word] = verdict(one);
          const about = one.allowed_by ? `allowed by ${one.allowed_by.join(", ") || "no model"}` : one.about;
          return (
            <tbody key={one.name}>
              <tr>
                <th scope="row">{one.table ? <button class="link" aria-expanded={selected === one.name} onClick={() => { shown.value = selected === one.name ? "" : one.name; }}><code>{one.name}</code></button> : <code>{one.name}</code>}</th>
                <td><span class={`badge ${sort}`}>{word}</span></td><td class="faint">{about}{one.reason && ` (${one.reason})`}</td><td class="right">{grouped(one.states)}</td>
              </tr>
              {one.table && selected === one.name && <tr><td colSpan={4} class="detail"><Violation check={check} of={one} /></td></tr>}
            </tbody>
          );
        })}
      </table>
      {report.classification && <section aria-label="Which models it can be"><h3>Which models it can be</h3>
        <ul class="classes">{Object.entries(report.classification).map(([name, one]) => (
          <li key={name}><span class={`badge ${one.possible === null ? "unknown" : one.possible ? "holds" : "violated"}`}>{one.possible === null ? "?" : one.possible ? "✓" : "✗"} {name}</span> <span class="faint">{one.against.join(", ")}</span></li>
        ))}</ul></section>}
      {report.conclusions.length > 0 && !report.classification && <section aria-label="Conclusions"><h3>What may be concluded</h3><ul class="conclusions">{report.conclusions.map(one => <li key={one}>{one}</li>)}</ul></section>}
      {[...(check.notices ?? []), ...report.notices].map((one, at) => <p key={at} class="warn">{one.file && one.line && `${one.file}:${one.line} `}{one.message}{one.help && <span class="faint"> {one.help}</span>}</p>)}
    </>
  );
}

/** What is chosen outlives a look at another view. */
const known = { catalogue: null as MemoryCatalogue | null, system: null as string | null, aim: "model" as Aim, against: "sc", rules: [] as string[], litmus: [] as string[], cpus: "", addresses: "", roles: false, shown: null as number | null };

export function Memory() {
  const state = useSignal({ ...known });
  const set = (change: Partial<typeof known>) => { Object.assign(known, change); state.value = { ...known }; };
  useEffect(() => { if (!known.catalogue) api.get<MemoryCatalogue>("/memory").then(catalogue => set({ catalogue })).catch(store.complain); }, []);
  const { catalogue, aim, against, rules, litmus, cpus, addresses, roles } = state.value;
  // Who writes a memory system means that one.
  const system = state.value.system ?? (store.analysis.value?.memory_system ? "" : "mesi_lost");
  if (!catalogue) return <Empty><p>Reading the tests…</p></Empty>;
  const own = system === "";
  const list = aim === "rules" ? rules : litmus;
  const ready = (aim === "model" || aim === "classify" || list.length > 0) && (!own || !!store.model.value);
  const begin = async (event: Event) => {
    event.preventDefault();
    const number = (text: string) => (text === "" ? undefined : Number(text));
    const id = await store.beginMemory({
      ...(own ? { model: store.request() } : { system }), ...(aim === "model" ? { against } : aim === "rules" ? { rules } : aim === "litmus" ? { litmus } : {}),
      cpus: number(cpus), addresses: number(addresses), all_roles: roles, options: store.searchWords(),
    });
    if (id !== null) set({ shown: id });
  };
  const tests = store.checks.value.filter(one => one.command?.startsWith("spinor memory"));
  const check = tests.find(one => one.id === state.value.shown) ?? tests[tests.length - 1] ?? null;
  const pick = (name: string, on: boolean) => {
    const next = on ? [...list, name] : list.filter(one => one !== name);
    set(aim === "rules" ? { rules: next } : { litmus: next });
  };
  const options = aim === "rules" ? catalogue.rules.map(one => [one.name, one.about] as const) : catalogue.litmus.map(name => [name, ""] as const);
  return (
    <div class="view"><div class="scroll memory" tabIndex={0} role="region" aria-label="Memory systems">
      <form class="memory-form" onSubmit={begin}>
        <label>System <select value={system} onChange={event => set({ system: event.currentTarget.value })}>
          <option value="">{store.model.value ?? "no model"} (in the editor)</option>
          <optgroup label="Built in">{catalogue.systems.map(name => <option key={name}>{name}</option>)}</optgroup>
        </select></label>
        <fieldset><legend>held against</legend>{AIMS.map(([name, label]) => <label key={name}><input type="radio" name="aim" checked={aim === name} onChange={() => set({ aim: name })} /> {label}</label>)}</fieldset>
        {aim === "model" && <label>Model <select value={against} onChange={event => set({ against: event.currentTarget.value })}>{catalogue.models.map(one => <option key={one.name} value={one.name}>{one.words} ({one.name})</option>)}</select></label>}
        {(aim === "rules" || aim === "litmus") && <fieldset class="tests"><legend>{aim === "rules" ? "Rules" : "Litmus tests"}</legend>
          <span class="picks"><button type="button" class="link" onClick={() => set(aim === "rules" ? { rules: catalogue.rules.filter(one => one.is_rule).map(one => one.name) } : { litmus: [...catalogue.litmus] })}>all</button> <button type="button" class="link" onClick={() => set(aim === "rules" ? { rules: [] } : { litmus: [] })}>none</button></span>
          {options.map(([name, about]) => <label key={name} title={about}><input type="checkbox" checked={list.includes(name)} onChange={event => pick(name, event.currentTarget.checked)} /> <code>{name}</code> <span class="faint">{about}</span></label>)}</fieldset>}
        <label title="More than the test needs: the others make noise">Processors <input type="number" min={2} max={8} value={cpus} placeholder="as needed" onInput={event => set({ cpus: event.currentTarget.value })} /></label>
        <label title="More than the test needs">Addresses <input type="number" min={1} max={8} value={addresses} placeholder="as needed" onInput={event => set({ addresses: event.currentTarget.value })} /></label>
        <label title="For systems that treat processors or addresses differently: each gets each part"><input type="checkbox" checked={roles} onChange={event => set({ roles: event.currentTarget.checked })} /> all roles</label>
        <button class="accent" disabled={!ready}>Test</button>
        {own && !store.analysis.value?.memory_system && <p class="warn">The model in the editor defines no <code>mem_read</code> and <code>mem_write</code>: see docs/memory-systems.md.</p>}
      </form>
      {tests.length > 1 && <label class="of-session">Tests of this session <select value={check?.id ?? ""} onChange={event => set({ shown: Number(event.currentTarget.value) })}>{[...tests].reverse().map(one => <option key={one.id} value={one.id}>{one.id}: {one.command?.replace(/^spinor memory /, "")}</option>)}</select></label>}
      {check === null ? (
        <Empty><h2>Does my cache keep its promises?</h2>
          <p class="faint">Processors are put around a cache, a bus or a directory, and try everything to catch it out. Choose a system that comes with Spinor, or open your own model, and press <em>Test</em>. <code>mesi_lost</code> loses an invalidation: hold it against sequential consistency.</p></Empty>
      ) : (
        <section aria-label="Result" class="result">
          <h2><code>{check.model}</code> <span class="faint">{check.state === "done" ? check.memory && seconds(check.memory.report.seconds.total) : check.state === "waiting" ? "waits for its turn" : `${check.memory?.known ?? 0} of ${check.memory?.asked ?? "…"} tests${check.progress ? `, ${grouped(check.progress.states)} states` : ""}`}</span>
            {check.state === "running" && <span class="spinner" aria-hidden="true" />}
            {check.state !== "done" && <button class="danger" onClick={() => store.stopCheck(check.id)}><Icon name="stop" /> Stop</button>}
          </h2>
          {check.command && <div class="command"><code tabIndex={0} aria-label="The command that does the same">{check.command}</code></div>}
          {check.error && <div class="failure"><p class="bad">✗ {check.error.message}</p>{check.error.help && <p>{check.error.help}</p>}<ul>{check.notices?.map((one, at) => <li key={at}>{one.file && `${one.file}:${one.line} `}{one.message}</li>)}</ul></div>}
          {check.memory && <Result key={check.id} check={check} report={check.memory.report} />}
        </section>
      )}
    </div></div>
  );
}
