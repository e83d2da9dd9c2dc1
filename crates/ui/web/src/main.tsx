// The page: layout, keys, beginning.

import { render } from "preact";
import { useSignalEffect } from "@preact/signals";
import { download, giveToken, hasToken, post } from "./api";
import { SourcePane } from "./editor";
import { Header } from "./header";
import * as links from "./links";
import { Empty } from "./parts";
import * as store from "./store";
import { CheckView } from "./views/check";
import { Dialogs } from "./views/dialogs";
import { Lanes, Scrubber, Transport } from "./views/lanes";
import { Ltl } from "./views/ltl";
import { Memory } from "./views/memory";
import { Automata, Chart, Graph, Output } from "./views/pictures";
import { StatePane } from "./views/state";
import { Steps } from "./views/steps";
import { Table } from "./views/table";
import "./style.css";

const TABS: [store.Tab, string][] = [["check", "Check"], ["steps", "Steps"], ["chart", "Chart"], ["automata", "Automata"], ["graph", "Graph"], ["table", "Table"], ["ltl", "LTL"], ["output", "Output"], ["memory", "Memory"]];

function View() {
  const tab = store.tab.value;
  if (tab === "check") return <CheckView />;
  if (tab === "automata") return <Automata />;
  if (tab === "ltl") return <Ltl />;
  if (tab === "memory") return <Memory />;
  if (!store.run.value) return <Empty><h2>No run yet</h2><p class="faint">Check the model: a counterexample opens by itself. Or simulate it, at random or step by step.</p></Empty>;
  switch (tab) {
    case "steps": return <Steps />;
    case "chart": return <Chart />;
    case "graph": return <Graph key={store.run.value.id} />;
    case "table": return <Table />;
    default: return <Output />;
  }
}

function TabBar() {
  const select = (at: number) => {
    const [name] = TABS[(at + TABS.length) % TABS.length]!;
    store.tab.value = name;
    document.getElementById(`tab-${name}`)?.focus();
  };
  const key = (event: KeyboardEvent) => {
    const at = TABS.findIndex(([name]) => name === store.tab.value);
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (move) { select(at + move); event.preventDefault(); event.stopPropagation(); }
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={key}>
      {TABS.map(([name, label]) => <button key={name} id={`tab-${name}`} role="tab" aria-selected={store.tab.value === name} aria-controls="view" tabIndex={store.tab.value === name ? 0 : -1} onClick={() => { store.tab.value = name; }}>{label}</button>)}
    </div>
  );
}

function Middle() {
  const run = store.run.value;
  return (
    <main class="pane middle">
      {run && <div class={`run ${store.stale.value ? "stale" : ""}`}>
        {store.stale.value && <p class="stale-note" role="status">The model has changed since this run: check or simulate again to see it anew.</p>}
        <Transport /><Lanes /><Scrubber />
      </div>}
      <TabBar />
      <div id="view" class="tab-view" role="tabpanel" aria-labelledby={`tab-${store.tab.value}`}><View /></div>
    </main>
  );
}

async function copyLink(): Promise<void> {
  const link = `${location.origin}/#${await links.address()}`;
  try { await navigator.clipboard.writeText(link); store.say("copied: it leads here again in this workbench, and to a trail or a model also after another spinor ui"); } catch { store.say(link, true, "the browser does not let the page copy: mark it and copy by hand"); }
}

function Footer() {
  const run = store.run.value;
  const saving = async () => {
    const name = `${run!.model.replace(/\.\w+$/, "")}.explored-${run!.id}.trail.json`;
    try {
      await post(`/runs/${run!.id}/trail`, { path: name });
      await store.listFiles();
      store.say(`the run is saved as ${name}`);
    } catch (error) { store.complain(error); }
  };
  return (
    <footer class="bottom">
      <span>{store.info.value?.folder}{store.info.value?.read_only && " (only read)"}</span>
      {run && <span>{run.trail ? `${run.on_trail ? "the counterexample" : `a branch after step ${run.shared}`} of ${run.trail.property}` : `simulation, seed ${store.seed.value}`}{run.trail?.cycle != null && run.on_trail && `, steps ${run.trail.cycle + 1} to ${run.steps} forever`}</span>}
      {run?.fault && <span class="bad">✗ {run.fault}</span>}
      {run?.can_save && !run.on_trail && !store.info.value?.read_only && <button class="link" onClick={saving}>save as a trail</button>}
      {run?.can_save && <button class="link" title="The run to its error as one HTML file that needs nothing else" onClick={() => download(`/runs/${run.id}/report.html`, "report.html").catch(store.complain)}>report of this run</button>}
      <span class="grow" />
      {run && <button class="link" title="The address leads back to this moment, also of a branch" onClick={copyLink}>copy link</button>}
      {!store.connected.value && <span class="bad">the server does not answer</span>}
      {run && <span>{store.stale.value ? "the model has changed since this run" : "the model is as it was for this run"}</span>}
    </footer>
  );
}

