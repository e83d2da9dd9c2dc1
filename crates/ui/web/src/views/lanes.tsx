// A run as rows of cells: a row for each process, a column for each step. Only the columns that can be seen are there, so
// that a run of a hundred thousand steps is as light as one of ten.

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, Statement, colour, named } from "../parts";
import * as store from "../store";
import type { Step, Where } from "../types";

const COLUMN = 18, ROW = 20, HEAD = 22;

interface Row { key: string; name: string; pid: number | null }

/** The processes that the steps seen so far and the state at the cursor have. A number is used again when its process has
    ended; one with another name is another process. */
function rows(): Row[] {
  const known = new Map<string, Row>();
  const add = (pid: number | null, process: string) => {
    const key = `${pid} ${process}`;
    if (!known.has(key)) known.set(key, { key, pid, name: named({ pid, process }) });
  };
  for (const one of store.moment.value?.state.processes ?? []) add(one.pid, one.process);
  for (const page of Object.values(store.chunks.value))
    for (const step of page) {
      add(step.pid, step.process);
      if (step.partner) add(step.partner.pid, step.partner.process);
    }
  return [...known.values()].sort((a, b) => (a.pid ?? 1e9) - (b.pid ?? 1e9));
}

function kind(step: Step): string {
  if (step.fault) return "fault";
  const own = step.events.filter(one => one.pid === step.pid);
  if (own.some(one => one.kind === "send" || one.kind === "rendezvous")) return "send";
  return own.some(one => one.kind === "receive") ? "receive" : "local";
}

function Cell({ of, what, at, row }: { of: Where; what: string; at: number; row: number }) {
  const [width, height] = { send: [13, 12], receive: [11, 10], fault: [14, 13], local: [8, 6] }[what]!;
  return <rect class={`cell ${colour(of.pid)} ${what}`} x={at * COLUMN + (COLUMN - width!) / 2} y={HEAD + row * ROW + (ROW - height!) / 2} width={width} height={height} rx="3" />;
}

export function Lanes() {
  const run = store.run.value!;
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<[number, number]>([1, 60]);
  const look = () => {
    if (!box.current) return;
    const { scrollLeft, clientWidth } = box.current;
    const first = Math.max(1, Math.floor(scrollLeft / COLUMN) - 10);
    const last = Math.min(run.steps, Math.ceil((scrollLeft + clientWidth) / COLUMN) + 10);
    setSeen(old => (old[0] === first && old[1] === last ? old : [first, last]));
    void store.ensure(first, last);
  };
  const at = store.cursor.value;
  useEffect(() => {
    const { scrollLeft, clientWidth } = box.current!;
    const x = (at - 1) * COLUMN;
    if (x < scrollLeft + COLUMN || x + 2 * COLUMN > scrollLeft + clientWidth) box.current!.scrollLeft = x - clientWidth / 2;
    look();
  }, [at, run.id, run.steps]);
  useEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, [run.id, run.steps]);
  const list = rows();
  const height = HEAD + list.length * ROW + 4;
  const columns = [];
  for (let number = seen[0]; number <= Math.min(seen[1], run.steps); number++) {
    const step = store.stepAt(number);
    if (!step) continue;
    const row = (of: Where) => list.findIndex(one => one.key === `${of.pid} ${of.process}`);
    columns.push(
      <g key={number} data-step={number} class={run.shared !== null && !run.on_trail && number > run.shared ? "branch" : ""}>
        <title>{`${number}: ${named(step)} ${step.file}:${step.line}  ${step.text}${step.effects ? `\n${step.effects}` : ""}`}</title>
        <rect class="band" x={(number - 1) * COLUMN} y={0} width={COLUMN} height={height} />
        {number % 5 === 0 && <text class="tick" x={(number - 0.5) * COLUMN} y={14}>{number}</text>}
        <Cell of={step} what={kind(step)} at={number - 1} row={row(step)} />
        {step.partner && <Cell of={step.partner} what="receive" at={number - 1} row={row(step.partner)} />}
      </g>,
    );
  }
  const cycle = run.on_trail ? run.trail?.cycle ?? null : null;
  const click = (event: MouseEvent) => {
    const number = (event.target as Element).closest("[data-step]")?.getAttribute("data-step");
    if (number) void store.go(Number(number));
  };
  const step = store.step.value;
  return (
    <div class="lanes">
      <div class="lane-names" aria-hidden="true" style={{ height: `${height}px`, paddingTop: `${HEAD}px` }}>
        {list.map(one => <div key={one.key} class={`who ${colour(one.pid)}`} style={{ height: `${ROW}px` }} title={one.name}>{one.name}</div>)}
      </div>
      <div class="lane-box" ref={box} onScroll={look} onClick={click} tabIndex={0} role="slider" aria-label="Step of the run"
        aria-valuemin={run.first} aria-valuemax={run.steps} aria-valuenow={at}
        aria-valuetext={step ? `step ${at} of ${run.steps}: ${named(step)} ${step.text}` : `the beginning of ${run.steps} steps`}>
        <svg class="lane-svg" width={Math.max(1, run.steps) * COLUMN + 8} height={height} aria-hidden="true">
          {at >= 1 && <rect class="now-band" x={(at - 1) * COLUMN} y={0} width={COLUMN} height={height} rx="3" />}
          {list.map((one, row) => <line key={one.key} class="grid" x1={0} x2={run.steps * COLUMN} y1={HEAD + (row + 0.5) * ROW} y2={HEAD + (row + 0.5) * ROW} />)}
          {cycle !== null && <path class="cycle" d={`M${cycle * COLUMN + 2},9V3H${run.steps * COLUMN - 2}V9`}><title>from here on forever</title></path>}
          {run.shared !== null && !run.on_trail && <line class="fork" x1={run.shared * COLUMN} x2={run.shared * COLUMN} y1={0} y2={height} />}
          {columns}
        </svg>
      </div>
    </div>
  );
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
        {step ? <Statement of={step} /> : <span class="faint">the beginning of the run</span>}
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
      {run.trail && !run.on_trail && <button class="accent" onClick={() => store.back()} title="Give up this way and follow the counterexample again"><Icon name="trail" /> Back to the trail</button>}
      <button disabled={off || run.steps <= run.first} title={why || "Take the last step of the run back"} aria-label="Undo" onClick={() => store.undo()}><Icon name="undo" /></button>
      <button disabled={off} title={why || "Ten random steps from here; what came after this moment is given up"} onClick={() => store.randomFromHere(10)}><Icon name="dice" /> +10</button>
    </div>
  );
}

/** For long runs: anywhere at once. */
export function Scrubber() {
  const run = store.run.value!;
  if (run.steps < 60) return null;
  return <input class="scrubber" type="range" aria-label="Anywhere in the run" min={run.first} max={run.steps} value={store.cursor.value} onInput={event => store.go(Number(event.currentTarget.value))} />;
}
