// Everything that the page knows, as signals, and what can be done with it. One cursor serves all views.

import { batch, computed, effect, signal } from "@preact/signals";
import * as api from "./api";
import type { Analysis, Check, Info, Judgement, Moment, Picture, Progress, RunSummary, Step } from "./types";

export interface OpenFile { path: string; text: string; saved: string; etag: string | null; conflict: { text: string; etag: string } | null }
export const TABS = ["check", "steps", "chart", "automata", "graph", "table", "ltl", "output", "memory"] as const;
export type Tab = typeof TABS[number];

export const info = signal<Info | null>(null);
export const connected = signal(true);
export const files = signal<string[]>([]);
export const opened = signal<OpenFile[]>([]);
export const current = signal<string | null>(null);
/** The model that is checked; `current` may be a file that it includes. */
export const model = signal<string | null>(null);
export const analysis = signal<Analysis | null>(null);
export const analysing = signal(false);

export const given = signal<Record<string, string[]>>({});
export const defines = signal("");
export const dialect = signal("spin");
export const property = signal("");
export const command = signal("");
export const commandError = signal<string | null>(null);

export const checks = signal<Check[]>([]);
export const progress = signal<Record<number, Progress[]>>({});
export const shownCheck = signal<number | null>(null);

/** Where a run begins: what an address needs to lead there again. */
export type Origin = { kind: "trail"; name: string } | { kind: "check"; id: number; violation: number } | { kind: "memory"; id: number; question: string } | { kind: "run"; model: string };
export const origin = signal<Origin | null>(null);
export const run = signal<RunSummary | null>(null);
export const cursor = signal(0);
export const moment = signal<Moment | null>(null);
export const pinned = signal<Moment | null>(null);
export const chunks = signal<Record<number, Step[]>>({});
export const pictures = signal<Picture[]>([]);
export const seed = signal(1);
export const watches = signal<string[]>(stored("watches", []));
export const filter = signal("");
export const changedOnly = signal(false);
export const formula = signal(stored("formula", ""));
export const judgement = signal<Judgement | null>(null);
export const coverageOn = signal(true);

export const tab = signal<Tab>("check");
export const dialog = signal<"options" | "keys" | "new" | "session" | null>(null);
export const theme = signal<"light" | "dark">(stored("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
export const toast = signal<{ text: string; help: string | null; bad: boolean } | null>(null);

/** How many steps a page of the server has. */
export const PAGE = 500;

export function stored<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`spinor-${name}`);
    return text === null ? otherwise : JSON.parse(text);
  } catch { return otherwise; }
}
export function keep(name: string, value: unknown): void {
  try { localStorage.setItem(`spinor-${name}`, JSON.stringify(value)); } catch { /* a private window */ }
}
effect(() => keep("watches", watches.value));
effect(() => keep("formula", formula.value));
effect(() => { document.documentElement.dataset.theme = theme.value; });
export function switchTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  keep("theme", theme.value);
}

export const file = computed(() => opened.value.find(one => one.path === current.value) ?? null);
export const check = computed(() => checks.value.find(one => one.id === shownCheck.value) ?? null);
export const running = computed(() => checks.value.find(one => one.state === "running") ?? null);
export const step = computed(() => stepAt(cursor.value));
export const models = computed(() => files.value.filter(path => !path.endsWith(".inc") && !path.endsWith(".trail.json")));
export const trails = computed(() => files.value.filter(path => path.endsWith(".trail.json")));
export const dirty = computed(() => opened.value.filter(one => one.text !== one.saved));

/** Whether the texts that the run belongs to are still those in the editor. */
export const stale = computed(() => {
  const summary = run.value;
  if (!summary) return false;
  return opened.value.some(one => runTexts.has(`${summary.id} ${one.path}`) && runTexts.get(`${summary.id} ${one.path}`) !== one.text);
});
const runTexts = new Map<string, string>();

export function say(text: string, bad = false, help: string | null = null): void {
  const said = { text, bad, help };
  toast.value = said;
  setTimeout(() => { if (toast.value === said) toast.value = null; }, bad ? 9000 : 4000);
}
export function complain(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), true, error instanceof api.ApiError ? error.help : null);
}

// ---------------------------------------------------------------- files

