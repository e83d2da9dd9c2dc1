// What the browser tests share: a folder of models, the server, the browser, and what is done again and again.

import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const repository = resolve(here, "../../..");
const spinor = resolve(process.argv[2] ?? join(repository, "target/release/spinor"));
export const pictures = join(repository, "target/e2e");
mkdirSync(pictures, { recursive: true });

const place = mkdtempSync(join(tmpdir(), "spinor-e2e-"));
export const folder = join(place, "examples");
mkdirSync(folder);
for (const name of ["weak_memory", "memory"]) mkdirSync(join(folder, name));
const copied = ["needham_schroeder", "philosophers", "philosophers_fixed", "peterson", "starvation", "crossing", "undo", "vending_machine", "weak_memory/peterson", "memory/atomic"];
for (const name of copied) copyFileSync(join(repository, `examples/${name}.pml`), join(folder, `${name}.pml`));
copyFileSync(join(repository, "examples/tutorial/account.pml"), join(folder, "account.pml"));
writeFileSync(join(folder, "endless.pml"), "int x, y;\nactive [3] proctype p() { do :: x++ :: y++ :: x = x ^ y :: assert(x + y != 123456789) od }\n");
writeFileSync(join(folder, "dead.pml"), "byte x;\nactive proctype p()\n{\n\tx = 1;\n\tif\n\t:: x == 1 -> x = 2\n\t:: x == 7 -> x = 3\n\tfi\n}\n");
writeFileSync(join(folder, "wild.pml"), "byte x;\nactive proctype p()\n{\n\tprintf(\"<img src=x onerror=alert(1)>\\n\");\n\tassert(x == 1)\n}\n");
writeFileSync(join(folder, "unfinished.pml"), "byte x, idle;\nactive proctype p() { if :: x == 0 -> x = 1 od }\n");
writeFileSync(join(folder, "wide.pml"), "byte a, b, c, d;\nactive proctype p() { do :: a++ :: b++ :: c++ :: d++ od }\n");
writeFileSync(join(folder, "long.pml"), "chan q = [1] of { int };\nint n;\nactive proctype p() { do :: n < 12000 -> n++; n = n + 0; n = n - 0; n = n + 0; n = n - 0; q!n; :: n == 12000 -> break od }\nactive proctype c() { int x; do :: q?x; assert(x < 12000) od }\n");

const server = spawn(spinor, ["ui", folder, "--no-open", ...(process.env.ASSETS ? ["--assets", process.env.ASSETS] : [])], { stdio: ["ignore", "pipe", "inherit"] });
export const url = await new Promise((found, failed) => {
  server.stdout.once("data", data => found(String(data).trim()));
  server.once("exit", status => failed(new Error(`the server ended: ${status}`)));
});
export const browser = await chromium.launch({ executablePath: process.argv[3] ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

export const complaints = [];
export async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 950 }, colorScheme: "light", acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", error => complaints.push(error.message));
  page.on("console", message => { if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) complaints.push(message.text()); });
  page.on("dialog", dialog => { complaints.push(`a script ran: ${dialog.message()}`); void dialog.dismiss(); });
  await page.goto(url);
  await page.waitForSelector(".problems summary:has-text('no errors'), .problems summary:has-text('warning')");
  return page;
}
export const select = async (page, name) => {
  await page.selectOption(".top .model", name);
  await page.waitForSelector(`[aria-label="Source of ${name}"]`);
};
export const check = page => page.click(".top button:text-is('Check')");
export const verdict = (page, text) => page.waitForSelector(`.top .pill:has-text("${text}")`);
export const position = page => page.textContent("[data-testid=position]");
export const at = async (page, wanted) => {
  await page.waitForFunction(text => document.querySelector("[data-testid=position]")?.textContent === text, wanted);
};
export const outside = page => page.focus(".lane-box");

/** After a test that failed: the next one finds no check under way. */
export async function stopAll() {
  const [address, token] = url.split("/#token=");
  const headers = { Authorization: `Bearer ${token}` };
  const { checks } = await (await fetch(`${address}/api/v1/checks`, { headers })).json();
  for (const { id, state } of checks) if (state !== "done") await fetch(`${address}/api/v1/checks/${id}`, { method: "DELETE", headers });
}

/** Ends everything. */
export async function close() {
  await browser.close();
  server.kill();
  rmSync(place, { recursive: true });
}
