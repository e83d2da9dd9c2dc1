// Chart, automata and state graph: pictures of the server, laid out once; a step only changes classes.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { jump } from "../editor";
import { Empty, Icon, Picture, Who, colour, near } from "../parts";
import * as store from "../store";
import type { StateGraph } from "../types";

/** Zoom for a picture: 1 is its natural size. */
function Zoom({ zoom, set }: { zoom: number; set: (zoom: number) => void }) {
  return (
    <span class="zoom">
      <button aria-label="Smaller" disabled={zoom <= 0.3} onClick={() => set(zoom / 1.25)}>−</button>
      <button title="Natural size" onClick={() => set(1)}>{Math.round(zoom * 100)} %</button>
      <button aria-label="Larger" disabled={zoom >= 3} onClick={() => set(zoom * 1.25)}>+</button>
    </span>
  );
}
function scale(box: HTMLElement | null, zoom: number): void {
  for (const svg of box?.querySelectorAll<SVGElement>("svg.drawing") ?? []) {
    const [, , width, height] = svg.getAttribute("viewBox")!.split(" ").map(Number);
    svg.setAttribute("width", String(width! * zoom));
    svg.setAttribute("height", String(height! * zoom));
  }
}

const WINDOW = 200;

/** Where the heads of a chart end: what is above is shown apart, so that it stays when the rest scrolls. */
const HEADS = { top: 52, bottom: 86 };

/** Takes the heads out of a chart, into a picture that stays at the top; those of processes that start later are there as
    soon as their start has been scrolled by. */
function stickyHeads(box: HTMLElement): void {
  box.querySelector(".chart-heads")?.remove();
  const picture = box.querySelector<SVGSVGElement>("svg.drawing");
  if (!picture) return;
  const [left, , width, height] = picture.getAttribute("viewBox")!.split(" ").map(Number) as [number, number, number, number];
  const heads = picture.cloneNode(false) as SVGSVGElement;
  heads.setAttribute("viewBox", `${left} ${HEADS.top} ${width} ${HEADS.bottom - HEADS.top}`);
  heads.setAttribute("aria-hidden", "true");
  const first: Element[] = [];
  for (const rect of picture.querySelectorAll("rect.head")) {
    const at = Number(rect.getAttribute("y")), name = rect.nextElementSibling!;
    const pair = document.createElementNS("http://www.w3.org/2000/svg", "g");
    pair.append(rect.cloneNode(true), name.cloneNode(true));
    if (at < HEADS.bottom) first.push(rect, name);
    else pair.setAttribute("transform", `translate(0 ${58 - at})`);
    pair.setAttribute("data-row", String(at));
    pair.setAttribute("data-column", name.getAttribute("x")!);
    heads.append(pair);
  }
  // The first ones are nowhere else then.
  for (const part of first) part.remove();
  picture.setAttribute("viewBox", `${left} ${HEADS.bottom} ${width} ${height - HEADS.bottom}`);
  const stay = document.createElement("div");
  stay.className = "chart-heads";
  stay.append(heads);
  picture.parentElement!.prepend(stay);
}

/** Which heads are shown: of each column the last one that is above. */
function showHeads(box: HTMLElement, zoom: number): void {
  const shown = new Map<string, SVGGElement>();
  for (const pair of box.querySelectorAll<SVGGElement>(".chart-heads [data-row]")) {
    const at = Number(pair.dataset.row);
    pair.classList.add("away");
    if (at < HEADS.bottom || (at + 26 - HEADS.bottom) * zoom < box.scrollTop) shown.set(pair.dataset.column!, pair);
  }
  for (const pair of shown.values()) pair.classList.remove("away");
}