export async function start(): Promise<void> {
  info.value = await api.get<Info>("/info");
  await listFiles();
  const first = info.value.model ?? models.value[0];
  if (first) await openFile(first);
  checks.value = (await api.get<{ checks: Check[] }>("/checks")).checks;
  void api.listen(hear, up => { connected.value = up; });
}

export async function listFiles(): Promise<void> {
  files.value = (await api.get<{ files: string[] }>("/files")).files;
}

const address = (path: string) => `/files/${path.split("/").map(encodeURIComponent).join("/")}`;

export async function openFile(path: string, asModel = true): Promise<void> {
  try {
    if (!opened.value.some(one => one.path === path)) {
      const { text, etag } = await api.getText(address(path));
      opened.value = [...opened.value, { path, text, saved: text, etag, conflict: null }];
    }
    batch(() => {
      current.value = path;
      if (asModel && models.value.includes(path) && model.value !== path) {
        model.value = path;
        analysis.value = null;
        property.value = "";
      }
    });
  } catch (error) { complain(error); }
}

export function closeFile(path: string): void {
  const left = opened.value.filter(one => one.path !== path);
  batch(() => {
    opened.value = left;
    if (current.value === path) current.value = left[0]?.path ?? null;
  });
}

function change(path: string, what: Partial<OpenFile>): void {
  opened.value = opened.value.map(one => (one.path === path ? { ...one, ...what } : one));
}
export function edited(path: string, text: string): void {
  change(path, { text });
}

export async function saveFile(path = current.value): Promise<void> {
  const one = opened.value.find(file => file.path === path);
  if (!one || !path) return;
  if (info.value?.read_only) return say("the folder is only read (--read-only)", true);
  try {
    const etag = await api.put(address(path), one.text, one.etag);
    change(path, { saved: one.text, etag, conflict: null });
    if (!files.value.includes(path)) await listFiles();
    say(`${path} is saved`);
  } catch (error) {
    if (error instanceof api.ApiError && error.status === 409) {
      // It may have been settled while the answer was under way.
      if (opened.value.find(file => file.path === path)?.etag === one.etag) change(path, { conflict: { text: error.body.text, etag: error.body.etag } });
    } else complain(error);
  }
}

/** After a conflict: take theirs, or write mine over it. */
export async function settle(path: string, which: "mine" | "theirs"): Promise<void> {
  const conflict = opened.value.find(one => one.path === path)?.conflict;
  if (!conflict) return;
  if (which === "theirs") {
    change(path, { text: conflict.text, saved: conflict.text, etag: conflict.etag, conflict: null });
  } else {
    change(path, { etag: conflict.etag || null, conflict: null });
    await saveFile(path);
  }
}

/** Another program may have written meanwhile: what was not edited here is read again. */
export async function lookAgain(): Promise<void> {
  await listFiles().catch(() => undefined);
  for (const { path, etag } of opened.value) {
    if (etag === null) continue;
    try {
      const now = await api.getText(address(path));
      // What was typed or saved while the answer was under way counts.
      const one = opened.value.find(file => file.path === path);
      if (!one || one.etag !== etag || now.etag === etag) continue;
      if (one.text === one.saved) change(path, { text: now.text, saved: now.text, etag: now.etag });
      else change(path, { conflict: now });
    } catch { /* it is gone: saving says so */ }
  }
}

/** A new file, with a first model or with the text that is open (which is to save it under another name). */
export function newFile(path: string, copy: boolean): void {
  const text = copy && file.value ? file.value.text : `/* ${path} */\n\nactive proctype main()\n{\n\tskip\n}\n`;
  opened.value = [...opened.value.filter(one => one.path !== path), { path, text, saved: "", etag: null, conflict: null }];
  batch(() => { current.value = path; model.value = path; analysis.value = null; property.value = ""; });
}

// ---------------------------------------------------------------- analysis

export function request() {
  const path = model.value!;
  const text = opened.value.find(one => one.path === path)?.text;
  const words = defines.value.split(/\s+/).filter(word => word !== "").map(word => word.replace(/^-D/, ""));
  return { path, text, defines: words, dialect: dialect.value };
}

let analysisTimer = 0;
let analysisNumber = 0;
effect(() => {
  const path = model.value;
  const text = opened.value.find(one => one.path === path)?.text;
  void defines.value; void dialect.value;
  if (path === null || text === undefined) return;
  clearTimeout(analysisTimer);
  analysisTimer = window.setTimeout(analyse, analysis.peek() ? 250 : 0);
});

