// The steps as a list. Rows have one height, and only those that can be seen are there.

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, Statement } from "../parts";
import * as store from "../store";

const ROW = 26;

function matches(text: string): boolean {
  const wanted = store.filter.value;
  if (wanted === "") return true;
  try { return new RegExp(wanted, "i").test(text); } catch { return text.toLowerCase().includes(wanted.toLowerCase()); }
}

export function Steps() {
  const run = store.run.value!;
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<[number, number]>([0, 60]);
  const look = () => {
    if (!box.current) return;
    const { scrollTop, clientHeight } = box.current;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - 12), last = Math.min(run.steps, Math.ceil((scrollTop + clientHeight) / ROW) + 12);
    setSeen(old => (old[0] === first && old[1] === last ? old : [first, last]));
    void store.ensure(first, last);
  };
  const at = store.cursor.value;
  useEffect(() => {
    const { scrollTop, clientHeight } = box.current!;
    const y = at * ROW;
    if (y < scrollTop || y + ROW > scrollTop + clientHeight) box.current!.scrollTop = y - clientHeight / 2;
    look();
  }, [at, run.id, run.steps]);
  useEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, [run.id, run.steps]);
  const cycle = run.on_trail ? run.trail?.cycle ?? null : null;
  const list = [];
  for (let number = seen[0]; number <= Math.min(seen[1], run.steps); number++) {
    const step = store.stepAt(number);
    const classes = ["row", number === at && "now", step?.atomic && "atomic", number > at && "later", cycle !== null && number > cycle && "in-cycle",
      step && !matches(`${step.process}[${step.pid}] ${step.text} ${step.effects}`) && "dim"].filter(Boolean).join(" ");
    list.push(
      <div key={number} class={classes} style={{ top: `${number * ROW}px` }} onClick={() => store.go(number)} data-row={number}>
        <span class="number" title={step?.atomic ? "inside an atomic sequence" : undefined}>{number}</span>
        {number === 0 ? <span class="faint">the beginning</span> : step ? <>
          <span class="statement"><Statement of={step} /></span>
          <span class="effects">{step.effects}</span>
          {step.fault && <span class="chip bad">✗ {step.fault.kind}</span>}
        </> : <span class="faint">…</span>}
      </div>,
    );
  }
  return (
    <div class="view">
      <Find />
      <div class="steps scroll" ref={box} onScroll={look} tabIndex={0} role="region" aria-label="Steps of the run">
        <div class="tall" style={{ height: `${(run.steps + 1) * ROW}px` }}>{list}</div>
      </div>
    </div>
  );
}

export function Find() {
  const [text, setText] = useState("");
  return (
    <form class="toolbar" role="search" onSubmit={event => { event.preventDefault(); void store.find(text, false); }}>
      <label class="grow"><span class="hidden">Search in the run</span>
        <input id="find" type="search" value={text} placeholder="Search: a statement, a process, a value … or =expression" onInput={event => setText(event.currentTarget.value)} />
      </label>
      <button type="button" disabled={!text} onClick={() => store.find(text, true)}>Previous</button>
      <button type="submit" disabled={!text}><Icon name="find" /> Next</button>
      <label class="filter">Filter <input type="text" size={12} value={store.filter.value} placeholder="regex" title="Steps that do not match are dimmed" onInput={event => { store.filter.value = event.currentTarget.value; }} /></label>
    </form>
  );
}
