// The bar at the top: what is checked, how, and what came out.

import * as api from "./api";
import { Icon, grouped, seconds } from "./parts";
import * as store from "./store";

function verdict() {
  const running = store.running.value;
  if (running) {
    const states = running.progress?.states;
    return <span class="pill running"><span class="spinner" aria-hidden="true" /> checking{states ? `, ${grouped(states)} states` : ""}</span>;
  }
  const check = store.check.value;
  if (check?.error) return <><span class="pill violated">✗ not checked</span><span class="detail">{check.error.message}</span></>;
  const report = check?.report;
  if (!report) return store.errors.value.length > 0 ? <span class="pill violated">✗ the model has errors</span> : null;
  const first = report.properties.find(one => one.violations.length > 0)?.violations[0];
  const states = report.properties.reduce((most, one) => Math.max(most, Number(one.states)), 0);
  const word = { holds: "✓ holds", violated: first ? `✗ violated after ${grouped(first.depth)} ${first.depth === 1 ? "step" : "steps"}` : "✗ violated", unknown: "? not decided" }[report.verdict];
  const why = report.verdict === "unknown" ? report.properties.find(one => one.reason)?.reason : undefined;
  return <>
    <span class={`pill ${report.verdict}`}>{word}</span>
    <span class="detail">{first && `${first.kind}${first.line ? ` at line ${first.line}` : ""}${first.process ? ` in ${first.process}[${first.pid}]` : ""} · `}{why ?? `${grouped(states)} ${states === 1 ? "state" : "states"} · ${seconds(report.seconds.total)}`}{first && " · confirmed by replay"}</span>
  </>;
}

export function Header() {
  const model = store.model.value;
  const broken = store.errors.value.length > 0;
  const half = !!store.analysis.value?.memory_system;
  const properties = store.analysis.value?.properties ?? [];
  const count = Object.keys(store.given.value).length;
  return (
    <header class="top">
      <h1><img src="/icon.svg" alt="" width="22" height="22" /> Spinor</h1>
      <label><span class="hidden">Model</span>
        <select class="model" value={model ?? ""} onChange={event => {
          const path = event.currentTarget.value;
          if (path.endsWith(".trail.json")) void store.openTrail(path); else void store.openFile(path);
        }}>
          {model && !store.files.value.includes(model) && <option value={model}>{model} (new)</option>}
          <optgroup label="Models">{store.models.value.map(path => <option key={path} value={path}>{path}</option>)}</optgroup>
          {store.trails.value.length > 0 && <optgroup label="Trails">{store.trails.value.map(path => <option key={path} value={path}>{path}</option>)}</optgroup>}
        </select>
      </label>
      <label><span class="hidden">Property</span>
        <select class="property" value={store.property.value} onChange={event => { store.property.value = event.currentTarget.value; }}>
          <option value="">all properties</option>
          {properties.map(name => <option key={name} value={name}>{name}</option>)}
          <option value="progress">progress (no starvation without it)</option>
        </select>
      </label>
      <button class="accent" disabled={!model || broken} title={half ? "A memory system is half of a model: the view Memory tests it (Ctrl-Enter)" : store.running.value ? "Explore every reachable state, after the check that is under way (Ctrl-Enter)" : "Explore every reachable state (Ctrl-Enter)"} onClick={() => store.beginCheck()}>{half ? "Test" : "Check"}</button>
      {store.running.value && <button class="danger" title="End the check that is under way" onClick={() => store.stopCheck(store.running.value!.id)}><Icon name="stop" /> Stop</button>}
      <span class="joined">
        <button disabled={!model || broken || half} title="A random run; the seed decides which" onClick={() => store.simulate(50)}>Simulate</button>
        <label title="The seed of the random run">seed <input type="number" min={0} value={store.seed.value} onInput={event => { store.seed.value = Math.max(0, Math.floor(Number(event.currentTarget.value) || 0)); }} /></label>
        <button disabled={!model || broken || half} title="A run that you choose step by step" onClick={() => store.simulate(0)}>Step by step</button>
      </span>
      <button onClick={() => { store.dialog.value = "options"; }}><Icon name="gear" /> Options{count > 0 && <span class="count">{count}</span>}</button>
      <div class="verdict" role="status" aria-live="polite">{verdict()}</div>
      {store.check.value?.report && <button title="Download the report: one HTML file that needs nothing else" onClick={() => api.download(`/checks/${store.check.value!.id}/report.html`, "report.html").catch(store.complain)}><Icon name="down" /> Report</button>}
      <button class="plain" aria-label="Session" title="Save and open a session" onClick={() => { store.dialog.value = "session"; }}><Icon name="session" /></button>
      <button class="plain" aria-label={store.theme.value === "dark" ? "Light colours" : "Dark colours"} title="Light or dark" onClick={store.switchTheme}><Icon name={store.theme.value === "dark" ? "sun" : "moon"} /></button>
      <button class="plain" aria-label="Keys" title="Keys (?)" onClick={() => { store.dialog.value = "keys"; }}>?</button>
    </header>
  );
}
