// Dialogs: all options of a check, made from the server's table; keys; a new model.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { openSession, saveSession } from "../links";
import { Icon } from "../parts";
import * as store from "../store";
import type { OptionSpec } from "../types";

function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => { box.current!.showModal(); }, []);
  return (
    <dialog ref={box} aria-label={title} onClose={() => { store.dialog.value = null; }} onClick={event => { if (event.target === box.current) box.current!.close(); }}>
      <div class="dialog">
        <div class="head"><h2>{title}</h2><button class="plain" aria-label="Close" onClick={() => box.current!.close()}>×</button></div>
        {children}
      </div>
    </dialog>
  );
}

function set(name: string, values: string[]): void {
  const { [name]: _, ...rest } = store.given.value;
  store.given.value = values.some(one => one !== "") || values.length > 0 ? { ...rest, [name]: values } : rest;
}

function Field({ spec }: { spec: OptionSpec }) {
  const values = store.given.value[spec.name] ?? [];
  const id = `option-${spec.name}`;
  const text = (value: string) => set(spec.name, value === "" ? [] : [value]);
  const control = () => {
    switch (spec.kind) {
      case "flag":
        return <input id={id} type="checkbox" checked={values.length > 0} aria-describedby={`${id}-help`} onChange={event => set(spec.name, event.currentTarget.checked ? [""] : [])} />;
      case "choice":
        return <select id={id} value={values[0] ?? ""} aria-describedby={`${id}-help`} onChange={event => text(event.currentTarget.value)}><option value="">default</option>{spec.words.map(word => <option key={word}>{word}</option>)}</select>;
      case "list":
        return <span class="checks-list" role="group" aria-labelledby={`${id}-label`}>{spec.words.map(word => {
          const chosen = new Set(values.flatMap(one => one.split(",")).filter(one => one !== ""));
          return <label key={word}><input type="checkbox" checked={chosen.has(word)} onChange={event => {
            if (event.currentTarget.checked) chosen.add(word); else chosen.delete(word);
            set(spec.name, chosen.size ? [[...chosen].join(",")] : []);
          }} /> {word}</label>;
        })}</span>;
      case "number":
        return <input id={id} type="number" min={0} value={values[0] ?? ""} placeholder={spec.placeholder} aria-describedby={`${id}-help`} onInput={event => text(event.currentTarget.value)} />;
      default:
        return <input id={id} type="text" value={values.join(" ")} placeholder={spec.placeholder} aria-describedby={`${id}-help`} onInput={event => text(event.currentTarget.value)} />;
    }
  };
  return (
    <div class={`option ${values.length > 0 ? "given" : ""}`}>
      {spec.kind === "list" ? <span id={`${id}-label`} class="flag"><code>--{spec.name}</code></span> : <label for={id} class="flag"><code>--{spec.name}</code></label>}
      {control()}
      <p id={`${id}-help`} class="faint">{spec.help}.</p>
    </div>
  );
}

function Options() {
  const [wanted, setWanted] = useState("");
  const specs = (store.info.value?.options ?? []).filter(spec => spec.name !== "property");
  const fits = (spec: OptionSpec) => wanted === "" || `${spec.name} ${spec.help}`.toLowerCase().includes(wanted.toLowerCase());
  return (
    <Dialog title="Options of a check">
      <div class="toolbar">
        <label class="grow"><span class="hidden">Search options</span><input type="search" value={wanted} placeholder="Search options" onInput={event => setWanted(event.currentTarget.value)} /></label>
        <button disabled={Object.keys(store.given.value).length === 0 && store.defines.value === ""} onClick={() => { store.given.value = {}; store.defines.value = ""; store.dialect.value = "spin"; }}>Defaults</button>
      </div>
      <div class="command"><code>{store.commandError.value ? <span class="bad">{store.commandError.value}</span> : store.command.value}</code></div>
      <div class="options scroll" tabIndex={0} role="region" aria-label="Options">
        <h3>The model</h3>
        <div class="option"><label for="defines" class="flag"><code>-D</code></label><input id="defines" type="text" value={store.defines.value} placeholder="N=3 DEBUG" onInput={event => { store.defines.value = event.currentTarget.value; }} /><p class="faint">Macros that are defined, with spaces between them.</p></div>
        <div class="option"><label for="dialect" class="flag"><code>--dialect</code></label><select id="dialect" value={store.dialect.value} onChange={event => { store.dialect.value = event.currentTarget.value; }}><option>spin</option><option>pv</option></select><p class="faint">Dialect of Promela.</p></div>
        <h3>Common</h3>
        {specs.filter(spec => spec.common && fits(spec)).map(spec => <Field key={spec.name} spec={spec} />)}
        <h3>Expert</h3>
        {specs.filter(spec => !spec.common && fits(spec)).map(spec => <Field key={spec.name} spec={spec} />)}
      </div>
    </Dialog>
  );
}

