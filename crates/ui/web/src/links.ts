// Addresses and sessions. The address says what is shown, so that it can be kept, and a reload comes back to it:
//   #/model/NAME
//   #/trail/NAME@FINGERPRINT/step/14              a counterexample in a file
//   #/check/3.0/step/14                           a counterexample of a check, as long as this server runs
//   #/run/NAME@FINGERPRINT/way/0/1.2.1/step/3     a run of the model: from moment 0 the choices 1, 2, 1
//   …/way/9/2.2/…                                 a branch: from moment 9 of the counterexample the choices 2, 2
// and at the end /view/chart. The choices are taken as far as they are there: the model may be another one by now.

import { effect } from "@preact/signals";
import * as api from "./api";
import * as store from "./store";
import type { RunSummary } from "./types";

const print = (summary: RunSummary): string => (summary.files[0]?.etag ?? "").replace(/\W/g, "").slice(0, 8);

/** The choices of the run as it stands, by what it is. */
let way: { of: string; text: string | null } = { of: "", text: null };

async function wayOf(summary: RunSummary): Promise<string> {
  if (summary.on_trail || summary.may_branch !== null) return "";
  const from = summary.shared ?? 0;
  const of = `${summary.id} ${summary.steps} ${from} ${(await stepKey(summary))}`;
  if (way.of !== of) {
    way = { of, text: null };
    try {
      const { choices } = await api.get<{ choices: number[] }>(`/runs/${summary.id}/path?from=${from}`);
      way.text = choices.join(".");
    } catch { /* too long for an address: the counterexample or the model is in it then */ }
  }
  return way.text === null ? "" : `/way/${from}/${way.text}`;
}
/** Runs of one length may differ: the summary is another object after every change. */
const seen = new WeakMap<RunSummary, number>();
let counted = 0;
async function stepKey(summary: RunSummary): Promise<number> {
  if (!seen.has(summary)) seen.set(summary, ++counted);
  return seen.get(summary)!;
}

/** What is shown, as the part of an address behind the `#`. */
export async function address(): Promise<string> {
  const summary = store.run.peek(), origin = store.origin.peek(), model = store.model.peek();
  if (!summary || !origin) return model ? `/model/${encodeURIComponent(model)}${view()}` : "";
  const begin = {
    trail: () => `/trail/${encodeURIComponent((origin as { name: string }).name)}@${print(summary)}`,
    check: () => `/check/${(origin as { id: number }).id}.${(origin as { violation: number }).violation}`,
    memory: () => `/memory/${(origin as { id: number }).id}/${encodeURIComponent((origin as { question: string }).question)}`,
    run: () => `/run/${encodeURIComponent(summary.model)}@${print(summary)}`,
  }[origin.kind]();
  return `${begin}${await wayOf(summary)}/step/${store.cursor.peek()}${view()}`;
}
const view = () => `/view/${store.tab.peek()}`;

/** Shows what an address says. */
export async function follow(hash: string): Promise<void> {
  const [kind, name, ...rest] = hash.replace(/^#?\//, "").split("/").map(decodeURIComponent);
  if (!kind || !name) return;
  const word = (wanted: string) => { const at = rest.indexOf(wanted); return at < 0 ? undefined : rest.slice(at + 1); };
  const [path, fingerprint] = /@[0-9a-f]*$/.test(name) ? [name.slice(0, name.lastIndexOf("@")), name.slice(name.lastIndexOf("@") + 1)] : [name, ""];
  const before = store.run.peek();
  if (kind === "trail") await store.openTrail(path);
  else if (kind === "check") await store.openCounterexample(...(name.split(".").map(Number) as [number, number]));
  else if (kind === "memory") await store.openViolation(Number(name), rest[0] ?? "");
  else if (kind === "run") { await store.openFile(path); await store.simulate(0); }
  else if (kind === "model") await store.openFile(path);
  const summary = store.run.peek();
  if (summary && summary !== before) {
    const changed = fingerprint !== "" && print(summary) !== fingerprint;
    const [from, choices] = word("way") ?? [];
    if (choices) await store.retrace(Number(from), choices.split(".").map(Number)).catch(store.complain);
    const step = word("step")?.[0];
    await store.go(step === undefined ? store.run.peek()!.steps : Number(step));
    if (changed) store.say("the model has changed since this address was made", true);
  }
  const tab = word("view")?.[0];
  if (tab && (store.TABS as readonly string[]).includes(tab)) store.tab.value = tab as store.Tab;
}

/** Keeps the address, and what a reload needs, up to date. */
export function keepAddress(): void {
  let timer = 0;
  effect(() => {
    void store.run.value; void store.cursor.value; void store.tab.value; void store.model.value; void store.origin.value;
    clearTimeout(timer);
    timer = window.setTimeout(() => void address().then(now => history.replaceState(null, "", `#${now}`)), 250);
  });
  effect(() => {
    const text = JSON.stringify(settings());
    try { sessionStorage.setItem("spinor-session", text); } catch { /* a private window */ }
  });
  window.addEventListener("hashchange", () => {
    if (new URLSearchParams(location.hash.slice(1)).get("token") === null) void follow(location.hash);
  });
}

interface Settings { folder: string; property: string; given: Record<string, string[]>; defines: string; dialect: string; seed: number; filter: string; watches: string[]; formula: string }

function settings(): Settings {
  return {
    folder: store.info.value?.folder ?? "", property: store.property.value, given: store.given.value, defines: store.defines.value, dialect: store.dialect.value,
    seed: store.seed.value, filter: store.filter.value, watches: store.watches.value, formula: store.formula.value,
  };
}
function apply(from: Partial<Settings>): void {
  const list = (value: unknown): value is string[] => Array.isArray(value) && value.every(one => typeof one === "string");
  const text = (value: unknown): value is string => typeof value === "string";
  if (from.given && typeof from.given === "object") store.given.value = Object.fromEntries(Object.entries(from.given).filter(([, value]) => list(value)));
  if (text(from.defines)) store.defines.value = from.defines;
  if (text(from.dialect)) store.dialect.value = from.dialect;
  if (text(from.property)) store.property.value = from.property;
  if (typeof from.seed === "number") store.seed.value = from.seed;
  if (text(from.filter)) store.filter.value = from.filter;
  if (list(from.watches)) store.watches.value = from.watches;
  if (text(from.formula)) store.formula.value = from.formula;
}

/** After a reload: the settings of this tab, if they are of this folder. */
export function comeBack(): void {
  try {
    const kept = JSON.parse(sessionStorage.getItem("spinor-session") ?? "null") as Partial<Settings> | null;
    if (kept && kept.folder === store.info.value?.folder) apply(kept);
  } catch { /* nothing was kept */ }
}

/** The session as a file: settings, and where everything stands. */
export async function saveSession(): Promise<void> {
  const session = { spinor: "session", version: 1, at: await address(), ...settings() };
  api.save(new Blob([`${JSON.stringify(session, null, 1)}\n`], { type: "application/json" }), `${settings().folder || "spinor"}.session.json`);
}

export async function openSession(file: File): Promise<void> {
  try {
    const session = JSON.parse(await file.text()) as Partial<Settings> & { spinor?: string; at?: string };
    if (session.spinor !== "session") throw new Error("this file is no session of the workbench");
    if (typeof session.at === "string") await follow(session.at);
    apply(session);
    store.say(`the session of ${session.folder} is here again`);
  } catch (error) { store.complain(error instanceof SyntaxError ? new Error("this file is no session of the workbench") : error); }
}
