// Models: opened, repaired, saved.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, folder, open, select, url, verdict } from "../harness.mjs";

export default {
  async "a model is opened, a syntax error is provoked and repaired"() {
    const page = await open();
    await select(page, "peterson.pml");
    await page.click(".cm-content");
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("byte oops\n\nbool bool;\n");
    await page.waitForSelector(".problems .error");
    assert.ok(await page.locator(".top button:text-is('Check')").isDisabled(), "what cannot be read cannot be checked");
    for (let i = 0; i < 30; i++) await page.keyboard.press("Control+z");
    await page.waitForSelector(".problems summary:has-text('no errors'), .problems summary:has-text('0 errors')");
    await check(page);
    await verdict(page, "holds");
    await page.context().close();
  },

  async "a name that was meant instead is put there by a click"() {
    const page = await open();
    await select(page, "dead.pml");
    await page.click(".cm-content");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\nbyte counter;\nactive proctype q() { countr = 1 }\n");
    await page.waitForSelector(".problems .error");
    await page.hover(".cm-lintRange-error");
    await page.click(".cm-diagnosticAction");
    await page.waitForSelector(".problems summary:has-text('0 errors'), .problems summary:has-text('no errors')");
    await page.context().close();
  },

  async "saving tells when somebody else has written"() {
    const page = await open();
    await select(page, "dead.pml");
    const path = join(folder, "dead.pml"), before = readFileSync(path, "utf8");
    await page.click(".cm-content");
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("/* mine */\n");
    await page.keyboard.press("Control+s");
    await page.waitForSelector(".toast:has-text('saved')");
    assert.ok(readFileSync(path, "utf8").startsWith("/* mine */"));
    writeFileSync(path, `/* theirs */\n${before}`);
    await page.keyboard.type("// more\n");
    await page.keyboard.press("Control+s");
    await page.waitForSelector(".conflict");
    await page.click(".conflict button:text-is('Theirs')");
    await page.waitForSelector(".cm-line:has-text('theirs')");
    writeFileSync(path, before);
    await page.context().close();
  },

  async "what is typed while a file is read again is not lost"() {
    const page = await open();
    await select(page, "dead.pml");
    const path = join(folder, "dead.pml"), before = readFileSync(path, "utf8");
    writeFileSync(path, `/* theirs */\n${before}`);
    let answer;
    const asked = new Promise(found => page.route("**/files/dead.pml", async route => {
      const answered = new Promise(go => { answer = go; });
      found();
      await answered;
      await route.continue();
    }));
    await page.click(".cm-content");
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await asked;
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("/* mine */\n");
    await page.waitForSelector(".cm-line:has-text('mine')");
    answer();
    await page.waitForSelector(".conflict");
    await page.waitForSelector(".cm-line:has-text('mine')");
    writeFileSync(path, before);
    await page.context().close();
  },

  async "repairs stand beside what is wrong, and a click makes them"() {
    const page = await open();
    await select(page, "unfinished.pml");
    await page.waitForSelector(".problems .error");
    await page.click(".repair:has-text('Replace `od` by `fi`')");
    await page.waitForSelector(".cm-line:has-text('fi }')");
    await page.waitForSelector(".problems summary:has-text('0 errors'), .problems summary:has-text('no errors')");
    // What nothing uses is a warning; its repair changes no meaning.
    await page.click(".problems summary");
    await page.click(".repair:has-text('Replace `idle` by `_idle`')");
    await page.waitForSelector(".problems summary:has-text('no errors, no warnings')");
    // One step of the history each.
    await page.click(".cm-content");
    await page.keyboard.press("Control+z");
    await page.waitForSelector(".problems summary:has-text('1 warning')");
    await page.context().close();
  },

  async "without its token the page says what is missing, and takes it"() {
    const page = await open();
    const other = await page.context().newPage();
    await other.goto(url.replace(/#.*/, ""));
    await other.waitForSelector("h1");
    await other.fill("input", "nothing");
    await other.click("button:text-is('Open')");
    await other.waitForSelector("#no-token:has-text('no token')");
    await other.fill("input", url);
    await other.click("button:text-is('Open')");
    await other.waitForSelector(".top .model");
    assert.ok(!(await other.evaluate(() => location.href)).includes("token"), "the token is in no address that is shown");
    await page.context().close();
  },
};
