// The source pane: several files, what the server says about them, where each process stands, the statement of the step at
// the cursor, and statements that no run reaches. The editor comes in a bundle of its own; until it is there the text is
// shown without it.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Editor as CodeMirror, Marks, Problem } from "./codemirror";
import { outline } from "./outline";
import * as store from "./store";
import type { Fix, Notice } from "./types";
import { Icon, colour, letter } from "./parts";
import { Splitter } from "./splitter";

/** Built beside this bundle; not a part of it. */
const BUNDLE = "/editor.js";
/** Asked for when the page has been painted, which a background tab never is. */
const bundle = new Promise<typeof import("./codemirror")>((found, failed) => {
  const begin = () => { clearTimeout(timer); import(BUNDLE).then(found, failed); };
  const timer = setTimeout(begin, 300);
  requestAnimationFrame(() => setTimeout(begin));
});

const editor = signal<CodeMirror | null>(null);

/** Whoever wants something of the editor gets it, as soon as it is there. */
function whenThere(work: (editor: CodeMirror) => void): void {
  const end = effect(() => {
    const there = editor.value;
    if (!there) return;
    queueMicrotask(() => end());
    requestAnimationFrame(() => work(there));
  });
}
export function jump(file: string, line: number, column = 1): void {
  void store.openFile(file, false).then(() => whenThere(there => there.jump({ line, column })));
}
export function findInSource(): void { whenThere(there => there.find()); }

/** Makes the edits of a repair; all of them are in one file. */
export function repair(fix: Fix): void {
  const file = fix.edits[0]?.file;
  if (file === undefined) return;
  void store.openFile(file, false).then(() => whenThere(there => there.edit(fix.edits.map(one => ({ from: one, to: { line: one.end_line, column: one.end_column }, text: one.text })))));
}

function problems(path: string, notices: Notice[]): Problem[] {
  const list: Problem[] = [];
  for (const notice of notices) {
    const label = notice.labels.find(one => one.file === path);
    if (!label) continue;
    const parts = [notice.message, label.message, notice.help && `help: ${notice.help}`, ...notice.notes];
    const repairs = (notice.fixes ?? []).map(fix => ({ title: fix.title, apply: () => repair(fix) }));
    list.push({
      from: label, to: { line: label.end_line, column: label.end_column }, severity: notice.severity, source: notice.code,
      message: parts.filter(Boolean).join("\n"), repairs,
    });
  }
  return list;
}

/** Where the run stands, in a file. */
function marks(path: string): Marks {
  const found: Marks = { pins: new Map(), now: new Set(), fault: null, dead: new Map(), follow: null };
  const live = store.run.value !== null && !store.stale.value;
  const step = store.step.value, now = store.moment.value;
  if (live) {
    for (const one of now?.state.processes ?? []) {
      if (one.file !== path) continue;
      const pin = { letter: letter(one.process, one.pid), colour: colour(one.pid), title: `${one.process}[${one.pid}] stands here` };
      found.pins.set(one.line, [...(found.pins.get(one.line) ?? []), pin]);
    }
    for (const one of [step, step?.partner]) if (one && one.file === path) found.now.add(one.line);
    if (step?.fault) found.fault = step.line;
    if (step && step.file === path) found.follow = step.line;
  }
  for (const one of store.unreached.value) if (one.file === path) found.dead.set(one.line, one.text);
  return found;
}

function Editor() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let gone = false;
    let ends: (() => void)[] = [];
    void bundle.then(({ Editor }) => {
      if (gone) return;
      const made = new Editor(box.current!, { edited: store.edited, save: () => void store.saveFile(), check: () => void store.beginCheck() });
      const path = () => store.current.peek();
      ends = [
        effect(() => {
          const file = store.file.value;
          if (made.show(file) && file) setTimeout(() => { made.problems(problems(file.path, store.analysis.peek()?.diagnostics ?? [])); made.mark(marks(file.path)); });
        }),
        effect(() => { const found = store.analysis.value; if (found && path()) made.problems(problems(path()!, found.diagnostics)); }),
        effect(() => { const at = store.current.value; if (at) made.mark(marks(at)); }),
        () => made.destroy(),
      ];
      editor.value = made;
    }).catch(store.complain);
    return () => { gone = true; ends.forEach(end => end()); editor.value = null; };
  }, []);
  return <>{!editor.value && <Plain />}<div class="editor" ref={box} hidden={!editor.value} /></>;
}

