// How it looks: rules of accessibility in both themes, sizes of windows, keys alone. Pictures are left in target/e2e.

import assert from "node:assert/strict";
import { join } from "node:path";
import axe from "axe-core";
import { at, check, open, outside, pictures, select, verdict } from "../harness.mjs";

const broken = [];
async function rules(page, where) {
  // A page with a policy takes no script elements from outside; this does not make one.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  const told = violations.map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => `${node.target} ${node.failureSummary}`).join(" | ")}`);
  broken.push(...told.map(one => `${where}: ${one}`));
}

export default {
  async "no violations of accessibility rules in both themes, every view; pictures"() {
    for (const [colorScheme, width, height] of [["light", 1280, 800], ["dark", 1600, 950], ["dark", 1280, 800]]) {
      const page = await open({ colorScheme, viewport: { width, height } });
      await select(page, "needham_schroeder.pml");
      await check(page);
      await at(page, "24 / 24");
      await outside(page);
      for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowLeft");
      await at(page, "14 / 24");
      for (const tab of ["check", "steps", "chart", "automata", "graph", "table", "ltl", "output", "memory"]) {
        await page.click(`#tab-${tab}`);
        // What the view asks for is there soon; a picture that is not whole yet fails no test.
        await page.waitForTimeout(400);
        await page.screenshot({ path: join(pictures, `${tab}-${colorScheme}-${width}.png`) });
        if (width === 1280 || tab === "check") await rules(page, `${tab}, ${colorScheme}`);
      }
      await page.click(".top button:has-text('Options')");
      await page.screenshot({ path: join(pictures, `options-${colorScheme}-${width}.png`) });
      await rules(page, `options, ${colorScheme}`);
      await page.context().close();
    }
    // 1280 CSS pixels at 200 % are 640.
    const page = await open({ viewport: { width: 640, height: 400 } });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
    await page.screenshot({ path: join(pictures, "zoom-200.png"), fullPage: true });
    assert.deepEqual(broken, []);
    assert.ok(!wide, "at 200 % nothing has to be scrolled sideways");
    await page.context().close();
  },

  async "everything by keys"() {
    const page = await open();
    await select(page, "needham_schroeder.pml");
    await page.keyboard.press("Control+Enter");
    await at(page, "24 / 24");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog .keys");
    await page.keyboard.press("Escape");
    // Every control is reached by Tab, which comes out of every region again.
    await page.evaluate(() => document.activeElement.blur());
    const seen = new Set();
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      const where = await page.evaluate(() => document.activeElement?.closest("header, .source, .splitter, .lanes, .tabs, #view, .state-pane, footer")?.className ?? "");
      seen.add(where.split(" ").find(Boolean) ?? "view");
      if (await page.evaluate(() => !!document.activeElement.closest(".cm-content"))) await page.keyboard.press("Escape");
    }
    for (const region of ["top", "pane", "splitter", "lanes", "tabs", "view", "bottom"]) assert.ok(seen.has(region), `${region} is reached (${[...seen]})`);
    await page.focus(".splitter");
    const wide = await page.locator(".source").evaluate(pane => pane.clientWidth);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(before => document.querySelector(".source").clientWidth > before, wide);
    await page.focus("#tab-steps");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#tab-chart[aria-selected=true]");
    await page.keyboard.press("/");
    await page.waitForFunction(() => document.activeElement?.id === "find");
    await page.keyboard.type("knows_nb = true");
    await page.keyboard.press("Escape");
    await outside(page);
    await page.keyboard.press("Home");
    await page.waitForSelector(".choices li.taken .choice");
    await page.keyboard.press("2");
    await page.waitForFunction(() => /^1 \//.test(document.querySelector("[data-testid=position]").textContent));
    await page.keyboard.press("b");
    await page.waitForFunction(() => /\/ 24$/.test(document.querySelector("[data-testid=position]").textContent));
    await page.context().close();
  },
};
