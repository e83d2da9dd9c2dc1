// Small parts that all views use.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Where } from "./types";

/** The class of the colour of a process, as in the pictures. */
export const colour = (pid: number | null): string => `c${pid === null ? 7 : pid % 8}`;
export const letter = (name: string, pid: number): string => `${(name.match(/\w/)?.[0] ?? "?").toUpperCase()}${pid}`;
export const named = (one: { process: string; pid: number | null }): string => (one.pid === null ? one.process : `${one.process}[${one.pid}]`);

export function Who({ of }: { of: { process: string; pid: number | null } }) {
  return <span class={`who ${colour(of.pid)}`}>{named(of)}</span>;
}

/** The statement of a step, with its partner. */
export function Statement({ of }: { of: Where & { partner?: Where } }) {
  return <><Who of={of} /> <code>{of.text}</code>{of.partner && <> → <Who of={of.partner} /></>}</>;
}

const PATHS: Record<string, string> = {
  first: "M5 4v12M16 4l-8 6 8 6z",
  back: "M14 4l-9 6 9 6z",
  on: "M6 4l9 6-9 6z",
  last: "M15 4v12M4 4l8 6-8 6z",
  plus: "M10 4v12M4 10h12",
  find: "M8.5 3.5a5 5 0 1 1 0 10 5 5 0 0 1 0-10M12.5 12.5L17 17",
  undo: "M8 4L4 8l4 4M4 8h8a4 4 0 0 1 0 8H9",
  dice: "M4 4h12v12H4zM7.5 7.5h.01M12.5 12.5h.01M12.5 7.5h.01M7.5 12.5h.01M10 10h.01",
  trail: "M4 15c4 0 3-10 7-10h4M12 2l3 3-3 3",
  sun: "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7M10 2v2M10 16v2M2 10h2M16 10h2M4.5 4.5l1.4 1.4M14.1 14.1l1.4 1.4M15.5 4.5l-1.4 1.4M5.9 14.1l-1.4 1.4",
  moon: "M15.5 12.5A6.5 6.5 0 0 1 7.5 4.5a6.5 6.5 0 1 0 8 8z",
  check: "M4 10.5l4 4 8-9",
  cross: "M5 5l10 10M15 5L5 15",
  pin: "M7 3h6l-1 5 3 3H5l3-3zM10 11v6",
  down: "M10 3v10M6 9l4 4 4-4M4 17h12",
  gear: "M4 6h8M15 6h1M4 14h1M8 14h8M13.5 4.5v3M6.5 12.5v3",
  copy: "M7 7h9v9H7zM4 13V4h9",
  session: "M4 4h9l3 3v9H4zM7 4v4h5V4M7 16v-5h6v5",
  stop: "M5 5h10v10H5z",
};
const FILLED = new Set(["back", "on", "stop"]);

export function Icon({ name }: { name: string }) {
  return (
    <svg class={`icon ${FILLED.has(name) ? "filled" : ""}`} viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d={PATHS[name]} /></svg>
  );
}

/** A picture that the server drew. Everything in it was escaped there, it is parsed as XML, and the policy of the page
    runs no script that could hide in it. */
export function Picture({ svg, label, then }: { svg: string; label: string; then?: (box: HTMLElement) => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (parsed.nodeName !== "svg") { box.current!.replaceChildren("the picture cannot be read"); return; }
    const picture = document.importNode(parsed, true);
    picture.setAttribute("aria-label", label);
    box.current!.replaceChildren(picture);
    then?.(box.current!);
  }, [svg]);
  return <div class="picture" ref={box} />;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export const grouped = (number: number | string): string => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
export function bytes(number: number): string {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const) if (number >= size) return `${(number / size).toFixed(number >= size * 100 ? 0 : 1)} ${unit}`;
  return `${number} B`;
}
export const seconds = (number: number): string => (number < 0.1 ? `${(number * 1000).toFixed(1)} ms` : number < 100 ? `${number.toFixed(2)} s` : `${(number / 60).toFixed(1)} min`);

/** Scrolls a box so that something in it can be seen; never the page. */
export function near(element: Element, box: Element): void {
  const inner = element.getBoundingClientRect(), outer = box.getBoundingClientRect();
  if (inner.top < outer.top + 30 || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - outer.height / 2 + inner.height / 2;
  if (inner.width < outer.width && (inner.left < outer.left || inner.right > outer.right)) box.scrollLeft += inner.left - outer.left - outer.width / 2;
}
