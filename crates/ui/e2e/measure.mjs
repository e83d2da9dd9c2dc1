// How fast the page is: `node measure.mjs SPINOR [CHROMIUM]`. The first paint of ten openings, the time until the model can be
// edited, and what a step takes on runs of ten and a hundred thousand steps: from the key to the picture of every view.
// Chromium draws as fast as it can here, so that a step is not rounded up to the next frame of a screen. On a busy machine
// the processor time of the page tells more than the clock. No test: times depend on the machine.
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "spinor-measure-"));
const model = count => `chan q = [1] of { int };\nint n;\nactive proctype p() { do :: n < ${count} -> n++; q!n :: else -> break od }\nactive proctype c() { int x; do :: q?x; assert(x < ${count}) od }\n`;
writeFileSync(join(folder, "a.pml"), model(10));
writeFileSync(join(folder, "ten.pml"), model(2000));
writeFileSync(join(folder, "hundred.pml"), model(20000));
const server = spawn(resolve(process.argv[2]), ["ui", folder, "--no-open", ...(process.env.ASSETS ? ["--assets", process.env.ASSETS] : [])], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise(found => server.stdout.once("data", data => found(String(data).trim())));
const browser = await chromium.launch({ executablePath: process.argv[3] ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu-vsync", "--disable-frame-rate-limit"] });
const middle = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const late = list => [...list].sort((a, b) => a - b)[Math.floor(list.length * 0.95)];
const told = list => `median ${middle(list).toFixed(1)} ms, 95 % within ${late(list).toFixed(1)} ms, best ${Math.min(...list).toFixed(1)} ms`;

const paint = [], header = [], editable = [];
for (let i = 0; i < 10; i++) {
  const page = await (await browser.newContext({ viewport: { width: 1600, height: 950 } })).newPage();
  await page.addInitScript(() => {
    const look = () => {
      if (!window.headerAt && document.querySelector(".top button")) window.headerAt = performance.now();
      if (!window.editorAt && document.querySelector(".cm-content")) window.editorAt = performance.now();
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
  });
  await page.goto(url);
  await page.waitForFunction(() => window.editorAt);
  const found = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN, window.headerAt, window.editorAt]);
  [paint, header, editable].forEach((list, at) => list.push(found[at]));
  await page.context().close();
}
console.log(`first paint: ${told(paint)}\nthe page is there: ${told(header)}\nthe model can be edited: ${told(editable)}`);

for (const name of ["ten", "hundred"]) {
  for (const view of ["steps", "chart", "table"]) {
    const page = await (await browser.newContext({ viewport: { width: 1600, height: 950 } })).newPage();
    await page.goto(url);
    await page.selectOption(".top .model", `${name}.pml`);
    await page.waitForSelector(`[aria-label='Source of ${name}.pml']`);
    await page.waitForSelector(".problems summary:has-text('no errors'), .problems summary:has-text('warning')");
    const begun = Date.now();
    await page.click(".top button:text-is('Check')");
    await page.waitForSelector("[data-testid=position]", { timeout: 120_000 });
    await page.waitForFunction(() => /\d/.test(document.querySelector(".state-pane h2")?.textContent ?? ""), undefined, { timeout: 120_000 });
    const opened = Date.now() - begun;
    await page.click(`#tab-${view}`);
    await page.waitForTimeout(1500);
    await page.focus(".lane-box");
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const used = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value * 1000]));
    const before = await used();
    const times = await page.evaluate(async () => {
      const list = [];
      const position = () => Number(document.querySelector("[data-testid=position]").textContent.split(" ")[0]);
      for (let i = 0; i < 120; i++) {
        const wanted = position() - 1;
        const begun = performance.now();
        document.querySelector(".lane-box").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true, cancelable: true }));
        while (!document.querySelector(".state-pane h2").textContent.endsWith(`step ${wanted}`)) await new Promise(next => { const channel = new MessageChannel(); channel.port1.onmessage = next; channel.port2.postMessage(0); });
        // The frame that shows it is done when the one after it begins.
        await new Promise(next => requestAnimationFrame(() => setTimeout(next)));
        list.push(performance.now() - begun);
      }
      return list.slice(20);
    });
    const after = await used();
    const each = name => ((after[name] - before[name]) / 120).toFixed(1);
    console.log(`${await page.textContent("[data-testid=position]")}, ${view}: processor time of the page ${each("TaskDuration")} ms a step (script ${each("ScriptDuration")}, style ${each("RecalcStyleDuration")}, layout ${each("LayoutDuration")}); checked and opened in ${opened} ms; a step: ${told(times)}`);
    await page.context().close();
  }
}
await browser.close();
server.kill();
rmSync(folder, { recursive: true });