export async function analyse(): Promise<void> {
  const number = ++analysisNumber;
  analysing.value = true;
  try {
    const found = await api.post<Analysis>("/analyse", request());
    if (number === analysisNumber) analysis.value = found;
  } catch (error) {
    if (number === analysisNumber) complain(error);
  } finally {
    if (number === analysisNumber) analysing.value = false;
  }
}

export const errors = computed(() => analysis.value?.diagnostics.filter(one => one.severity === "error") ?? []);

// ---------------------------------------------------------------- checks

/** Options that mean nothing where there are no store buffers. */
const ABOUT_BUFFERS = new Set(["memory-bound", "memory-split", "plain", "suggest-fences"]);

/** The options that were given, as words; for one memory model where several are asked for. */
export function optionWords(memory?: string): string[] {
  const words: string[] = [];
  const specs = info.value?.options ?? [];
  for (const spec of specs) {
    if (memory === "sc" && ABOUT_BUFFERS.has(spec.name)) continue;
    if (memory && spec.name === "memory") { words.push("--memory", memory); continue; }
    if (spec.name === "property" && property.value) words.push("--property", property.value);
    for (const value of given.value[spec.name] ?? []) {
      if (spec.kind === "flag") words.push(`--${spec.name}`);
      else if (value !== "") words.push(`--${spec.name}`, value);
    }
  }
  return words;
}

/** Of the options that were given, those about how and how far is searched: what else takes them has its own questions. */
export function searchWords(): string[] {
  const kept = ["timeout", "max-memory", "max-states", "max-depth", "threads", "search", "store", "por", "exec"];
  return kept.flatMap(name => (given.value[name] ?? []).filter(value => value !== "").flatMap(value => [`--${name}`, value]));
}

let commandTimer = 0;
effect(() => {
  void given.value; void property.value; void defines.value; void dialect.value; void model.value; void info.value;
  clearTimeout(commandTimer);
  commandTimer = window.setTimeout(showCommand, 60);
});
async function showCommand(): Promise<void> {
  if (!model.value || !info.value) return;
  const { path, defines, dialect } = request();
  try {
    command.value = (await api.post<{ command: string }>("/command", { path, defines, dialect, options: optionWords() })).command;
    commandError.value = null;
  } catch (error) {
    commandError.value = error instanceof api.ApiError ? [error.message, error.help].filter(Boolean).join(": ") : String(error);
  }
}

/** Begins a test of a memory system. */
export async function beginMemory(body: unknown): Promise<number | null> {
  try {
    const { id } = await api.post<{ id: number }>("/memory", body);
    checks.value = [...checks.value.filter(one => one.id !== id), { id, state: "waiting" }];
    await refreshChecks();
    return id;
  } catch (error) { complain(error); return null; }
}

/** Begins a check; where all memory models are asked for, one of each: the history compares them. A memory system is tested
 *  in a view of its own. */
export async function beginCheck(more: string[] = []): Promise<void> {
  if (!model.value) return;
  if (analysis.value?.memory_system) { tab.value = "memory"; return; }
  const memories = given.value.memory?.[0] === "all" ? ["sc", "tso", "pso"] : [undefined];
  const asked = memories.map(memory => ({ ...request(), options: [...optionWords(memory), ...more] }));
  const now = textsNow();
  try {
    for (const [at, body] of asked.entries()) {
      const { id } = await api.post<{ id: number }>("/checks", body);
      batch(() => {
        texts.set(id, now);
        checks.value = [...checks.value.filter(one => one.id !== id), { id, state: "waiting", model: body.path }];
        if (at === 0) shownCheck.value = id;
        tab.value = "check";
      });
    }
    await refreshChecks();
  } catch (error) { complain(error); }
}

/** Checks a property again for fair runs; the option stays given. */
export function beginFair(kind: "weak" | "strong", name: string): Promise<void> {
  given.value = { ...given.value, fair: [kind] };
  if (analysis.value?.properties?.includes(name)) property.value = name;
  return beginCheck();
}

const texts = new Map<number, Map<string, string>>();
const textsNow = () => new Map(opened.value.map(one => [one.path, one.text]));

async function refreshChecks(): Promise<void> {
  checks.value = (await api.get<{ checks: Check[] }>("/checks")).checks;
}

