// All values of all moments: a row for each moment, a column for each value.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { colour, near } from "../parts";
import * as store from "../store";
import type { Leaf } from "../types";

const ROWS = 100;
interface Row { moment: number; values: Leaf[] }

export function Table() {
  const run = store.run.value!;
  const page = Math.floor(store.cursor.value / ROWS);
  const [rows, setRows] = useState<Row[]>([]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let gone = false;
    api.get<{ rows: Row[] }>(`/runs/${run.id}/table?from=${page * ROWS}&to=${(page + 1) * ROWS - 1}`)
      .then(found => { if (!gone) setRows(found.rows); }).catch(store.complain);
    return () => { gone = true; };
  }, [run, page]);
  const at = store.cursor.value;
  // A step changes no cell, only which row is marked.
  useEffect(() => {
    for (const row of box.current?.querySelectorAll<HTMLTableRowElement>("tbody tr") ?? []) {
      const now = Number(row.dataset.moment) === at;
      row.classList.toggle("now", now);
      if (now) near(row, box.current!);
    }
  }, [at, rows, store.filter.value]);
  const wanted = store.filter.value;
  const fits = (name: string) => { try { return wanted === "" || new RegExp(wanted, "i").test(name); } catch { return name.includes(wanted); } };
  const names = new Map<string, Leaf>();
  for (const row of rows) for (const one of row.values) if (!names.has(one.name) && fits(one.name)) names.set(one.name, one);
  const columns = [...names.values()].slice(0, 80);
  const body = useMemo(() => {
    let before: Map<string, string> | null = null;
    return rows.map(row => {
      const now = new Map(row.values.map(one => [one.name, one.text]));
      const old = before;
      before = now;
      return (
        <tr key={row.moment} data-moment={row.moment} onClick={() => store.go(row.moment)}>
          <th scope="row">{row.moment}</th>
          {columns.map(one => {
            const text = now.get(one.name);
            const changed = old !== null && old.get(one.name) !== text;
            return <td key={one.name} class={changed ? "changed" : ""}>{text ?? ""}</td>;
          })}
        </tr>
      );
    });
  }, [rows, wanted]);
  return (
    <div class="view">
      <div class="toolbar">
        <span class="faint grow">{run.steps > ROWS ? `moments ${page * ROWS} to ${Math.min(run.steps, (page + 1) * ROWS - 1)} of ${run.steps}` : `${run.steps + 1} moments`}{names.size > 80 && `, 80 of ${names.size} values: filter them`}</span>
        <label class="filter">Filter <input type="text" size={16} value={store.filter.value} placeholder="regex of names" onInput={event => { store.filter.value = event.currentTarget.value; }} /></label>
      </div>
      <div class="scroll" ref={box} tabIndex={0} role="region" aria-label="Values at all moments">
        <table class="values">
          <thead><tr><th scope="col">moment</th>{columns.map(one => <th key={one.name} scope="col" class={one.pid === undefined ? "" : `who ${colour(one.pid)}`}>{one.name}</th>)}</tr></thead>
          <tbody>
            {body}
          </tbody>
        </table>
      </div>
    </div>
  );
}
