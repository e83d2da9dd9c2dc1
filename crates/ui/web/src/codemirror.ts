// The editor itself, CodeMirror 6, as a bundle of its own: the page is painted without it and asks for it then. It knows
// nothing of the rest of the page; `editor.tsx` tells it what to show and hears what was typed.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldGutter, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState, RangeSet, RangeSetBuilder, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { complete, indentation, promela } from "./promela";

/** A pin: a process that stands in a line. */
export interface Pin { letter: string; colour: string; title: string }
/** What is marked, by lines. */
export interface Marks { pins: Map<number, Pin[]>; now: Set<number>; fault: number | null; dead: Map<number, string>; follow: number | null }
/** A place in the text: line and column as the server counts them, characters from 1. */
export interface Place { line: number; column: number }
export interface Problem { from: Place; to: Place; severity: "error" | "warning"; source: string; message: string; repairs: { title: string; apply: () => void }[] }
export interface Edit { from: Place; to: Place; text: string }
export interface Host { edited(path: string, text: string): void; save(): void; check(): void }

const setMarks = StateEffect.define<Marks>();

class Pins extends GutterMarker {
  constructor(readonly list: Pin[]) { super(); }
  override eq(other: Pins): boolean { return JSON.stringify(this.list) === JSON.stringify(other.list); }
  override toDOM(): HTMLElement {
    const box = document.createElement("span");
    for (const { letter, colour, title } of this.list) {
      const pin = document.createElement("span");
      pin.className = `pin ${colour}`;
      pin.textContent = letter;
      pin.title = title;
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

function place(doc: Text, { line, column }: Place): number {
  if (line < 1 || line > doc.lines) return doc.length;
  const { from, text } = doc.line(line);
  return from + [...text].slice(0, column - 1).join("").length;
}

/** An editor in a box, one text at a time; the undo history of each text is kept. */
export class Editor {
  private readonly view: EditorView;
  private readonly states = new Map<string, EditorState>();
  private path: string | null = null;
  /** The policy of the page admits the editor's own style sheets by this number. */
  private readonly nonce = EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')!.content);

  constructor(parent: HTMLElement, private readonly host: Host) {
    this.view = new EditorView({ parent, extensions: [this.nonce] });
  }

  private extensions(path: string) {
    return [
      this.nonce, lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
      highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), search({ top: true }),
      lintGutter(), autocompletion({ override: [complete] }), indentUnit.of("\t"), EditorState.tabSize.of(4),
      promela, indentation, syntaxHighlighting(classHighlighter), shown,
      gutter({ class: "pin-gutter", markers: view => view.state.field(shown).pins }),
      gutter({ class: "unreached-gutter", markers: view => view.state.field(shown).dead }),
      keymap.of([
        { key: "Mod-s", run: () => { this.host.save(); return true; } },
        { key: "Mod-Enter", run: () => { this.host.check(); return true; } },
        // Tab indents; Escape and then Tab leaves the editor.
        ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
      ]),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `Source of ${path}` }),
      EditorView.updateListener.of(update => { if (update.docChanged) this.host.edited(path, update.state.doc.toString()); }),
    ];
  }

  /** Shows a text; whether it is another one than before. */
  show(file: { path: string; text: string } | null): boolean {
    const { view } = this;
    const changed = this.path !== (file?.path ?? null);
    if (changed) {
      if (this.path !== null) this.states.set(this.path, view.state);
      this.path = file?.path ?? null;
      const kept = file && this.states.get(file.path);
      view.setState(kept || EditorState.create({ doc: file?.text ?? "", extensions: file ? this.extensions(file.path) : [this.nonce] }));
    }
    if (file && view.state.doc.toString() !== file.text)
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: file.text } });
    return changed;
  }

  problems(list: Problem[]): void {
    if (this.path === null) return;
    const doc = this.view.state.doc;
    const found = list.map((one): Diagnostic => {
      const from = place(doc, one.from);
      const actions = one.repairs.map(({ title, apply }) => ({ name: title, apply }));
      return { from, to: Math.max(from, place(doc, one.to)), severity: one.severity, source: one.source, message: one.message, actions };
    });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  /** Changes the text that is shown, as one step of its history. */
  edit(edits: Edit[]): void {
    const doc = this.view.state.doc;
    this.view.dispatch({ changes: edits.map(({ from, to, text }) => ({ from: place(doc, from), to: place(doc, to), insert: text })) });
    this.view.focus();
  }

  mark(marks: Marks): void {
    if (this.path === null || !this.view.state.field(shown, false)) return;
    const effects: StateEffect<unknown>[] = [setMarks.of(marks)];
    const { doc } = this.view.state;
    if (marks.follow !== null && marks.follow <= doc.lines && !this.view.hasFocus)
      effects.push(EditorView.scrollIntoView(doc.line(marks.follow).from, { y: "nearest", yMargin: 80 }));
    this.view.dispatch({ effects });
  }

  jump(to: Place): void {
    const at = place(this.view.state.doc, to);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }

  find(): void { openSearchPanel(this.view); }
  destroy(): void { this.view.destroy(); }
}