export async function stopCheck(id: number): Promise<void> {
  try { await api.remove(`/checks/${id}`); } catch (error) { complain(error); }
}

async function hear(kind: string, data: any): Promise<void> {
  if (kind === "check.progress") {
    const list = [...(progress.value[data.id] ?? []), data.progress as Progress];
    progress.value = { ...progress.value, [data.id]: list.length > 240 ? list.filter((_, at) => at % 2 === 1 || at > 200) : list };
    checks.value = checks.value.map(one => (one.id === data.id ? { ...one, state: "running", progress: data.progress } : one));
  } else if (kind === "check.memory") {
    checks.value = checks.value.map(one => (one.id === data.id ? { ...one, state: "running", memory: data.memory } : one));
  } else if (kind === "check.begun" || kind === "check.waiting") {
    await refreshChecks();
  } else if (kind === "check.done") {
    await refreshChecks();
    const done = checks.value.find(one => one.id === data.id);
    if (data.id === shownCheck.value && done?.report?.verdict === "violated") {
      const first = done.report.properties.flatMap(one => one.violations).findIndex(one => one.depth !== undefined);
      if (first >= 0) await openCounterexample(data.id, 0);
    }
  }
}

/** Writes a counterexample into the folder, under the first name that is free. */
export async function keepTrail(id: number, violation: number): Promise<void> {
  const name = checks.value.find(one => one.id === id)?.model ?? "model";
  const free = (number: number): string => { const path = `${name}${number > 1 ? `.${number}` : ""}.trail.json`; return files.value.includes(path) ? free(number + 1) : path; };
  try {
    await listFiles();
    const { path } = await api.post<{ path: string }>(`/checks/${id}/trails/${violation}`, { path: free(1) });
    await listFiles();
    say(`the counterexample is kept as ${path}`);
  } catch (error) { complain(error); }
}

/** The unreached statements of an exhaustive check of the text as it is. */
export const unreached = computed(() => {
  const done = check.value;
  if (!done?.report || done.model !== model.value || !coverageOn.value) return [];
  const then = texts.get(done.id);
  if (then && [...then].some(([path, text]) => opened.value.some(one => one.path === path && one.text !== text))) return [];
  const lists = done.report.properties.filter(one => one.exhaustive && one.unreached).map(one => one.unreached!);
  if (lists.length === 0) return [];
  // What one property's search does not reach, another's may.
  const key = (one: { file: string; line: number; column: number }) => `${one.file}:${one.line}:${one.column}`;
  return lists[0]!.filter(one => lists.every(list => list.some(other => key(other) === key(one))));
});

// ---------------------------------------------------------------- runs

const listeners: ((id: number, keptFrom: number) => void)[] = [];
/** Tells when the run is another one, or another one from a step on. */
export function whenRunChanges(listener: (id: number, keptFrom: number) => void): void { listeners.push(listener); }
const tellChange = (id: number, keptFrom: number) => { for (const listener of listeners) listener(id, keptFrom); };

async function showRun(summary: RunSummary, at: number, from: Origin): Promise<void> {
  tellChange(summary.id, 0);
  batch(() => {
    origin.value = from;
    run.value = summary;
    chunks.value = {};
    moment.value = null;
    pinned.value = null;
    judgement.value = null;
    cursor.value = at;
  });
  moments.clear();
  const { automata } = await api.get<{ automata: Picture[] }>(`/runs/${summary.id}/automata`);
  pictures.value = automata;
  await go(at);
}

function noteTexts(id: number, from: Map<string, string>): void {
  for (const [path, text] of from) runTexts.set(`${id} ${path}`, text);
}

export async function openCounterexample(id: number, violation: number): Promise<void> {
  try {
    const summary = await api.post<RunSummary>("/runs", { check: id, violation });
    noteTexts(summary.id, texts.get(id) ?? textsNow());
    tab.value = "steps";
    await showRun(summary, summary.steps, { kind: "check", id, violation });
  } catch (error) { complain(error); }
}

export async function openTrail(path: string): Promise<void> {
  try {
    const summary = await api.post<RunSummary>("/runs", { trail: path });
    if (models.value.includes(summary.model)) await openFile(summary.model);
    noteTexts(summary.id, textsNow());
    tab.value = "steps";
    await showRun(summary, summary.steps, { kind: "trail", name: path });
  } catch (error) { complain(error); }
}

