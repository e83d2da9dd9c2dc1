// A run as rows of cells: a row for each process, a column for each step or, in long runs, for each turn. Only the columns
// that can be seen are there, so that a run of a hundred thousand steps is as light as one of ten.

import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon, Statement, colour, named } from "../parts";
import * as store from "../store";
import { type Turn, group, grouped, turns } from "../turns";
import type { Step, Where } from "../types";

const COLUMN = 18, ROW = 20, HEAD = 22;

interface Row { key: string; name: string; pid: number | null }
/** A column: where it is, its steps, who does what. */
interface Column { from: number; to: number; x: number; width: number }
/** How steps are laid out from left to right. */
interface Layout { width: number; of(step: number): Column; between(left: number, right: number): Column[] }

const key = (one: { pid: number | null; process: string }) => `${one.pid} ${one.process}`;

function sorted(list: Iterable<{ pid: number | null; process: string }>): Row[] {
  const known = new Map<string, Row>();
  for (const one of list) if (!known.has(key(one))) known.set(key(one), { key: key(one), pid: one.pid, name: named(one) });
  return [...known.values()].sort((a, b) => (a.pid ?? 1e9) - (b.pid ?? 1e9));
}

/** The processes that the steps seen so far and the state at the cursor have. A number is used again when its process has
    ended; one with another name is another process. */
function rows(): Row[] {
  const list: { pid: number | null; process: string }[] = [...(store.moment.value?.state.processes ?? [])];
  for (const page of Object.values(store.chunks.value)) for (const step of page) list.push(step, ...(step.partner ? [step.partner] : []));
  return sorted(list);
}

/** A column for each step. */
function plain(steps: number): Layout {
  const of = (step: number): Column => ({ from: step, to: step, x: (step - 1) * COLUMN, width: COLUMN });
  return {
    width: Math.max(1, steps) * COLUMN,
    of,
    between(left, right) {
      const list = [];
      for (let step = Math.max(1, Math.floor(left / COLUMN)); step <= Math.min(steps, Math.ceil(right / COLUMN) + 1); step++) list.push(of(step));
      return list;
    },
  };
}

/** A column for each turn, as wide as its number of steps needs. */
function inTurns(list: Turn[]): Layout & { turn(column: Column): Turn } {
  const starts = new Float64Array(list.length + 1);
  list.forEach((turn, at) => {
    const many = turn.to - turn.from + 1;
    starts[at + 1] = starts[at]! + (many === 1 ? COLUMN : 20 + 7 * String(many).length);
  });
  /** The last turn that fits: the list is in order. */
  const last = (fits: (at: number) => boolean): number => {
    let [low, high] = [0, list.length - 1];
    while (low < high) { const middle = Math.ceil((low + high) / 2); if (fits(middle)) low = middle; else high = middle - 1; }
    return low;
  };
  const column = (at: number): Column => ({ from: list[at]!.from, to: list[at]!.to, x: starts[at]!, width: starts[at + 1]! - starts[at]! });
  const find = (step: number) => last(at => list[at]!.from <= step);
  return {
    width: starts[list.length]!,
    of: step => column(find(step)),
    between(left, right) {
      const columns = [];
      for (let at = last(at => starts[at]! <= Math.max(0, left)); at < list.length && starts[at]! <= right; at++) columns.push(column(at));
      return columns;
    },
    turn: of => list[find(of.from)]!,
  };
}

function kind(step: Step): string {
  if (step.fault) return "fault";
  const own = step.events.filter(one => one.pid === step.pid);
  if (own.some(one => one.kind === "send" || one.kind === "rendezvous")) return "send";
  return own.some(one => one.kind === "receive") ? "receive" : "local";
}

function Cell({ of, what, at, row }: { of: { pid: number | null }; what: string; at: Column; row: number }) {
  const many = at.to - at.from + 1;
  const [width, height] = many > 1 ? [at.width - 4, 14] : { send: [13, 12], receive: [11, 10], fault: [14, 13], local: [8, 6] }[what]!;
  return <>
    <rect class={`cell ${colour(of.pid)} ${what} ${many > 1 ? "many" : ""}`} x={at.x + (at.width - width!) / 2} y={HEAD + row * ROW + (ROW - height!) / 2} width={width} height={height} rx={many > 1 ? 7 : 3} />
    {many > 1 && <text class={`count-of ${colour(of.pid)} ${what}`} x={at.x + at.width / 2} y={HEAD + row * ROW + ROW / 2 + 3.5}>{many}</text>}
  </>;
}