/** The text before the editor is there. */
function Plain() {
  const text = store.file.value?.text.slice(0, 20_000) ?? "";
  return <div class="editor plain-text" aria-hidden="true"><pre class="numbers">{text.split("\n").map((_, at) => at + 1).join("\n")}</pre><pre>{text}</pre></div>;
}

function Tabs() {
  return (
    <div class="file-tabs" role="group" aria-label="Open files">
      {store.opened.value.map(one => (
        <span key={one.path} class={`file-tab ${one.path === store.current.value ? "selected" : ""}`}>
          <button aria-pressed={one.path === store.current.value} title={one.path} onClick={() => store.openFile(one.path)}>
            {one.path.split("/").pop()}{one.text !== one.saved && <span class="dot" title="not saved"> ●</span>}
          </button>
          {store.opened.value.length > 1 && one.text === one.saved &&
            <button class="close" aria-label={`Close ${one.path}`} onClick={() => store.closeFile(one.path)}>×</button>}
        </span>
      ))}
      <button class="plain" title="New model" aria-label="New model" onClick={() => { store.dialog.value = "new"; }}><Icon name="plus" /></button>
    </div>
  );
}

function Conflict() {
  const file = store.file.value;
  if (!file?.conflict) return null;
  return (
    <div class="conflict" role="alert">
      <p><strong>{file.path}</strong> was written by somebody else. Keep which?</p>
      <button onClick={() => store.settle(file.path, "theirs")}>Theirs</button>
      <button onClick={() => store.settle(file.path, "mine")}>Mine</button>
      <details><summary>Show theirs</summary><pre tabIndex={0}>{file.conflict.text}</pre></details>
    </div>
  );
}

function Outline() {
  const text = store.file.value?.text ?? "";
  const entries = outline(text);
  const path = store.current.value;
  if (!path || entries.length === 0) return null;
  return (
    <details class="outline">
      <summary>Outline <span class="count">{entries.length}</span></summary>
      <ul>
        {entries.map(one => (
          <li key={`${one.kind}${one.name}${one.line}`}>
            <button class="link" onClick={() => (one.kind === "include" ? store.openFile(one.name, false) : jump(path, one.line))}>
              <span class={`kind kind-${one.kind}`}>{one.kind[0]}</span>{one.name}
            </button>
            <span class="faint">{one.detail} {one.line}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Problems() {
  const found = store.analysis.value;
  const list = found?.diagnostics ?? [];
  const errors = list.filter(one => one.severity === "error").length;
  return (
    <details class="problems" open={errors > 0}>
      <summary aria-live="polite">
        {found === null ? "Reading the model…" : list.length === 0 ? <span class="ok">✓ no errors, no warnings</span> :
          <span class={errors ? "bad" : "warn"}>{errors} {errors === 1 ? "error" : "errors"}, {list.length - errors} {list.length - errors === 1 ? "warning" : "warnings"}</span>}
      </summary>
      <ul tabIndex={list.length ? 0 : -1}>
        {list.map((one, at) => (
          <li key={at} class={one.severity}>
            <button class="link" disabled={one.line === null} onClick={() => one.file && jump(one.file, one.line!, one.column ?? 1)}>
              <code>{one.code}</code> {one.line !== null && <span class="faint">{one.file}:{one.line} </span>}{one.message}
            </button>
            {one.help && <p class="faint">help: {one.help}</p>}
            {one.fixes?.map(fix => <button key={fix.title} class="repair" title={fix.safe ? "The model means the same afterwards" : "Probably meant"} onClick={() => repair(fix)}>{fix.title}</button>)}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function SourcePane() {
  const dirty = store.file.value !== null && store.file.value.text !== store.file.value.saved;
  return (
    <section class="pane source" aria-label="Source">
      <div class="bar">
        <Tabs />
        <button class="plain" disabled={!store.file.value} title="Find in the source (Ctrl-F)" aria-label="Find in the source" onClick={findInSource}><Icon name="find" /></button>
        <button class="plain" disabled={!dirty || !!store.info.value?.read_only} title="Save (Ctrl-S)" onClick={() => store.saveFile()}>Save</button>
      </div>
      <Conflict />
      <Editor />
      <div class="below"><Problems /><Outline /></div>
      <Splitter side="left" label="Width of the source" />
    </section>
  );
}
