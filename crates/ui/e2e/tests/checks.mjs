// Checks: progress, options, reports, formulas, memory systems.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at, check, folder, open, pictures, select, verdict } from "../harness.mjs";

export default {
  async "a long check shows progress and is stopped"() {
    const page = await open();
    await select(page, "endless.pml");
    await check(page);
    await page.waitForSelector(".progress dd");
    await page.screenshot({ path: join(pictures, "progress-light-1600.png") });
    await page.click(".top button:has-text('Stop')");
    await verdict(page, "not decided");
    await page.context().close();
  },

  async "unreached statements are marked, and all options are there"() {
    const page = await open();
    await select(page, "dead.pml");
    await check(page);
    await verdict(page, "holds");
    await page.waitForSelector(".unreached-line:has-text('x == 7')");
    await page.click(".top button:has-text('Options')");
    await page.selectOption("#option-search", "bfs");
    await page.waitForSelector(".dialog .command:has-text('--search bfs')");
    await page.fill("#option-max-memory", "much");
    await page.waitForSelector(".dialog .command .bad");
    await page.keyboard.press("Escape");
    await page.context().close();
  },

  async "the report is downloaded and opens from the disk; model text is never markup"() {
    const page = await open();
    await select(page, "wild.pml");
    await check(page);
    await verdict(page, "violated");
    await page.click("#tab-output");
    await page.waitForSelector("samp:has-text('<img src=x')");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".top button:has-text('Report')")]);
    const file = join(folder, "report.html");
    await download.saveAs(file);
    const report = await page.context().newPage();
    await report.goto(pathToFileURL(file).href);
    await report.waitForSelector("h1");
    assert.match(await report.textContent("body"), /assertion violated/);
    await page.context().close();
  },

  async "formulas are drawn, judged on the run, and checked"() {
    const page = await open();
    await select(page, "needham_schroeder.pml");
    await check(page);
    await at(page, "24 / 24");
    await page.click("#tab-ltl");
    await page.fill(".formula textarea", "<> knows_nb");
    await page.waitForSelector(".truth.true");
    await page.waitForSelector(".ltl .picture [data-at]");
    await page.fill(".formula textarea", "[] !knows_nb");
    await page.waitForSelector(".truth.false");
    await page.fill(".formula textarea", "[] (");
    await page.waitForSelector(".ltl [role=alert]");
    await page.fill(".formula textarea", "[] !knows_nb");
    await page.click("button:text-is('Check on all runs')");
    await page.waitForSelector(".history tr:nth-child(2)");
    await page.click("#tab-check");
    await page.waitForSelector(".properties th:has-text('ltl:cli')");
    await page.screenshot({ path: join(pictures, "ltl-light-1600.png") });
    await page.context().close();
  },

  async "checks queue, each can be stopped, and every tab sees them"() {
    const page = await open();
    await select(page, "endless.pml");
    await check(page);
    await page.waitForSelector(".progress dd");
    await page.keyboard.press("Control+Enter");
    const other = await open();
    await select(other, "peterson.pml");
    await other.click(".tabs #tab-check");
    await other.keyboard.press("Control+Enter");
    await other.waitForSelector("text=It waits for the check before it");
    const row = page.locator(".history tr", { hasText: "peterson.pml" }).first();
    await row.locator("text=waiting").waitFor();
    await page.locator(".history tr", { hasText: "endless.pml" }).filter({ hasText: "waiting" }).locator("button:text-is('Stop')").click();
    await page.click(".top button:has-text('Stop')");
    await verdict(other, "holds");
    await row.locator(".badge.holds").waitFor();
    await page.context().close();
    await other.context().close();
  },

  async "a memory system is tested, and its violation is walked through"() {
    const page = await open();
    await page.click("#tab-memory");
    await page.selectOption(".memory-form select >> nth=0", "mesi_lost");
    await page.check(".memory-form label:has-text('rules') input");
    await page.check(".memory-form .tests label:has(code:text-is('rowo2')) input");
    await page.check(".memory-form .tests label:has(code:text-is('cmp')) input");
    await page.click(".memory-form button:text-is('Test')");
    await page.waitForSelector(".memory-verdicts .badge.violated");
    await page.waitForSelector(".memory-verdicts .badge.holds");
    await page.waitForSelector(".operations .last");
    await page.waitForSelector(".memory .command:has-text('spinor memory --system mesi_lost --rule rowo2,cmp')");
    await page.screenshot({ path: join(pictures, "memory-light-1600.png") });
    await page.click("button:text-is('Walk through')");
    await page.waitForSelector("[data-testid=position]");
    await page.waitForSelector("[aria-label='Source of mesi_lost.rowo2.pml']");
    await page.click("#tab-memory");
    await page.check(".memory-form label:has-text('litmus tests') input");
    await page.check(".memory-form .tests label:has(code:text-is('SB')) input");
    await page.selectOption(".memory-form select >> nth=0", "tso");
    await page.click(".memory-form button:text-is('Test')");
    await page.waitForSelector(".memory-verdicts td:has-text('reached')");
    await page.context().close();
  },

  async "all memory models are compared, and fences are found"() {
    const page = await open();
    await select(page, "weak_memory/peterson.pml");
    await page.click(".top button:has-text('Options')");
    await page.selectOption("#option-memory", "all");
    await page.keyboard.press("Escape");
    await check(page);
    const rows = page.locator(".history tr", { hasText: "weak_memory/peterson.pml" });
    for (const [model, badge] of [["sc", "holds"], ["tso", "violated"], ["pso", "violated"]]) {
      await rows.filter({ hasText: `--memory ${model}` }).locator(`.badge.${badge}`).first().waitFor();
    }
    await page.click(".top button:has-text('Options')");
    await page.selectOption("#option-memory", "tso");
    await page.check("#option-suggest-fences");
    await page.keyboard.press("Escape");
    await check(page);
    await page.waitForSelector("#tab-steps[aria-selected=true]");
    await page.click("#tab-check");
    await page.waitForSelector("text=These fences are enough");
    await page.context().close();
  },

  async "a memory system in the editor is one, and is tested"() {
    const page = await open();
    await select(page, "memory/atomic.pml");
    await page.waitForSelector(".problems summary:has-text('no errors')");
    await page.click(".top button:text-is('Test')");
    await page.check(".memory-form label:has-text('rules') input");
    await page.check(".memory-form .tests label:has(code:text-is('order')) input");
    await page.click(".memory-form button:text-is('Test')");
    await page.waitForSelector(".memory-verdicts tr:has(code:text-is('order')) .badge.holds");
    await page.context().close();
  },

  async "a run that leads to an error is a report, also without a check"() {
    const page = await open();
    await select(page, "wild.pml");
    await page.click(".top button:text-is('Step by step')");
    await page.click(".choice:has-text('printf')");
    await page.click(".choice:has-text('assertion violated')");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("footer button:text-is('report of this run')")]);
    const report = await page.context().newPage();
    const file = join(folder, "..", "run.html");
    await download.saveAs(file);
    await report.goto(pathToFileURL(file).href);
    await report.waitForSelector("h1 .badge.violated");
    await page.context().close();
  },
};