export function Lanes() {
  const run = store.run.value!;
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<[number, number]>([0, 1100]);
  const short = useComputed(() => { const known = grouped.value ? turns.value : null; return known && { ...known, layout: inTurns(known.turns) }; }).value;
  const layout: Layout = short?.layout ?? plain(run.steps);
  const look = () => {
    if (!box.current) return;
    const { scrollLeft, clientWidth } = box.current;
    // Rounded, so that not every pixel is another picture.
    const left = Math.floor(scrollLeft / 200) * 200 - 200, right = Math.ceil((scrollLeft + clientWidth) / 200) * 200 + 200;
    setSeen(old => (old[0] === left && old[1] === right ? old : [left, right]));
    if (!short) void store.ensure(Math.max(1, Math.floor(left / COLUMN)), Math.min(run.steps, Math.ceil(right / COLUMN)));
  };
  const at = store.cursor.value;
  const here = at >= 1 && run.steps > 0 ? layout.of(at) : null;
  const follow = () => {
    const { scrollLeft, clientWidth } = box.current!;
    const x = here?.x ?? 0, width = here?.width ?? COLUMN;
    if (x < scrollLeft + COLUMN || x + width + COLUMN > scrollLeft + clientWidth) box.current!.scrollLeft = x - clientWidth / 2;
    look();
  };
  const latest = useRef(follow);
  latest.current = follow;
  useEffect(follow, [at, run.id, run.steps, layout.width]);
  useEffect(() => {
    const watch = new ResizeObserver(() => latest.current());
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const list = short ? sorted(short.actors) : rows();
  const names = list.map(one => one.key).join("\n");
  const places = new Map(list.map((one, at) => [one.key, at]));
  const row = (of: { pid: number | null; process: string }) => places.get(key(of)) ?? 0;
  const height = HEAD + list.length * ROW + 4;
  const branch = (step: number) => (run.shared !== null && !run.on_trail && step > run.shared ? "branch" : "");
  // A step changes none of them, and there may be hundreds.
  const columns = useMemo(() => layout.between(...seen).map(column => {
    const { from, to, x, width } = column;
    const turn = short?.layout.turn(column), step = turn ? null : store.stepAt(from);
    if (!turn && !step) return null;
    const actor = (at: number) => short!.actors[at]!;
    const title = turn ? `${from === to ? `step ${from}` : `steps ${from} to ${to}`}: ${named(actor(turn.actor))}${turn.partner === null ? "" : ` → ${named(actor(turn.partner))}`}`
      : `${from}: ${named(step!)} ${step!.file}:${step!.line}  ${step!.text}${step!.effects ? `\n${step!.effects}` : ""}`;
    const who: [Where | { pid: number | null; process: string }, string][] = turn
      ? [[actor(turn.actor), turn.kind], ...(turn.partner === null ? [] : [[actor(turn.partner), "receive"] as [{ pid: number | null; process: string }, string]])]
      : [[step!, kind(step!)], ...(step!.partner ? [[step!.partner, "receive"] as [Where, string]] : [])];
    // In turns every hundred pixels have a number.
    const tick = turn ? Math.floor(x / 100) !== Math.floor((x + width) / 100) : from % 5 === 0;
    return (
      <g key={from} data-step={from} data-to={to} class={branch(from)}>
        <title>{title}</title>
        <rect class="band" x={x} y={0} width={width} height={height} />
        {tick && <text class="tick" x={x + width / 2} y={14}>{from}</text>}
        {who.map(([one, what]) => <Cell key={key(one)} of={one} what={what} at={column} row={row(one)} />)}
      </g>
    );
  }), [seen, short, run, store.chunks.value, names]);
  const cycle = run.on_trail ? run.trail?.cycle ?? null : null;
  const click = (event: MouseEvent) => {
    const column = (event.target as Element).closest<SVGGElement>("[data-step]");
    if (!column) return;
    const from = Number(column.dataset.step), to = Number(column.dataset.to), { left, width } = column.querySelector(".band")!.getBoundingClientRect();
    void store.go(Math.min(to, from + Math.floor((event.clientX - left) / width * (to - from + 1))));
  };
  const step = store.step.value;
  // Within a turn of many steps a line tells where.
  const inside = here && here.to > here.from ? here.x + 2 + (at - here.from + 0.5) / (here.to - here.from + 1) * (here.width - 4) : null;
  const forever = cycle === null || run.steps === 0 ? null : cycle < run.steps ? layout.of(cycle + 1).x : layout.width;
  const fork = run.shared === null || run.on_trail || run.steps === 0 ? null : run.shared < run.steps ? layout.of(run.shared + 1).x : layout.width;
  return (
    <div class="lanes">
      <div class="lane-names" aria-hidden="true" style={{ height: `${height}px`, paddingTop: `${HEAD}px` }}>
        {list.map(one => <div key={one.key} class={`who ${colour(one.pid)}`} style={{ height: `${ROW}px` }} title={one.name}>{one.name}</div>)}
      </div>
      <div class="lane-box" ref={box} onScroll={look} onClick={click} tabIndex={0} role="slider" aria-label="Step of the run"
        aria-valuemin={run.first} aria-valuemax={run.steps} aria-valuenow={at}
        aria-valuetext={step ? `step ${at} of ${run.steps}: ${named(step)} ${step.text}` : `the beginning of ${run.steps} steps`}>
        <svg class={`lane-svg ${short ? "in-turns" : ""}`} width={layout.width + 8} height={height} aria-hidden="true">
          {here && <rect class="now-band" x={here.x} y={0} width={here.width} height={height} rx="3" />}
          {list.map((one, row) => <line key={one.key} class="grid" x1={0} x2={layout.width} y1={HEAD + (row + 0.5) * ROW} y2={HEAD + (row + 0.5) * ROW} />)}
          {forever !== null && <path class="cycle" d={`M${forever + 2},9V3H${layout.width - 2}V9`}><title>from here on forever</title></path>}
          {fork !== null && <line class="fork" x1={fork} x2={fork} y1={0} y2={height} />}
          {columns}
          {inside !== null && <line class="inside" x1={inside} x2={inside} y1={HEAD - 4} y2={height} />}
        </svg>
      </div>
    </div>
  );
}

/** Steps of one process after another as one, or every step. */
function Grouping() {
  const run = store.run.value!;
  if (run.steps < 60) return null;
  return <button aria-pressed={grouped.value} class="toggle" title={grouped.value ? "Show every step in the lanes" : "Show steps that one process takes after another as one"} onClick={() => group(!grouped.value)}>Turns</button>;
}

export function Transport() {
  const run = store.run.value!;
  const at = store.cursor.value;
  const step = store.step.value;
  const button = (name: string, label: string, keys: string, to: number, off: boolean) => (
    <button class="step-button" aria-label={label} title={`${label} (${keys})`} disabled={off} onClick={() => store.go(to)}><Icon name={name} /></button>
  );
  return (
    <div class="transport">
      <div class="buttons">
        {button("first", "To the beginning", "Home", run.first, at <= run.first)}
        {button("back", "One step back", "←", at - 1, at <= run.first)}
        {button("on", "One step on", "→", at + 1, at >= run.steps)}
        {button("last", "To the end", "End", run.steps, at >= run.steps)}
      </div>
      <output class="position" data-testid="position">{at} / {run.steps}</output>
      <div class="what" title={step ? `${step.file}:${step.line}  ${step.text}\n${step.effects}` : undefined}>
        {step ? <Statement of={step} /> : <span class="faint">{at > run.first ? "…" : "the beginning of the run"}</span>}
        {step?.effects && <div class="effects">{step.effects}</div>}
        {step?.fault && <div class="bad" title={step.fault.message}>✗ {step.fault.kind}</div>}
      </div>
      <Branching />
    </div>
  );
}

function Branching() {
  const run = store.run.value!;
  const off = run.may_branch !== null;
  const why = run.may_branch ?? "";
  return (
    <div class="branching">
      {run.trail && !run.on_trail && <button class="accent" onClick={() => store.back()} title="Give up this way and follow the counterexample again (b)"><Icon name="trail" /> Back to the trail</button>}
      <Grouping />
      <button disabled={off || run.steps <= run.first} title={why || "Take the last step of the run back (u)"} aria-label="Undo" onClick={() => store.undo()}><Icon name="undo" /></button>
      <button disabled={off} title={why || "Ten random steps from here; what came after this moment is given up (r)"} onClick={() => store.randomFromHere(10)}><Icon name="dice" /> +10</button>
    </div>
  );
}

/** For long runs: anywhere at once. */
export function Scrubber() {
  const run = store.run.value!;
  if (run.steps < 60) return null;
  return <input class="scrubber" type="range" aria-label="Anywhere in the run" min={run.first} max={run.steps} value={store.cursor.value} onInput={event => store.go(Number(event.currentTarget.value))} />;
}
