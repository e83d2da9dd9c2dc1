// The borders between the panes: pulled with the pointer, moved with the arrow keys, remembered.

import { effect, signal } from "@preact/signals";
import * as store from "./store";

/** Shares of the width, in percent. */
const widths = signal<{ left: number; right: number }>(store.stored("panes", { left: 31, right: 21 }));
effect(() => {
  store.keep("panes", widths.value);
  document.documentElement.style.setProperty("--left", `${widths.value.left}fr`);
  document.documentElement.style.setProperty("--right", `${widths.value.right}fr`);
  document.documentElement.style.setProperty("--middle", `${100 - widths.value.left - widths.value.right}fr`);
});

export function Splitter({ side, label }: { side: "left" | "right"; label: string }) {
  const set = (share: number) => { widths.value = { ...widths.value, [side]: Math.round(Math.max(12, Math.min(50, share)) * 10) / 10 }; };
  const sign = side === "left" ? 1 : -1;
  const pull = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    bar.setPointerCapture(event.pointerId);
    const from = event.clientX, share = widths.value[side], whole = bar.closest(".panes")!.clientWidth;
    const move = (to: PointerEvent) => set(share + sign * (to.clientX - from) / whole * 100);
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", () => bar.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (step === undefined) return;
    set(widths.value[side] + sign * step);
    event.preventDefault();
    event.stopPropagation();
  };
  return <div class={`splitter ${side}`} role="separator" aria-orientation="vertical" aria-label={label} aria-valuenow={Math.round(widths.value[side])} aria-valuemin={12} aria-valuemax={50} tabIndex={0}
    onPointerDown={pull} onKeyDown={key} onDblClick={() => set(side === "left" ? 31 : 21)} title="Pull, or press ← →; a double click puts it back" />;
}
