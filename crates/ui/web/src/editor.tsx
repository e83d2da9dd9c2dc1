// The source pane: several files in CodeMirror, with what the server says about them, where each process stands, the
// statement of the step at the cursor, and statements that no run reaches.

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldGutter, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Action, type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState, RangeSet, RangeSetBuilder, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { complete, indentation, outline, promela } from "./promela";
import * as store from "./store";
import type { Notice } from "./types";
import { Icon, colour, letter } from "./parts";

interface Marks { pins: Map<number, { pid: number; name: string }[]>; now: Set<number>; fault: number | null; dead: Map<number, string> }
const setMarks = StateEffect.define<Marks>();

class Pins extends GutterMarker {
  constructor(readonly list: { pid: number; name: string }[]) { super(); }
  override eq(other: Pins): boolean { return JSON.stringify(this.list) === JSON.stringify(other.list); }
  override toDOM(): HTMLElement {
    const box = document.createElement("span");
    for (const { pid, name } of this.list) {
      const pin = document.createElement("span");
      pin.className = `pin ${colour(pid)}`;
      pin.textContent = letter(name, pid);
      pin.title = `${name}[${pid}] stands here`;
      box.append(pin);
    }
    return box;
  }
}

class Unreached extends GutterMarker {
  constructor(readonly text: string) { super(); }
  override eq(other: Unreached): boolean { return this.text === other.text; }
  override toDOM(): HTMLElement {
    const mark = document.createElement("span");
    mark.className = "unreached-mark";
    mark.title = `no run executes: ${this.text}`;
    return mark;
  }
}

interface Shown { lines: DecorationSet; pins: RangeSet<GutterMarker>; dead: RangeSet<GutterMarker> }
const NOTHING: Shown = { lines: Decoration.none, pins: RangeSet.empty, dead: RangeSet.empty };

function build(doc: Text, marks: Marks): Shown {
  const lines = new RangeSetBuilder<Decoration>();
  const pins = new RangeSetBuilder<GutterMarker>();
  const dead = new RangeSetBuilder<GutterMarker>();
  const all = new Set([...marks.now, ...marks.pins.keys(), ...marks.dead.keys()]);
  for (const number of [...all].filter(line => line >= 1 && line <= doc.lines).sort((a, b) => a - b)) {
    const { from } = doc.line(number);
    if (marks.now.has(number)) lines.add(from, from, Decoration.line({ class: number === marks.fault ? "now-line fault-line" : "now-line" }));
    else if (marks.dead.has(number)) lines.add(from, from, Decoration.line({ class: "unreached-line" }));
    if (marks.pins.has(number)) pins.add(from, from, new Pins(marks.pins.get(number)!));
    if (marks.dead.has(number)) dead.add(from, from, new Unreached(marks.dead.get(number)!));
  }
  return { lines: lines.finish(), pins: pins.finish(), dead: dead.finish() };
}

const shown = StateField.define<Shown>({
  create: () => NOTHING,
  update(value, transaction) {
    for (const one of transaction.effects) if (one.is(setMarks)) return build(transaction.state.doc, one.value);
    if (!transaction.docChanged) return value;
    return { lines: value.lines.map(transaction.changes), pins: value.pins.map(transaction.changes), dead: value.dead.map(transaction.changes) };
  },
  provide: field => EditorView.decorations.from(field, value => value.lines),
});

/** The policy of the page admits the editor's own style sheets by this number. */
const nonce = EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')!.content);

function extensions(path: string) {
  return [
    nonce, lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
    highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), search({ top: true }),
    lintGutter(), autocompletion({ override: [complete] }), indentUnit.of("\t"), EditorState.tabSize.of(4),
    promela, indentation, syntaxHighlighting(classHighlighter), shown,
    gutter({ class: "pin-gutter", markers: view => view.state.field(shown).pins }),
    gutter({ class: "unreached-gutter", markers: view => view.state.field(shown).dead }),
    keymap.of([
      { key: "Mod-s", run: () => { void store.saveFile(); return true; } },
      { key: "Mod-Enter", run: () => { void store.beginCheck(); return true; } },
      // Tab indents; Escape and then Tab leaves the editor.
      ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
    ]),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `Source of ${path}` }),
    EditorView.updateListener.of(update => { if (update.docChanged) store.edited(path, update.state.doc.toString()); }),
  ];
}

