"use strict";
// One cursor for all views of a counterexample: steps, lanes, chart, automata, state, source.
const all = JSON.parse(document.getElementById("data").textContent);
const cursors = all.map((run, number) => cursorOf(run, document.querySelector(`[data-violation="${number}"]`)));
let current = cursors[0];

function cursorOf(run, section) {
  // Of each moment its part and the steps before it there; states are put together when they are looked at.
  const moments = [];
  run.parts.forEach(part => {
    for (let taken = 0; taken <= part.steps.length; taken++)
      moments.push({part, taken, number: part.first - 1 + taken, step: taken ? part.steps[taken - 1] : null});
  });

  function situation({part, taken}) {
    const state = new Map(part.state), located = new Map(part.located.map(([pid, name, at]) => [pid, [name, at]]));
    for (const step of part.steps.slice(0, taken)) {
      for (const [name, , after] of step.changes) after === null ? state.delete(name) : state.set(name, after);
      for (const [pid, name, at] of step.located) at === null ? located.delete(pid) : located.set(pid, [name, at]);
    }
    return {state, located, holding: taken ? part.steps[taken - 1].holding : part.holding};
  }

  const slider = section.querySelector("input"), output = section.querySelector("output");
  const cursor = {at: moments.length - 1, go};
  slider.max = moments.length - 1;
  slider.addEventListener("input", () => go(Number(slider.value)));
  section.querySelector(".controls").hidden = false;
  section.querySelectorAll("[data-go]").forEach(button => button.addEventListener("click", () => go({
    first: 0, back: cursor.at - 1, on: cursor.at + 1, last: moments.length - 1}[button.dataset.go])));
  section.querySelectorAll("[data-step]").forEach(one => one.addEventListener("click", () => {
    const found = moments.findIndex(moment => moment.step && moment.number === Number(one.dataset.step));
    if (found >= 0) go(found);
  }));
  section.addEventListener("focusin", () => { current = cursor; });
  section.addEventListener("click", () => { current = cursor; });

  function go(to) {
    cursor.at = Math.max(0, Math.min(moments.length - 1, to));
    const moment = {...moments[cursor.at], ...situation(moments[cursor.at])};
    slider.value = cursor.at;
    const inCycle = run.cycle !== null && moment.number > run.cycle ? ", in the cycle" : "";
    output.textContent = `${moment.number} / ${run.steps}${inCycle}`;
    section.querySelectorAll(".now").forEach(one => one.classList.remove("now"));
    section.querySelectorAll(".steps [data-step]").forEach(one =>
      one.classList.toggle("later", Number(one.dataset.step) > moment.number));
    if (moment.step) {
      section.querySelectorAll(`[data-step="${moment.number}"]`).forEach(one => {
        one.classList.add("now");
        near(one);
      });
      section.querySelectorAll("[data-from]").forEach(row => {
        const inside = Number(row.dataset.from) <= moment.number && moment.number <= Number(row.dataset.to);
        row.classList.toggle("now", inside);
        if (inside) near(row);
      });
    }
    showAutomata(moment);
    showState(moment);
    showSource(moment);
  }

  function showAutomata(moment) {
    for (const box of section.querySelectorAll("[data-proctype]")) {
      const here = [...moment.located.values()].filter(([name]) => name === box.dataset.proctype).map(([, at]) => String(at));
      const taken = moment.step ? moment.step.moves.filter(([name]) => name === box.dataset.proctype).map(([, edge]) => String(edge)) : [];
      for (const node of box.querySelectorAll("[data-at]"))
        node.classList.toggle("here", node.dataset.at.split(" ").some(at => here.includes(at)));
      for (const edge of box.querySelectorAll("[data-edge]"))
        edge.classList.toggle("taken", edge.dataset.edge.split(" ").some(key => taken.includes(key)));
      // Names were drawn where the run ends.
      for (const who of box.querySelectorAll(".who")) who.classList.toggle("away", cursor.at !== moments.length - 1);
    }
  }

  function showState(moment) {
    const changes = new Map(moment.step ? moment.step.changes.map(([name, before]) => [name, before]) : []);
    const body = section.querySelector(".state tbody");
    const rows = [...moment.state].map(([name, value]) => {
      const row = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
      head.scope = "row";
      head.append(code(name));
      if (changes.has(name)) {
        row.className = "changed";
        if (changes.get(name) !== null) {
          const old = document.createElement("del");
          old.textContent = changes.get(name);
          cell.append(old);
        }
      }
      cell.append(code(value));
      row.append(head, cell);
      return row;
    });
    body.replaceChildren(...rows);
    section.querySelector(".moment").textContent = moment.number === 0 ? "at the beginning" : `after step ${moment.number}`;
    section.querySelector(".propositions").textContent =
      run.propositions.map((text, i) => `${moment.holding[i] ? "✓" : "✗"} ${text}`).join(" · ");
  }

  function showSource(moment) {
    document.querySelectorAll(".source tr.now").forEach(row => row.classList.remove("now"));
    for (const [file, line] of moment.step ? moment.step.at : []) {
      const table = [...document.querySelectorAll(".source")].find(one => one.dataset.file === file);
      const row = table && table.rows[line - 1];
      if (row) {
        row.classList.add("now");
        near(row);
      }
    }
  }
  return cursor;
}

function code(text) {
  const element = document.createElement("code");
  element.textContent = text;
  return element;
}

// Scrolls the box around something, never the page.
function near(element) {
  const box = element.closest(".scroll");
  if (!box) return;
  const inner = element.getBoundingClientRect(), outer = box.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - outer.height / 2;
  if (inner.width < outer.width && (inner.left < outer.left || inner.right > outer.right))
    box.scrollLeft += inner.left - outer.left - outer.width / 2;
}

document.addEventListener("keydown", event => {
  const typing = event.target.matches("input, textarea") || event.ctrlKey || event.metaKey || event.altKey;
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step || typing || !current) return;
  current.go(current.at + step);
  event.preventDefault();
});

cursors.forEach(cursor => cursor.go(cursor.at));
