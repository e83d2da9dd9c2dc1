// Runs: walked through, branched from, kept in an address.

import assert from "node:assert/strict";
import { join } from "node:path";
import { at, check, folder, open, outside, pictures, position, select, verdict } from "../harness.mjs";

export default {
  async "a counterexample is walked through, branched from, explored, and returned to"() {
    const page = await open();
    await select(page, "needham_schroeder.pml");
    await check(page);
    await verdict(page, "violated after 24 steps");
    await at(page, "24 / 24");
    await page.screenshot({ path: join(pictures, "steps-light-1600.png") });
    await outside(page);
    await page.keyboard.press("Home");
    await at(page, "0 / 24");
    for (let step = 1; step <= 24; step++) { await page.keyboard.press("ArrowRight"); await at(page, `${step} / 24`); }
    await page.keyboard.press("ArrowRight");
    assert.equal(await position(page), "24 / 24");
    await page.keyboard.press("Shift+ArrowLeft");
    await at(page, "23 / 24");
    await page.click("#tab-steps");
    await page.fill("#find", "knows_nb = true");
    await page.click("form[role=search] button:has-text('Previous')");
    await at(page, "19 / 24");
    await page.fill("#find", "=knows_na && !knows_nb");
    await page.click("form[role=search] button:has-text('Previous')");
    await at(page, "18 / 24");
    await outside(page);
    await page.keyboard.press("Home");
    await page.waitForSelector(".choice:has-text('branch')");
    await page.locator(".choices li:not(.taken) .choice").first().click();
    await at(page, "1 / 1");
    await page.click(".branching button:has-text('+10')");
    await page.waitForSelector("button:has-text('Back to the trail')");
    await page.waitForFunction(() => !/\/ 1$/.test(document.querySelector("[data-testid=position]").textContent));
    await page.click(".branching button[aria-label=Undo]");
    await page.click("button:has-text('Back to the trail')");
    await page.waitForFunction(() => /\/ 24$/.test(document.querySelector("[data-testid=position]").textContent));
    await page.click("#tab-graph");
    await page.waitForSelector(".picture [data-at]");
    const before = await page.locator(".picture [data-at]").count();
    await page.fill(".toolbar input[type=number]", "4");
    await page.waitForFunction(count => document.querySelectorAll(".picture [data-at]").length > count, before);
    await page.fill("input[placeholder*='len(q)']", "knows_na + knows_nb");
    await page.click("button:text-is('Add')");
    await page.waitForSelector(".watches .value");
    await page.context().close();
  },

  async "a simulation, a lasso, and two tabs at once"() {
    const page = await open(), other = await open();
    await select(page, "philosophers.pml");
    await page.click(".top button:text-is('Simulate')");
    await page.waitForSelector("[data-testid=position]");
    await select(other, "starvation.pml");
    await check(other);
    await verdict(other, "violated");
    await other.waitForSelector(".lane-svg .cycle", { state: "attached" });
    await other.screenshot({ path: join(pictures, "lasso-light-1600.png") });
    await page.click("#tab-chart");
    await page.waitForSelector(".picture [data-from]");
    await page.context().close();
    await other.context().close();
  },

  async "an address leads back to a branch, a session too"() {
    const page = await open();
    await select(page, "needham_schroeder.pml");
    await check(page);
    await at(page, "24 / 24");
    await outside(page);
    for (let i = 0; i < 11; i++) await page.keyboard.press("ArrowLeft");
    await at(page, "13 / 24");
    await page.waitForSelector(".choices li:not(.taken) .choice");
    await page.locator(".choices li:not(.taken) .choice").first().click();
    await at(page, "14 / 14");
    const taken = await page.textContent(".transport .what code");
    await page.waitForFunction(() => /^#\/check\/\d+\.0\/way\/13\/\d+\/step\/14\/view\/steps$/.test(location.hash));
    await page.click("#tab-chart");
    await page.waitForFunction(() => location.hash.endsWith("/view/chart"));
    await page.fill("input[placeholder*='len(q)']", "knows_na");
    await page.click("button:text-is('Add')");
    const [download] = await Promise.all([page.waitForEvent("download"), (async () => { await page.click("[aria-label=Session]"); await page.click("dialog button:has-text('Save the session')"); })()]);
    const file = join(folder, "kept.session.json");
    await download.saveAs(file);
    await page.reload();
    await at(page, "14 / 14");
    assert.equal(await page.textContent(".transport .what code"), taken);
    await page.waitForSelector("#tab-chart[aria-selected=true]");
    await page.waitForSelector("button:has-text('Back to the trail')");
    await page.context().close();

    const other = await open();
    await other.click("[aria-label=Session]");
    await other.setInputFiles("dialog input[type=file]", file);
    await at(other, "14 / 14");
    assert.equal(await other.textContent(".transport .what code"), taken);
    await other.waitForSelector(".watches code:has-text('knows_na')");
    await other.context().close();
  },

  async "a simulation is kept as its choices"() {
    const page = await open();
    await select(page, "peterson.pml");
    await page.click(".top button:text-is('Simulate')");
    await at(page, "0 / 50");
    await outside(page);
    await page.keyboard.press("End");
    await at(page, "50 / 50");
    await page.waitForSelector(".state-pane h2:has-text('step 50')");
    const state = await page.textContent(".state-pane .state");
    await page.waitForFunction(() => /^#\/run\/peterson.pml@[0-9a-f]{8}\/way\/0\/[\d.]+\/step\/50/.test(location.hash));
    const hash = await page.evaluate(() => location.hash);
    await page.context().close();
    const other = await open();
    await other.evaluate(to => { location.hash = to; }, hash);
    await at(other, "50 / 50");
    await other.waitForSelector(".state-pane h2:has-text('step 50')");
    assert.equal(await other.textContent(".state-pane .state"), state);
    await other.context().close();
  },

  async "a long run has turns as lanes, and comes by pages"() {
    const page = await open();
    await select(page, "long.pml");
    await check(page);
    await verdict(page, "violated after 108");
    await page.waitForSelector(".lane-svg.in-turns");
    const end = await position(page);
    assert.match(end, /^(\d{6}) \/ \1$/, "it is at its end");
    const steps = Number(end.split(" ")[0]);
    // Far fewer than steps are drawn, and the turn at the cursor is.
    assert.ok(await page.locator(".lane-svg g[data-step]").count() < 200);
    await outside(page);
    await page.keyboard.press("ArrowLeft");
    await at(page, `${steps - 1} / ${steps}`);
    await page.keyboard.press("Home");
    await at(page, `0 / ${steps}`);
    await page.waitForSelector(".lane-svg .count-of");
    await page.click(".lane-svg g[data-step='1'] .band", { position: { x: 2, y: 5 } });
    await at(page, `1 / ${steps}`);
    await page.click(".toggle:text-is('Turns')");
    await page.waitForSelector(".lane-svg:not(.in-turns) g[data-step='3']");
    await page.fill(".scrubber", "54321");
    await at(page, `54321 / ${steps}`);
    await page.waitForSelector(".steps .row.now .statement");
    await page.click("#tab-chart");
    await page.waitForSelector(".picture [data-from='54321'], .picture .now");
    await page.context().close();
  },

  async "the heads of a chart stay when it scrolls"() {
    const page = await open({ viewport: { width: 1600, height: 620 } });
    await select(page, "needham_schroeder.pml");
    await check(page);
    await at(page, "24 / 24");
    await page.click("#tab-chart");
    await page.waitForSelector(".chart-heads .name:has-text('Alice[0]')");
    const top = () => page.locator(".chart-heads").evaluate(heads => heads.getBoundingClientRect().top - heads.closest(".scroll").getBoundingClientRect().top);
    assert.ok(await page.locator(".chart").evaluate(box => box.scrollTop) > 0, "the last step is followed");
    assert.ok(Math.abs(await top()) < 2, "the heads are where they were");
    assert.equal(await page.locator(".picture .name:has-text('Alice[0]')").count(), 1, "and nowhere else");
    await page.context().close();
  },

  async "who is blocked can be told why, and the state graph grows"() {
    const page = await open();
    await select(page, "philosophers.pml");
    await check(page);
    await verdict(page, "violated");
    await page.waitForSelector(".blocked li:has-text('waits')");
    await page.waitForSelector(".blocked .helps");
    await page.click("#tab-graph");
    await outside(page);
    await page.keyboard.press("Home");
    await page.click("button:text-is('Begin at the cursor')");
    await page.waitForSelector(".inspector option:nth-child(3)", { state: "attached" });
    const before = await page.locator(".picture [data-at]").count();
    const value = await page.locator(".inspector select option").last().getAttribute("value");
    await page.selectOption(".inspector select", value);
    await page.click(".inspector button:has-text('Grow')");
    await page.waitForFunction(count => document.querySelectorAll(".picture [data-at]").length > count, before);
    await select(page, "wide.pml");
    await page.click(".top button:text-is('Step by step')");
    await at(page, "0 / 0");
    await page.click("#tab-graph");
    await page.fill(".toolbar input[type=number]", "12");
    await page.waitForSelector("text=and more than are drawn");
    assert.ok(await page.locator(".picture [data-at]").count() <= 300);
    await page.context().close();
  },
};
