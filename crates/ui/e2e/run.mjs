// Browser tests of the workbench: `node run.mjs SPINOR [CHROMIUM]`, from this folder after `npm ci`. Pictures of both
// themes are left in target/e2e, to be looked at. Nothing here measures time: measure.mjs does.
import assert from "node:assert/strict";
import { join } from "node:path";
import { browser, close, complaints, pictures, stopAll } from "./harness.mjs";
import checks from "./tests/checks.mjs";
import looks from "./tests/looks.mjs";
import model from "./tests/model.mjs";
import runs from "./tests/runs.mjs";
import tutorial from "./tests/tutorial.mjs";

const tests = { ...model, ...runs, ...checks, ...tutorial, ...looks };
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
    await stopAll();
  }
}
await close();
console.log(failed ? `${failed} failed` : "all browser tests passed; pictures are in target/e2e");
process.exit(failed ? 1 : 0);
