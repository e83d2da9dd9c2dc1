// Browser tests of the workbench: `node run.mjs SPINOR [CHROMIUM]`, from this folder after `npm ci`. Pictures of both
// themes are left in target/e2e, to be looked at. Nothing here measures time.
import { chromium } from "playwright-core";
import axe from "axe-core";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const repository = resolve(here, "../../..");
const spinor = resolve(process.argv[2] ?? join(repository, "target/release/spinor"));
const pictures = join(repository, "target/e2e");
mkdirSync(pictures, { recursive: true });

const folder = mkdtempSync(join(tmpdir(), "spinor-e2e-"));
for (const name of ["needham_schroeder", "philosophers", "peterson", "starvation"]) copyFileSync(join(repository, `examples/${name}.pml`), join(folder, `${name}.pml`));
writeFileSync(join(folder, "endless.pml"), "int x, y;\nactive [3] proctype p() { do :: x++ :: y++ :: x = x ^ y :: assert(x + y != 123456789) od }\n");
writeFileSync(join(folder, "dead.pml"), "byte x;\nactive proctype p()\n{\n\tx = 1;\n\tif\n\t:: x == 1 -> x = 2\n\t:: x == 7 -> x = 3\n\tfi\n}\n");
writeFileSync(join(folder, "wild.pml"), "byte x;\nactive proctype p()\n{\n\tprintf(\"<img src=x onerror=alert(1)>\\n\");\n\tassert(x == 1)\n}\n");

const server = spawn(spinor, ["ui", folder, "--no-open", ...(process.env.ASSETS ? ["--assets", process.env.ASSETS] : [])], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((found, failed) => {
  server.stdout.once("data", data => found(String(data).trim()));
  server.once("exit", status => failed(new Error(`the server ended: ${status}`)));
});
const browser = await chromium.launch({ executablePath: process.argv[3] ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

const complaints = [];
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 950 }, colorScheme: "light", acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("pageerror", error => complaints.push(error.message));
  page.on("console", message => { if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) complaints.push(message.text()); });
  page.on("dialog", dialog => { complaints.push(`a script ran: ${dialog.message()}`); void dialog.dismiss(); });
  await page.goto(url);
  await page.waitForSelector(".problems summary:has-text('no errors'), .problems summary:has-text('warning')");
  return page;
}
const select = async (page, name) => {
  await page.selectOption(".top .model", name);
  await page.waitForSelector(`[aria-label="Source of ${name}"]`);
};
const check = page => page.click(".top button:text-is('Check')");
const verdict = (page, text) => page.waitForSelector(`.top .pill:has-text("${text}")`);
const position = page => page.textContent("[data-testid=position]");
const at = async (page, wanted) => {
  await page.waitForFunction(text => document.querySelector("[data-testid=position]")?.textContent === text, wanted);
};
const outside = page => page.focus(".lane-box");

const tests = {
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

  async "no violations of accessibility rules in both themes, every view; pictures"() {
    for (const [colorScheme, width, height] of [["light", 1280, 800], ["dark", 1600, 950], ["dark", 1280, 800]]) {
      const page = await open({ colorScheme, viewport: { width, height } });
      await select(page, "needham_schroeder.pml");
      await check(page);
      await at(page, "24 / 24");
      await outside(page);
      for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowLeft");
      await at(page, "14 / 24");
      for (const tab of ["check", "steps", "chart", "automata", "graph", "table", "ltl", "output"]) {
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
};

const broken = [];
async function rules(page, where) {
  // A page with a policy takes no script elements from outside; this does not make one.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  const told = violations.map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => `${node.target} ${node.failureSummary}`).join(" | ")}`);
  broken.push(...told.map(one => `${where}: ${one}`));
}

let failed = 0;
const only = process.env.ONLY;
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  complaints.length = 0;
  try {
    await test();
    assert.deepEqual(complaints, [], "the console of the browser");
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n      ${error.message.split("\n").slice(0, 12).join("\n      ")}`);
    for (const context of browser.contexts()) {
      for (const page of context.pages()) await page.screenshot({ path: join(pictures, "failed.png") }).catch(() => undefined);
      await context.close();
    }
  }
}
await browser.close();
server.kill();
rmSync(folder, { recursive: true });
console.log(failed ? `${failed} failed` : "all browser tests passed; pictures are in target/e2e");
process.exit(failed ? 1 : 0);
