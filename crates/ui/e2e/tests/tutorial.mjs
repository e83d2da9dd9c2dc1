// The chapters of docs/tutorial-workbench.md, done as they say. With FIGURES=FOLDER the pictures of that page are made.

import assert from "node:assert/strict";
import { join } from "node:path";
import { at, check, open, outside, select, verdict } from "../harness.mjs";

const figures = process.env.FIGURES;
const size = { viewport: { width: 1360, height: 800 } };

/** Gives options in their dialog; an empty text takes one away. */
async function options(page, given) {
  await page.click(".top button:has-text('Options')");
  for (const [name, value] of Object.entries(given)) {
    const field = page.locator(name === "defines" ? "#defines" : `#option-${name}`);
    if (typeof value === "boolean") await field.setChecked(value);
    else if (await field.evaluate(element => element.tagName === "SELECT")) await field.selectOption(value);
    else await field.fill(value);
  }
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
}

async function picture(page, name) {
  if (!figures) return;
  await page.mouse.move(0, 0);
  await page.waitForTimeout(700);
  await page.screenshot({ path: join(figures, `${name}.png`) });
}

export default {
  async "tutorial: saying what must be true"() {
    const page = await open(size);
    await select(page, "vending_machine.pml");
    await options(page, { defines: "FREE_DRINKS" });
    await check(page);
    await verdict(page, "violated");
    await page.waitForSelector("[data-testid=position]");
    await page.click("#tab-chart");
    await page.waitForSelector(".chart-heads .name:has-text('machine[0]')");
    await picture(page, "tutorial-trace");
    await page.context().close();
  },

  async "tutorial: properties of whole runs"() {
    const page = await open(size);
    await select(page, "crossing.pml");
    await page.selectOption(".top .property", "ltl:heard");
    await check(page);
    await verdict(page, "violated after 8 steps");
    await page.waitForSelector(".lane-svg .cycle", { state: "attached" });
    await picture(page, "tutorial-lasso");
    await page.click("#tab-check");
    await page.waitForSelector("text=It holds under weak fairness");
    await page.click("button:has-text('Check with --fair weak')");
    await verdict(page, "holds");
    await page.click("#tab-ltl");
    await page.fill(".formula textarea", "[] (asked -> <> walk)");
    await page.waitForSelector(".truth.false");
    await page.waitForSelector(".ltl .picture [data-at]");
    await picture(page, "tutorial-ltl");
    await page.context().close();
  },

  async "tutorial: what can happen"() {
    const page = await open(size);
    await select(page, "undo.pml");
    await options(page, { defines: "BURNT" });
    await page.selectOption(".top .property", "ctl:recoverable");
    await check(page);
    await verdict(page, "violated");
    await page.click("#tab-check");
    await page.waitForSelector("text=that is known from all 7 states");
    await page.click("#tab-graph");
    await outside(page);
    await page.keyboard.press("Home");
    await page.waitForFunction(() => /^0 \//.test(document.querySelector("[data-testid=position]").textContent));
    await page.click("button:text-is('Begin at the cursor')");
    await page.fill(".toolbar input[type=number]", "8");
    await page.waitForSelector("text=· 12 states");
    await picture(page, "tutorial-graph");
    await page.context().close();
  },

  async "tutorial: watching a model run"() {
    const page = await open(size);
    await select(page, "account.pml");
    await page.click(".top button:text-is('Step by step')");
    await at(page, "0 / 0");
    await outside(page);
    await page.waitForSelector(".choices li:nth-child(2)");
    for (const [key, position] of [["1", "1 / 1"], ["1", "2 / 2"], ["u", "1 / 1"], ["2", "2 / 2"]]) {
      await page.keyboard.press(key);
      await at(page, position);
      await page.waitForFunction(text => document.querySelector(".state-pane .head h2")?.textContent.includes(text), `step ${position[0]}`);
    }
    await page.waitForSelector(".blocked li:has-text('finished == 2')");
    await page.fill("input[placeholder*='len(q)']", "balance");
    await page.click("button:text-is('Add')");
    await page.waitForSelector(".watches .value");
    await outside(page);
    await picture(page, "tutorial-steps");
    await page.context().close();
  },

  async "tutorial: when there are too many states"() {
    const page = await open(size);
    await select(page, "philosophers_fixed.pml");
    for (const n of [2, 3, 4, 5, 6]) {
      await options(page, { defines: `N=${n}`, por: "none" });
      await page.waitForSelector(`.command:has-text('N=${n}')`);
      await check(page);
      await page.waitForSelector(`.history tbody tr.now td:has-text('N=${n}') ~ td .badge.holds`);
    }
    assert.deepEqual((await page.locator(".history tbody td.states").allTextContents()).slice(0, 5).map(text => text.replace(/\D/g, "")), ["863", "262", "80", "25", "8"]);
    await page.locator(".history tbody tr:nth-child(5) input[type=radio]").check();
    await page.waitForSelector(".history:has-text('×107.88')");
    await picture(page, "tutorial-history");
    await page.context().close();
  },

  async "tutorial: memory that is not what it seems"() {
    const page = await open(size);
    await select(page, "weak_memory/peterson.pml");
    await options(page, { memory: "tso", search: "bfs", "suggest-fences": true });
    await check(page);
    await verdict(page, "violated");
    await page.waitForSelector("[data-testid=position]");
    await picture(page, "tutorial-tso");
    await options(page, { defines: "WAIT", "suggest-fences": false });
    await page.waitForSelector(".problems summary:has-text('no errors')");
    await check(page);
    await verdict(page, "holds");
    await page.context().close();
  },
};