/** Line and column as the server counts them (characters, from 1) to a place in the text. */
function place(doc: Text, line: number, column: number): number {
  if (line < 1 || line > doc.lines) return doc.length;
  const { from, text } = doc.line(line);
  return from + [...text].slice(0, column - 1).join("").length;
}

function diagnostics(doc: Text, path: string, notices: Notice[]): Diagnostic[] {
  const list: Diagnostic[] = [];
  for (const notice of notices) {
    const label = notice.labels.find(one => one.file === path) ?? null;
    if (!label) continue;
    const from = place(doc, label.line, label.column);
    const to = Math.max(from, place(doc, label.end_line, label.end_column));
    const parts = [notice.message, label.message, notice.help && `help: ${notice.help}`, ...notice.notes];
    list.push({
      from, to, severity: notice.severity, source: notice.code, message: parts.filter(Boolean).join("\n"),
      actions: repairs(notice, doc.sliceString(from, to)),
    });
  }
  return list;
}

/** A name that was meant instead can be put there by a click. */
function repairs(notice: Notice, wrong: string): Action[] {
  const meant = notice.help?.match(/did you mean `([^`]+)`/);
  if (!meant || wrong === "" || /\s/.test(wrong)) return [];
  return [{ name: `Replace by ${meant[1]}`, apply: (view, from, to) => view.dispatch({ changes: { from, to, insert: meant[1]! } }) }];
}

let view: EditorView | null = null;
export function jump(file: string, line: number, column = 1): void {
  void store.openFile(file, false).then(() => requestAnimationFrame(() => {
    if (!view) return;
    const at = place(view.state.doc, line, column);
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    view.focus();
  }));
}
export function findInSource(): void { if (view) openSearchPanel(view); }

function Editor() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const states = new Map<string, EditorState>();
    let path: string | null = null;
    view = new EditorView({ parent: box.current!, extensions: [nonce] });
    const editor = view;
    const ends = [
      effect(() => {
        const file = store.file.value;
        if (path !== null && path !== file?.path) states.set(path, editor.state);
        if (!file) { path = null; editor.setState(EditorState.create({ doc: "", extensions: [nonce] })); return; }
        if (path !== file.path) {
          path = file.path;
          const kept = states.get(file.path);
          editor.setState(kept ?? EditorState.create({ doc: file.text, extensions: extensions(file.path) }));
          setTimeout(() => { refresh(editor, path); lint(editor, path); });
        }
        if (editor.state.doc.toString() !== file.text)
          editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: file.text } });
      }),
      effect(() => { void store.analysis.value; lint(editor, path); }),
      effect(() => {
        void store.moment.value; void store.step.value; void store.unreached.value; void store.stale.value; void store.run.value;
        refresh(editor, path);
      }),
    ];
    return () => { ends.forEach(end => end()); editor.destroy(); view = null; };
  }, []);
  return <div class="editor" ref={box} />;
}

function lint(editor: EditorView, path: string | null): void {
  const found = store.analysis.peek();
  if (path === null || !found) return;
  editor.dispatch(setDiagnostics(editor.state, diagnostics(editor.state.doc, path, found.diagnostics)));
}

/** Shows where the run stands, and follows it. */
function refresh(editor: EditorView, path: string | null): void {
  if (path === null || !editor.state.field(shown, false)) return;
  const marks: Marks = { pins: new Map(), now: new Set(), fault: null, dead: new Map() };
  const live = store.run.peek() !== null && !store.stale.peek();
  const step = store.step.peek();
  if (live) {
    for (const process of store.moment.peek()?.state.processes ?? [])
      if (process.file === path) marks.pins.set(process.line, [...(marks.pins.get(process.line) ?? []), { pid: process.pid, name: process.process }]);
    for (const one of [step, step?.partner]) if (one && one.file === path) marks.now.add(one.line);
    if (step?.fault) marks.fault = step.line;
  }
  for (const one of store.unreached.peek()) if (one.file === path) marks.dead.set(one.line, one.text);
  const effects: StateEffect<unknown>[] = [setMarks.of(marks)];
  if (live && step && step.file === path && step.line <= editor.state.doc.lines && !editor.hasFocus)
    effects.push(EditorView.scrollIntoView(editor.state.doc.line(step.line).from, { y: "nearest", yMargin: 80 }));
  editor.dispatch({ effects });
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
    </section>
  );
}
