// Checks: properties with their verdicts, live progress, the queue, and the history of the session side by side.

import { useState } from "preact/hooks";
import * as api from "../api";
import { jump } from "../editor";
import { Empty, Icon, bytes, grouped, seconds } from "../parts";
import * as store from "../store";
import type { Check, Progress, Property, Report } from "../types";

const SIGN = { holds: "✓", violated: "✗", unknown: "?" } as const;

function Verdict({ of }: { of: Property }) {
  return <span class={`badge ${of.verdict}`}>{SIGN[of.verdict]} {of.verdict}</span>;
}

/** States over time, and how fast they come. */
function Plot({ points, limit }: { points: Progress[]; limit: number | undefined }) {
  const last = points[points.length - 1];
  if (!last) return <p class="faint">preparing…</p>;
  const width = 560, height = 90;
  const most = Math.max(...points.map(one => one.states), 1), end = Math.max(last.seconds, 0.001);
  const line = points.map((one, at) => `${at ? "L" : "M"}${(one.seconds / end * width).toFixed(1)},${(height - one.states / most * (height - 6)).toFixed(1)}`).join("");
  const previous = points[Math.max(0, points.length - 6)]!;
  const rate = last.seconds > previous.seconds ? (last.states - previous.states) / (last.seconds - previous.seconds) : last.states / end;
  const figures: [string, string][] = [
    ["states", grouped(last.states)], ["per second", grouped(Math.round(rate))], ["depth", grouped(last.depth)],
    ["waiting", grouped(last.frontier)], ["memory", bytes(last.memory)], ["time", seconds(last.seconds)],
  ];
  return (
    <div class="progress">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${last.states} states after ${last.seconds.toFixed(1)} seconds`}>
        <path class="area" d={`${line}L${width},${height}L0,${height}Z`} /><path class="line" d={line} />
      </svg>
      <dl>{figures.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      <Budgets last={last} limit={limit} />
    </div>
  );
}

/** How full the budgets are that were given. */
function Budgets({ last, limit }: { last: Progress; limit: number | undefined }) {
  const one = (name: string) => store.given.value[name]?.[0];
  const time = (text: string) => { const hit = text.match(/^([\d.]+)(ms|s|m|h)?$/); return hit ? Number(hit[1]) * ({ ms: 0.001, s: 1, m: 60, h: 3600 }[hit[2] ?? "s"]!) : 0; };
  const rows: [string, number, number][] = [];
  if (one("timeout")) rows.push(["time", last.seconds, time(one("timeout")!)]);
  if (limit) rows.push(["memory", last.memory, limit]);
  if (one("max-states")) rows.push(["states", last.states, Number(one("max-states"))]);
  return <>{rows.filter(row => row[2] > 0).map(([name, used, all]) => <label key={name} class="budget">{name} budget <meter min={0} max={1} value={Math.min(1, used / all)}>{Math.round(used / all * 100)} %</meter> {Math.round(used / all * 100)} %</label>)}</>;
}

function Violations({ check, property, first }: { check: Check; property: Property; first: number }) {
  return (
    <ul class="violations">
      {property.violations.map((one, at) => (
        <li key={at}>
          <span class="bad">{one.message}</span>{" "}
          {one.file && <button class="link" onClick={() => jump(one.file, one.line)}>{one.file}:{one.line}</button>}
          <span class="faint"> after {one.depth} steps{one.cycle !== undefined && `, the last ${one.depth - one.cycle} repeated forever`}, confirmed by replay</span>
          {one.reason && <p>{one.reason}</p>}
          <span class="actions">
            <button onClick={() => store.openCounterexample(check.id, first + at)}>Walk through</button>
            <button onClick={() => api.download(`/checks/${check.id}/trails/${first + at}`, `${check.model?.split("/").pop()}.trail.json`).catch(store.complain)}><Icon name="down" /> Trail</button>
            {!store.info.value?.read_only && <button title="Write it into the folder, to be opened again later" onClick={() => store.keepTrail(check.id, first + at)}>Keep</button>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What was said about store buffers: how far the verdict goes, and where fences are missing. */
function Memory({ of }: { of: Report["memory"] }) {
  if (!of.model) return null;
  return (
    <section aria-label="Memory model">
      <p>Memory: <code>{of.model}</code>{of.bound !== undefined && <>, buffers of {of.bound} {of.exact ? "stores, which never were too small: larger ones change nothing" : "stores"}</>}{of.buffered && of.buffered.length > 0 && <>; buffered: <code>{of.buffered.join(", ")}</code></>}</p>
      {of.fences && (of.fences.places
        ? of.fences.places.length === 0 ? <p>No fence is needed.</p> : <><p>These fences are enough:</p><ul class="violations">{of.fences.places.map((one, at) => <li key={at}><button class="link" onClick={() => jump(one.file, one.line, one.column)}>{one.file}:{one.line}</button> {one.process}: <code>fence</code> {one.where} <code>{one.statement}</code></li>)}</ul></>
        : <p class="warn">{of.fences.reason}</p>)}
    </section>
  );
}

/** All that a property has and no column shows, so that what later searches tell is there as well. */
function Figures({ of }: { of: Property }) {
  const shown = ["name", "kind", "verdict", "violations", "states", "transitions", "depth", "reason", "note", "proof", "vacuous", "witness", "unreached", "holds_under_weak_fairness", "holds_under_strong_fairness", "omission_probability"];
  const flat = Object.entries(of).flatMap(([name, value]): [string, unknown][] =>
    (value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value).map(([inner, one]) => [`${name} ${inner}`, one]) : [[name, value]]));
  const rows = flat.filter(([name, value]) => !shown.includes(name) && value !== null && typeof value !== "object");
  const lists = flat.filter((one): one is [string, Record<string, unknown>[]] => !shown.includes(one[0]) && Array.isArray(one[1]) && one[1].length > 0 && one[1].every(row => row !== null && typeof row === "object"));
  const cell = (value: unknown) => (value === null || value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value));
  const tables = lists.map(([name, list]) => {
    const columns = [...new Set(list.flatMap(row => Object.keys(row)))];
    return <table key={name} class="properties listed"><caption>{name}</caption><thead><tr>{columns.map(column => <th key={column} scope="col">{column}</th>)}</tr></thead>
      <tbody>{list.slice(0, 500).map((row, at) => <tr key={at}>{columns.map(column => <td key={column}>{cell(row[column])}</td>)}</tr>)}</tbody></table>;
  });
  // What was asked for by an option is open.
  return <details class="figures" open={tables.length > 0}><summary>Figures</summary>{tables}<dl>{rows.map(([name, value]) => <div key={name}><dt>{name.replace(/_/g, " ")}</dt><dd>{typeof value === "number" ? grouped(value) : String(value)}</dd></div>)}</dl></details>;
}

/** What the check said besides its verdict, without what the editor says of the text anyway. */
function notices(check: Check) {
  const known = new Set(store.analysis.value?.diagnostics.map(one => one.message));
  const told = [...(check.report?.notices ?? []), ...(check.notices ?? [])].filter(one => !known.has(one.message));
  return told.filter((one, at) => told.findIndex(other => other.message === one.message && other.line === one.line) === at);
}

function Result({ check }: { check: Check }) {
  const report = check.report;
  if (check.error) {
    return <div class="failure"><p class="bad">✗ {check.error.message}</p>{check.error.help && <p>{check.error.help}</p>}
      <ul>{check.notices?.filter(one => one.severity === "error").map((one, at) => <li key={at}>{one.file && <button class="link" onClick={() => jump(one.file!, one.line!)}>{one.file}:{one.line}</button>} {one.message}</li>)}</ul></div>;
  }
  if (!report) return null;
  let before = 0;
  const config = report.config;
  return (
    <>
      <table class="properties">
        <thead><tr><th scope="col">property</th><th scope="col">verdict</th><th scope="col" class="right">states</th><th scope="col" class="right">transitions</th><th scope="col" class="right">depth</th></tr></thead>
        {report.properties.map(one => {
          const first = before;
          before += one.violations.filter(v => v.depth !== undefined).length;
          const unreached = one.exhaustive ? one.unreached?.length ?? 0 : 0;
          return (
            <tbody key={one.name}>
              <tr><th scope="row"><code>{one.name}</code></th><td><Verdict of={one} /></td><td class="right">{grouped(one.states)}</td><td class="right">{one.transitions === null ? "" : grouped(one.transitions)}</td><td class="right">{one.depth === null ? "" : grouped(one.depth)}</td></tr>
              {(one.violations.length > 0 || one.reason || one.note || one.vacuous || unreached > 0 || one.proof || one.witness || typeof one.omission_probability === "number" || one.holds_under_weak_fairness || one.holds_under_strong_fairness) && <tr><td colSpan={5} class="detail">
                {(one.reason ?? one.note) && <p class="warn">Nothing is proved: {one.reason ?? one.note}.</p>}
                {one.vacuous && <p class="warn">It holds vacuously: <code>{one.vacuous.holds}</code> holds as well, so <code>{one.vacuous.irrelevant}</code> does not matter.</p>}
                {one.holds_under_weak_fairness && <p>It holds under weak fairness. <button onClick={() => store.beginFair("weak", one.name)}>Check with --fair weak</button></p>}
                {one.holds_under_strong_fairness && <p>It holds under strong fairness. <button onClick={() => store.beginFair("strong", one.name)}>Check with --fair strong</button></p>}
                {one.witness && <p>{one.witness.message} <span class="faint">(after {one.witness.depth} steps)</span></p>}
                {one.proof && <ul class="proof">{one.proof.map((line, at) => <li key={at}><code>{line}</code></li>)}</ul>}
                {typeof one.omission_probability === "number" && <p class="warn">The store is lossy: a state was missed with a probability of {one.omission_probability.toPrecision(2)}.</p>}
                {unreached > 0 && <p class="faint">{unreached} {unreached === 1 ? "statement is" : "statements are"} never executed: see the marks in the source.</p>}
                <Violations check={check} property={one} first={first} />
              </td></tr>}
              <tr><td colSpan={5} class="detail"><Figures of={one} /></td></tr>
            </tbody>
          );
        })}
      </table>
      <Memory of={report.memory} />
      {notices(check).map((one, at) => <p key={at} class="warn">{one.file && <button class="link" onClick={() => jump(one.file!, one.line ?? 1)}>{one.file}:{one.line}</button>} {one.message}{one.help && <span class="faint"> {one.help}</span>}</p>)}
      <p class="faint">{config.engine} · {config.search} · {config.store} · {config.exec} · {config.threads} {config.threads === 1 ? "thread" : "threads"} · reduction {config.por} · {seconds(report.seconds.total)} · peak {bytes(report.memory.peak_rss)}</p>
    </>
  );
}

function Command() {
  const copy = async () => {
    try { await navigator.clipboard.writeText(store.command.value); store.say("copied"); } catch { store.say("the browser does not let the page copy: mark it and copy by hand", true); }
  };
  return (
    <div class="command">
      <code tabIndex={0} aria-label="The command that does the same">{store.commandError.value ?? store.command.value}</code>
      <button title="Copy the command" aria-label="Copy the command" disabled={!!store.commandError.value} onClick={copy}><Icon name="copy" /></button>
    </div>
  );
}

/** Two checks of the history beside each other. */
function History() {
  const list = store.checks.value;
  const [compared, setCompared] = useState<number | null>(null);
  if (list.length === 0) return null;
  const properties = (one: Check | undefined) => one?.report?.properties ?? (one?.memory ? [...one.memory.report.properties, ...one.memory.report.tests] : undefined);
  const verdict = (one: Check) => one.report?.verdict ?? one.memory?.report.verdict;
  const time = (one: Check | undefined) => one?.report?.seconds.total ?? one?.memory?.report.seconds.total;
  const states = (one: Check | undefined) => properties(one)?.reduce((sum, p) => sum + (typeof p.states === "number" ? p.states : 0), 0);
  const base = list.find(one => one.id === compared);
  const factor = (now: number | undefined, then: number | undefined) => (now !== undefined && then ? ` ×${(now / then).toFixed(2)}` : "");
  return (
    <section aria-label="Checks of this session">
      <h3>Checks of this session</h3>
      <table class="history">
        <thead><tr><th scope="col">#</th><th scope="col">command</th><th scope="col">verdict</th><th scope="col" class="right">states</th><th scope="col" class="right">time</th><th scope="col" class="right">memory</th><th scope="col">compare</th></tr></thead>
        <tbody>
          {[...list].reverse().map(one => (
            <tr key={one.id} class={one.id === store.shownCheck.value ? "now" : ""}>
              <th scope="row"><button class="link" onClick={() => { if (one.command?.startsWith("spinor memory")) store.tab.value = "memory"; else store.shownCheck.value = one.id; }}>{one.id}</button></th>
              <td class="cut" title={one.command}><code>{one.command?.replace(/^spinor check /, "")}</code></td>
              <td>{one.state !== "done" ? <span class="faint">{one.state}</span> : verdict(one) ? <span class={`badge ${verdict(one)}`}>{SIGN[verdict(one)!]} {verdict(one)}</span> : <span class="bad">refused</span>}</td>
              <td class="right states">{states(one) !== undefined && grouped(states(one)!)}<span class="faint factor">{base && base !== one && factor(states(one), states(base))}</span></td>
              <td class="right">{time(one) !== undefined && seconds(time(one)!)}<span class="faint factor">{base && base !== one && factor(time(one), time(base))}</span></td>
              <td class="right">{one.report && bytes(one.report.memory.state_bytes)}<span class="faint factor">{base && base !== one && factor(one.report?.memory.state_bytes, base.report?.memory.state_bytes)}</span></td>
              <td>{one.state === "done" ? <label><input type="radio" name="compared" checked={compared === one.id} onChange={() => setCompared(one.id)} aria-label={`Compare the others with check ${one.id}`} /></label>
                : <button onClick={() => store.stopCheck(one.id)}>Stop</button>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function CheckView() {
  const check = store.check.value;
  const properties = store.analysis.value?.properties;
  return (
    <div class="view"><div class="scroll checks" tabIndex={0} role="region" aria-label="Checks">
      <Command />
      {check === null ? (
        <Empty>
          <h2>{properties ? "Ready to check" : store.errors.value.length ? "The model has errors" : "Reading the model…"}</h2>
          {properties && <><p>{properties.map(one => <code key={one} class="chip">{one}</code>)}</p>
            <p class="faint">Press <em>Check</em> (Ctrl-Enter) to explore every reachable state, or <em>Simulate</em> to look at one run.</p></>}
        </Empty>
      ) : (
        <section aria-label="Result" class="result">
          <h2>Check {check.id} <span class="faint">{check.model}</span>
            {check.state !== "done" && <button class="danger" onClick={() => store.stopCheck(check.id)}><Icon name="stop" /> Stop</button>}
            {check.report && <button onClick={() => api.download(`/checks/${check.id}/report.html`, "report.html").catch(store.complain)}><Icon name="down" /> Report</button>}
          </h2>
          {check.state === "waiting" && <p>It waits for the check before it.</p>}
          {check.state !== "waiting" && (check.state === "running" || (store.progress.value[check.id]?.length ?? 0) > 3) && <Plot points={store.progress.value[check.id] ?? []} limit={check.memory_limit} />}
          <Result check={check} />
        </section>
      )}
      <History />
    </div></div>
  );
}