const KEYS: [string, string][] = [
  ["← →", "one step back, one step on"], ["Shift ← →", "the step before or after of the same process"], ["Home End", "the beginning, the end of the run"],
  ["PageUp PageDown", "twenty steps"], ["1 … 9", "take the step with this number, and branch where it is another"], ["u", "take the last step back"], ["r", "ten random steps from here"],
  ["b", "back to the trail"], ["/", "search in the run"], ["Ctrl-Enter", "check"], ["Ctrl-S", "save"], ["Ctrl-F", "find in the source"], ["Escape, Tab", "leave the editor"], ["?", "these keys"],
];

function Keys() {
  return (
    <Dialog title="Keys">
      <table class="keys"><tbody>{KEYS.map(([key, what]) => <tr key={key}><th scope="row">{key.split(" ").map(one => /^(…|,)$/.test(one) ? one : <kbd key={one}>{one}</kbd>)}</th><td>{what}</td></tr>)}</tbody></table>
      <p class="faint">In the lanes, filled is a send or a rendezvous, hollow a receive, small a step of the process alone, red an error. Spinor {store.info.value?.version}.</p>
    </Dialog>
  );
}

function NewModel() {
  const [name, setName] = useState("model.pml");
  const [copy, setCopy] = useState(false);
  const taken = store.files.value.includes(name);
  const wrong = !/\.(pml|prm|inc)$/.test(name) || name.startsWith("/") || name.includes("..");
  return (
    <Dialog title="New model">
      <form onSubmit={event => { event.preventDefault(); if (!taken && !wrong) { store.newFile(name, copy); store.dialog.value = null; } }}>
        <label>Path in the folder <input type="text" value={name} onInput={event => setName(event.currentTarget.value)} /></label>
        {taken && <p class="warn">There is such a file already.</p>}
        {wrong && <p class="warn">Models end with .pml or .prm, included files with .inc, below this folder.</p>}
        {store.file.value && <p><label><input type="checkbox" checked={copy} onChange={event => setCopy(event.currentTarget.checked)} /> with the text of {store.file.value.path} (save as)</label></p>}
        <p><button class="accent" disabled={taken || wrong}>Create</button> <span class="faint">It is written when you save it.</span></p>
      </form>
    </Dialog>
  );
}

function Session() {
  const open = async (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (!file) return;
    store.dialog.value = null;
    await openSession(file);
  };
  return (
    <Dialog title="Session">
      <div class="session">
        <p>Options, property, watched expressions, formula and filter, and the run that is shown with its branch and moment. Models and trails are files of their own: save them first.</p>
        <p><button class="accent" onClick={() => void saveSession()}><Icon name="down" /> Save the session</button></p>
        <p><label>Open a session <input type="file" accept=".json,application/json" onChange={open} /></label></p>
        <p class="faint">A reload of this page comes back to where it was by itself.</p>
      </div>
    </Dialog>
  );
}

export function Dialogs() {
  switch (store.dialog.value) {
    case "session": return <Session />;
    case "options": return <Options />;
    case "keys": return <Keys />;
    case "new": return <NewModel />;
    default: return null;
  }
}