export async function simulate(steps: number): Promise<void> {
  try {
    let summary = await api.post<RunSummary>("/runs", { simulate: request(), seed: seed.value });
    if (steps > 0) summary = await api.post<RunSummary>(`/runs/${summary.id}/random`, { n: steps });
    noteTexts(summary.id, textsNow());
    tab.value = "steps";
    await showRun(summary, steps > 0 ? 0 : summary.first, { kind: "run", model: summary.model });
  } catch (error) { complain(error); }
}

/** The counterexample of a test of a memory system; its composed model opens beside it. */
export async function openViolation(id: number, question: string): Promise<void> {
  try {
    const summary = await api.post<RunSummary>("/runs", { check: id, question });
    const { path, text } = await api.get<{ path: string; text: string }>(`/checks/${id}/memory/${encodeURIComponent(question)}`);
    showMade(path, text);
    noteTexts(summary.id, textsNow());
    tab.value = "steps";
    await showRun(summary, summary.steps, { kind: "memory", id, question });
  } catch (error) { complain(error); }
}

/** Shows a text that was made here and is no file of the folder yet. */
function showMade(path: string, text: string): void {
  const file: OpenFile = { path, text, saved: text, etag: null, conflict: null };
  batch(() => {
    opened.value = [...opened.value.filter(one => one.path !== path), file];
    current.value = path;
  });
}

/** Takes choices from a moment on, as far as the model still has them. */
export async function retrace(moment: number, choices: number[]): Promise<void> {
  const before = run.value;
  if (!before || choices.length === 0) return;
  const summary = await api.post<RunSummary & { taken: number; why: string | null }>(`/runs/${before.id}/retrace`, { moment, choices });
  tellChange(summary.id, Math.min(moment, summary.steps));
  batch(() => { run.value = summary; chunks.value = {}; moments.clear(); cursor.value = Math.min(cursor.value, summary.steps); });
  if (summary.why) say(`${summary.taken} of ${choices.length} steps of this address are there; then: ${summary.why}`, true);
}

export function stepAt(number: number): Step | null {
  if (number < 1) return null;
  return chunks.value[Math.floor((number - 1) / PAGE)]?.[(number - 1) % PAGE] ?? null;
}

const loading = new Map<string, Promise<void>>();
/** Sees to it that some steps are there. */
export async function ensure(from: number, to: number): Promise<void> {
  const summary = run.value;
  if (!summary || summary.steps === 0) return;
  const last = Math.floor((Math.min(to, summary.steps) - 1) / PAGE);
  for (let at = Math.max(0, Math.floor((from - 1) / PAGE)); at <= last; at++) {
    const key = `${summary.id} ${summary.steps} ${at}`;
    if (chunks.value[at]) continue;
    // Whoever asks for a page that is under way waits for it as well.
    if (!loading.has(key)) loading.set(key, load(summary, at).finally(() => loading.delete(key)));
    await loading.get(key);
  }
}
async function load(summary: RunSummary, at: number): Promise<void> {
  try {
    const page = await api.get<{ steps: Step[] }>(`/runs/${summary.id}/steps?from=${at * PAGE + 1}&to=${(at + 1) * PAGE}`);
    if (run.value === summary) chunks.value = { ...chunks.value, [at]: page.steps };
  } catch (error) { complain(error); }
}

const moments = new Map<number, Moment>();
const coming = new Map<string, Promise<void>>();
let wanted = 0;
let fetching = false;

/** Moves the cursor; everything else follows. */
export async function go(to: number): Promise<void> {
  const summary = run.value;
  if (!summary) return;
  const at = Math.max(summary.first, Math.min(summary.steps, to));
  batch(() => {
    cursor.value = at;
    if (moments.has(at)) moment.value = moments.get(at)!;
  });
  void ensure(at - 40, at + 40);
  const direction = Math.sign(at - wanted);
  wanted = at;
  if (!fetching) await fetchMoments();
  // Who makes one step makes another: it is there then.
  const next = at + direction;
  if (direction !== 0 && run.value === summary && cursor.value === at && next >= summary.first && next <= summary.steps) void fetchMoment(summary, next).catch(() => undefined);
}