export function Chart() {
  const run = store.run.value!;
  const box = useRef<HTMLDivElement>(null);
  const [svg, setSvg] = useState("");
  const [zoom, setZoom] = useState(1);
  // Long runs are drawn in parts.
  const part = run.steps <= WINDOW ? 0 : Math.floor(Math.max(0, store.cursor.value - 1) / WINDOW);
  const from = part * WINDOW + 1, to = Math.min(run.steps, (part + 1) * WINDOW);
  useEffect(() => {
    let gone = false;
    api.getText(`/runs/${run.id}/chart.svg?from=${from}&to=${to}`).then(({ text }) => { if (!gone) setSvg(text); }).catch(store.complain);
    return () => { gone = true; };
  }, [run, from, to]);
  const mark = () => {
    const at = store.cursor.value;
    for (const row of box.current?.querySelectorAll<SVGElement>("[data-from]") ?? []) {
      const inside = Number(row.dataset.from) <= at && at <= Number(row.dataset.to);
      row.classList.toggle("now", inside);
      if (inside) near(row, box.current!);
    }
  };
  useSignalEffect(mark);
  useEffect(() => { scale(box.current, zoom); if (box.current) showHeads(box.current, zoom); }, [zoom, svg]);
  const click = (event: MouseEvent) => {
    const row = (event.target as Element).closest<SVGElement>("[data-from]");
    if (row) void store.go(Number(row.dataset.to));
  };
  return (
    <div class="view">
      <div class="toolbar">
        <span class="faint grow">{run.steps > WINDOW ? `steps ${from} to ${to} of ${run.steps}` : "time runs downwards; a click moves the cursor"}</span>
        <Zoom zoom={zoom} set={setZoom} />
        <button onClick={() => api.download(`/runs/${run.id}/chart.svg?from=${from}&to=${to}&file=true`, "chart.svg").catch(store.complain)}><Icon name="down" /> SVG</button>
      </div>
      <div class="scroll paper chart" ref={box} tabIndex={0} role="region" aria-label="Message sequence chart" onClick={click} onScroll={() => showHeads(box.current!, zoom)}>
        {svg && <Picture svg={svg} label="Message sequence chart" then={() => { stickyHeads(box.current!); scale(box.current, zoom); mark(); showHeads(box.current!, zoom); }} />}
      </div>
    </div>
  );
}

/** The automata of the run, or without a run those of the text. */
export function Automata() {
  const run = store.run.value;
  const drawn = run ? store.pictures.value : (store.analysis.value?.automata ?? []).map(one => ({ name: one.automaton.name, kind: one.automaton.kind, svg: one.svg, automaton: one.automaton }));
  const chosen = useSignal<string | null>(null);
  const follow = useSignal(true);
  const [zoom, setZoom] = useState(1);
  const box = useRef<HTMLDivElement>(null);
  const mover = store.step.value?.moves[0]?.proctype;
  const name = (follow.value && run ? mover : null) ?? chosen.value ?? drawn[0]?.name;
  const picture = drawn.find(one => one.name === name) ?? drawn[0];
  const mark = () => {
    const now = store.moment.value, step = store.step.value;
    if (!box.current || !picture || !run) return;
    const here = new Map<string, number[]>();
    for (const one of now?.state.processes ?? []) if (one.process === picture.name) here.set(String(one.location), [...(here.get(String(one.location)) ?? []), one.pid]);
    const taken = (step?.moves ?? []).filter(one => one.proctype === picture.name).map(one => String(one.edge));
    for (const old of box.current.querySelectorAll(".stands")) old.remove();
    let last: Element | null = null;
    for (const node of box.current.querySelectorAll<SVGElement>("[data-at]")) {
      const pids = node.dataset.at!.split(" ").flatMap(at => here.get(at) ?? []);
      node.classList.toggle("here", pids.length > 0);
      if (pids.length > 0) { names(node, pids); last = node; }
    }
    for (const edge of box.current.querySelectorAll<SVGElement>("[data-edge]")) edge.classList.toggle("taken", edge.dataset.edge!.split(" ").some(key => taken.includes(key)));
    if (last) near(last, box.current);
  };
  useSignalEffect(mark);
  useEffect(mark, [picture?.name]);
  useEffect(() => { scale(box.current, zoom); }, [zoom, picture?.svg]);
  if (!picture) return <Empty><p>The automata of the model appear here as soon as it can be read.</p></Empty>;
  const click = (event: MouseEvent) => {
    const edge = (event.target as Element).closest<SVGElement>("[data-edge]")?.dataset.edge?.split(" ")[0];
    const node = (event.target as Element).closest<SVGElement>("[data-at]")?.dataset.at?.split(" ")[0];
    const range = edge ? picture.automaton.edges.find(one => String(one.edge) === edge)?.range
      : node ? picture.automaton.locations.find(one => String(one.number) === node)?.range : undefined;
    if (range) jump(range.file, range.line, range.column);
  };
  return (
    <div class="view">
      <div class="toolbar">
        <div class="segments grow" role="group" aria-label="Automaton">
          {drawn.map(one => <button key={one.name} aria-pressed={one.name === picture.name} onClick={() => { chosen.value = one.name; follow.value = false; }}>{one.name}</button>)}
        </div>
        {run && <label><input type="checkbox" checked={follow.value} onChange={event => { follow.value = event.currentTarget.checked; }} /> follow the step</label>}
        <Zoom zoom={zoom} set={setZoom} />
        <button onClick={() => api.save(new Blob([standalone(picture.svg)], { type: "image/svg+xml" }), `${picture.name}.svg`)}><Icon name="down" /> SVG</button>
      </div>
      <div class="scroll paper" ref={box} tabIndex={0} role="region" aria-label="Automaton" onClick={click}>
        <Picture svg={picture.svg} label={`Automaton of ${picture.name}`} then={() => { scale(box.current, zoom); mark(); }} />
      </div>
    </div>
  );
}

