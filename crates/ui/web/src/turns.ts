// A long run in short, for its lanes: steps that one process takes after another are one turn. The server sends them in
// parts, and what a branch shares with the run before is kept.

import { computed, effect, signal } from "@preact/signals";
import * as api from "./api";
import * as store from "./store";

export interface Actor { pid: number | null; process: string }
export interface Turn { from: number; to: number; actor: number; partner: number | null; kind: "local" | "send" | "receive" | "fault" }
interface Answer { actors: Actor[]; turns: Turn[]; go_on: number | null }
interface Known { actors: Actor[]; turns: Turn[]; whole: boolean }

/** Runs with more steps are shown in turns, unless somebody wants every step. */
export const MANY = 500;
const wanted = signal<boolean | null>(null);
export const grouped = computed(() => wanted.value ?? (store.run.value?.steps ?? 0) > MANY);
export function group(on: boolean): void { wanted.value = on; }

const NOTHING: Known = { actors: [], turns: [], whole: false };
const known = signal<Known>(NOTHING);
/** The turns of the whole run, once all are there. */
export const turns = computed(() => (known.value.whole ? known.value : null));

let ofRun = 0;
/** The first step that is not known. */
let next = 1;
let loading = 0;

store.whenRunChanges((id, keepFrom) => {
  if (id !== ofRun) { ofRun = id; known.value = NOTHING; next = 1; loading++; return; }
  // The turn in which the ways part is asked for again.
  const kept = known.peek().turns.filter(turn => turn.to <= keepFrom).slice(0, -1);
  next = (kept[kept.length - 1]?.to ?? 0) + 1;
  known.value = { actors: known.peek().actors, turns: kept, whole: false };
  loading++;
});

effect(() => {
  const run = store.run.value;
  if (run && grouped.value && !known.peek().whole) void load(run.id);
});

async function load(id: number): Promise<void> {
  const mine = ++loading;
  try {
    while (mine === loading) {
      const found = await api.get<Answer>(`/runs/${id}/turns?from=${next}`);
      if (mine !== loading) return;
      join(found);
      if (found.go_on === null) return;
      next = found.go_on;
    }
  } catch (error) { if (mine === loading) store.complain(error); }
}

function join(found: Answer): void {
  const actors = [...known.peek().actors], list = known.peek().turns.slice();
  const place = (at: number): number => {
    const one = found.actors[at]!;
    const seen = actors.findIndex(other => other.pid === one.pid && other.process === one.process);
    return seen >= 0 ? seen : actors.push(one) - 1;
  };
  const places = found.actors.map((_, at) => place(at));
  for (const turn of found.turns) {
    const one = { ...turn, actor: places[turn.actor]!, partner: turn.partner === null ? null : places[turn.partner]! };
    const last = list[list.length - 1];
    if (last && last.actor === one.actor && last.partner === null && one.partner === null && last.to + 1 === one.from) {
      const order = ["fault", "send", "receive", "local"] as const;
      list[list.length - 1] = { ...last, to: one.to, kind: order.find(kind => kind === last.kind || kind === one.kind)! };
    } else list.push(one);
  }
  known.value = { actors, turns: list, whole: found.go_on === null };
}