/** A moment, asked for once. */
function fetchMoment(summary: RunSummary, number: number): Promise<void> {
  if (moments.has(number)) return Promise.resolve();
  const key = `${summary.id} ${number}`;
  if (!coming.has(key)) {
    coming.set(key, api.get<Moment>(`/runs/${summary.id}/state/${number}`).then(found => {
      if (run.value !== summary) return;
      if (moments.size > 300) moments.clear();
      moments.set(number, found);
    }).finally(() => coming.delete(key)));
  }
  return coming.get(key)!;
}

/** One request at a time: who holds a key down sees the last moment, not a queue. */
async function fetchMoments(): Promise<void> {
  fetching = true;
  try {
    for (let summary = run.value; summary && !moments.has(wanted); summary = run.value) {
      const number = wanted;
      await fetchMoment(summary, number);
      if (run.value === summary && cursor.value === number && moments.has(number)) moment.value = moments.get(number)!;
    }
  } catch (error) { complain(error); } finally { fetching = false; }
}

async function changed(path: string, body: unknown, at: (summary: RunSummary) => number, keepFrom: number): Promise<void> {
  const before = run.value;
  if (!before) return;
  try {
    const summary = await api.post<RunSummary>(`/runs/${before.id}/${path}`, body);
    tellChange(summary.id, Math.min(keepFrom, summary.steps));
    batch(() => {
      run.value = summary;
      // What both runs share stays.
      const kept: Record<number, Step[]> = {};
      for (const [number, steps] of Object.entries(chunks.value)) {
        const page = Number(number);
        if ((page + 1) * PAGE <= Math.min(keepFrom, summary.steps)) kept[page] = steps;
      }
      chunks.value = kept;
      judgement.value = null;
      for (const number of [...moments.keys()]) if (number >= keepFrom) moments.delete(number);
      cursor.value = Math.min(cursor.value, summary.steps);
    });
    await ensure(at(summary) - 40, at(summary) + 40);
    await go(at(summary));
  } catch (error) { complain(error); }
}

export function take(at: number, choices: number[]): Promise<void> {
  const summary = run.value!;
  // The next step of the run itself is no branch.
  const next = moment.value?.moment === at ? moment.value.choices.find(one => one.taken) : undefined;
  if (choices.length === 1 && next?.choice === choices[0] && at < summary.steps) return go(at + 1);
  return changed("take", { moment: at, choices }, () => at + choices.length, at);
}
export const undo = (): Promise<void> => changed("undo", { n: 1 }, summary => summary.steps, run.value!.steps - 1);
export function random(n: number): Promise<void> {
  const from = run.value!.steps;
  return changed("random", { n }, summary => (n === 1 ? summary.steps : from), from);
}
export const back = (): Promise<void> => changed("return", {}, summary => Math.min(cursor.value, summary.steps), run.value!.shared ?? 0);
/** Gives up what comes after the cursor, so that random steps go on from there. */
export async function randomFromHere(n: number): Promise<void> {
  const summary = run.value!;
  if (cursor.value < summary.steps) {
    const here = cursor.value;
    await changed("undo", { n: summary.steps - here }, () => here, here);
  }
  await random(n);
}

export function same(direction: 1 | -1): void {
  const pid = step.value?.pid ?? null;
  const summary = run.value;
  if (!summary) return;
  for (let at = cursor.value + direction; at >= 1 && at <= summary.steps; at += direction) {
    const one = stepAt(at);
    if (!one) break;
    if (one.pid === pid || one.partner?.pid === pid) { void go(at); return; }
  }
  say(direction > 0 ? "this process takes no further step here" : "this process took no step before");
}

export async function find(text: string, backwards: boolean): Promise<void> {
  const summary = run.value;
  if (!summary || text.trim() === "") return;
  const expression = text.startsWith("=") ? text.slice(1) : null;
  let from = cursor.value + (backwards ? -1 : 1);
  try {
    for (;;) {
      const body = { from: Math.max(0, from), backwards, ...(expression === null ? { text } : { expr: expression }) };
      const found = await api.post<{ step: number | null; go_on?: number }>(`/runs/${summary.id}/find`, body);
      if (found.step !== null) return await go(found.step);
      if (found.go_on === undefined) return say(`nothing found ${backwards ? "before" : "after"} this step`);
      from = found.go_on;
    }
  } catch (error) { complain(error); }
}