/** Who stands at a node, written beside it in the colours of the processes. */
function names(node: SVGElement, pids: number[]): void {
  const rect = node.querySelector("rect.node");
  if (!rect) return;
  const number = (name: string) => Number(rect.getAttribute(name));
  pids.forEach((pid, at) => {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("class", `stands ${colour(pid)}`);
    text.setAttribute("x", String(number("x") + number("width") + 6 + at * 26));
    text.setAttribute("y", String(number("y") + number("height") / 2 + 4));
    text.textContent = `◀${pid}`;
    node.append(text);
  });
}

/** The pictures' style sheet is of the page; a file needs its own. */
function standalone(svg: string): string {
  const sheet = [...document.styleSheets].find(one => one.href?.endsWith("/drawing.css"));
  const rules = sheet ? [...sheet.cssRules].map(rule => rule.cssText).join("\n") : "";
  return svg.replace(/>/, `><style>${rules.replace(/</g, "\\3c ")}</style>`);
}

export function Graph() {
  const run = store.run.value!;
  const root = useSignal(store.cursor.peek());
  const depth = useSignal(1);
  const expand = useSignal<string[]>([]);
  const selected = useSignal<string | null>(null);
  const [graph, setGraph] = useState<StateGraph | null>(null);
  const [zoom, setZoom] = useState(1);
  const box = useRef<HTMLDivElement>(null);
  const beyond = root.value > run.steps;
  const from = beyond ? run.steps : root.value;
  useEffect(() => {
    if (run.may_branch) return;
    let gone = false;
    const body = { moment: from, current: store.cursor.value, depth: depth.value, expand: expand.value };
    api.post<StateGraph>(`/runs/${run.id}/graph`, body).then(found => { if (!gone) setGraph(found); }).catch(store.complain);
    return () => { gone = true; };
  }, [run, from, depth.value, expand.value]);
  const mark = () => {
    if (!box.current || !graph) return;
    const at = store.cursor.value;
    const here = graph.states.find(one => one.moment === at)?.id;
    for (const node of box.current.querySelectorAll<SVGElement>("[data-at]")) {
      const state = graph.states.find(one => one.id === node.dataset.at);
      node.classList.toggle("here", node.dataset.at === here);
      node.classList.toggle("selected", node.dataset.at === selected.value);
      node.classList.toggle("error", !!state?.fault);
      if (node.dataset.at === here) near(node, box.current);
    }
  };
  useSignalEffect(mark);
  useEffect(() => { scale(box.current, zoom); mark(); }, [zoom, graph]);
  if (run.may_branch) return <Empty><p>{run.may_branch}.</p></Empty>;
  const state = graph?.states.find(one => one.id === selected.value) ?? null;
  const click = (event: MouseEvent) => {
    const id = (event.target as Element).closest<SVGElement>("[data-at]")?.dataset.at;
    if (id) selected.value = id;
  };
  const visit = (path: number[], moment: number | null) => {
    if (moment !== null) void store.go(moment);
    else void store.take(from, path);
  };
  return (
    <div class="view">
      <div class="toolbar">
        <span class="grow">from moment {from}{graph && <span class="faint"> · {graph.states.length} states{graph.cut ? ", and more than are drawn" : ""}</span>}</span>
        <button disabled={store.cursor.value === from} onClick={() => { root.value = store.cursor.value; expand.value = []; selected.value = null; }}>Begin at the cursor</button>
        <label>depth <input type="number" min={1} max={12} value={depth.value} onInput={event => { depth.value = Math.max(1, Math.min(12, Number(event.currentTarget.value) || 1)); }} /></label>
        <Zoom zoom={zoom} set={setZoom} />
      </div>
      <div class="scroll paper" ref={box} tabIndex={0} role="region" aria-label="States around the moment" onClick={click}>
        {graph && <Picture svg={graph.svg} label="States around the moment" then={() => { scale(box.current, zoom); mark(); }} />}
      </div>
      <div class="inspector">
        <label class="grow"><span class="hidden">State</span>
          <select value={selected.value ?? ""} onChange={event => { selected.value = event.currentTarget.value || null; }}>
            <option value="">choose a state: click it, or here</option>
            {graph?.states.map((one, at) => <option key={one.id} value={one.id}>{one.moment !== null ? `moment ${one.moment}` : `s${at}`}{one.fault ? ` ✗ ${one.fault}` : ""} {one.text}</option>)}
          </select>
        </label>
        <button disabled={!state || state.open === 0} onClick={() => { expand.value = [...expand.value, state!.id]; }}>Grow{state && state.open > 0 ? ` +${state.open}` : ""}</button>
        <button disabled={!state} onClick={() => state && visit(state.path, state.moment)}>Go there</button>
      </div>
      {state?.fault && <p class="bad">✗ {state.fault}</p>}
    </div>
  );
}

export function Output() {
  const run = store.run.value!;
  const [lines, setLines] = useState<{ number: number; process: string; pid: number | null; text: string }[]>([]);
  useEffect(() => {
    let gone = false;
    void store.ensure(1, Math.min(run.steps, 5000)).then(() => {
      if (gone) return;
      const found = [];
      for (let number = 1; number <= Math.min(run.steps, 5000); number++) {
        const step = store.stepAt(number);
        if (step?.output) found.push({ number, process: step.process, pid: step.pid, text: step.output });
      }
      setLines(found);
    });
    return () => { gone = true; };
  }, [run]);
  if (lines.length === 0) return <Empty><p>The run prints nothing. What <code>printf</code> writes would be here.</p></Empty>;
  return (
    <div class="scroll output" tabIndex={0} role="region" aria-label="Output of the run">
      {lines.map(one => (
        <button key={one.number} class={`link line ${one.number > store.cursor.value ? "later" : ""} ${one.number === store.cursor.value ? "now" : ""}`} onClick={() => store.go(one.number)}>
          <span class="number">{one.number}</span> <Who of={one} /> <samp>{one.text.trimEnd()}</samp>
        </button>
      ))}
    </div>
  );
}