/** The address without its token: whoever has the one that was printed can give it here. */
function NoToken() {
  const give = (event: SubmitEvent) => {
    event.preventDefault();
    if (!giveToken((event.currentTarget as HTMLFormElement).querySelector("input")!.value)) document.getElementById("no-token")!.textContent = "There is no token in it: it ends with #token= and 32 digits and letters.";
  };
  return (
    <main class="empty"><h1>Spinor workbench</h1>
      <p>This address lacks its token. Open the one that <code>spinor ui</code> printed: its end, after the #, lets this page in. Or put it here:</p>
      <form class="toolbar" onSubmit={give}><label class="grow"><span class="hidden">The printed address</span><input type="text" autocomplete="off" spellcheck={false} placeholder="http://127.0.0.1:…/#token=…" /></label><button class="accent">Open</button></form>
      <p id="no-token" class="bad" role="alert" />
    </main>
  );
}

function Toast() {
  const said = store.toast.value;
  return <div class="toasts" role="status" aria-live="polite">{said && <div class={`toast ${said.bad ? "wrong" : ""}`}>{said.text}{said.help && <div class="faint">{said.help}</div>}</div>}</div>;
}

function App() {
  useSignalEffect(() => { document.title = store.model.value ? `${store.model.value} – Spinor` : "Spinor workbench"; });
  return <><Header /><div class="panes"><SourcePane /><Middle /><StatePane /></div><Footer /><Dialogs /><Toast /></>;
}

function keys(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); void store.saveFile(); return; }
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !event.defaultPrevented) { void store.beginCheck(); return; }
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || store.dialog.value) return;
  if (target.closest("input, textarea, select, .cm-editor, dialog")) return;
  const at = store.cursor.value;
  const act: Record<string, () => unknown> = {
    ArrowLeft: () => (event.shiftKey ? store.same(-1) : store.go(at - 1)),
    ArrowRight: () => (event.shiftKey ? store.same(1) : store.go(at + 1)),
    Home: () => store.go(0),
    End: () => store.go(store.run.value!.steps),
    PageUp: () => store.go(at - 20),
    PageDown: () => store.go(at + 20),
    u: () => store.run.value!.may_branch === null && store.undo(),
    r: () => store.run.value!.may_branch === null && store.randomFromHere(10),
    b: () => store.run.value!.trail && !store.run.value!.on_trail && store.back(),
    "/": () => { store.tab.value = "steps"; requestAnimationFrame(() => document.getElementById("find")?.focus()); },
  };
  if (event.key === "?") { store.dialog.value = "keys"; event.preventDefault(); return; }
  if (!store.run.value) return;
  if (/^[1-9]$/.test(event.key) && store.moment.value?.moment === at) {
    const choice = store.moment.value.choices[Number(event.key) - 1];
    if (choice && (choice.taken || store.run.value.may_branch === null)) void store.take(at, [choice.choice]);
    return;
  }
  const what = act[event.key];
  if (what) { what(); event.preventDefault(); }
}

const root = document.getElementById("app")!;
root.replaceChildren();
if (!hasToken) {
  render(<NoToken />, root);
} else {
  render(<App />, root);
  document.addEventListener("keydown", keys);
  window.addEventListener("focus", () => void store.lookAgain());
  window.addEventListener("beforeunload", event => { if (store.dirty.value.length > 0) event.preventDefault(); });
  // The buttons of a mouse that lead back and on.
  window.addEventListener("mouseup", event => { if (event.button === 3) void store.go(store.cursor.value - 1); if (event.button === 4) void store.go(store.cursor.value + 1); });
  begin().catch(store.complain);
}

async function begin(): Promise<void> {
  const at = location.hash;
  await store.start();
  links.comeBack();
  await links.follow(at);
  // Opening another model forgets the property.
  links.comeBack();
  links.keepAddress();
}
