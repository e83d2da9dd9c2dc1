// Builds the page into ../dist, which is checked in: `npm ci && npm run build`. The same sources give the same
// bytes; `npm run build -- DIR` writes elsewhere, so that both can be compared.
import { build } from "esbuild";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../dist");
const MOST_GZIPPED = 300 * 1000;

mkdirSync(out, { recursive: true });
// Two bundles: the page, which is painted first, and the editor, which it then asks for.
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", editor: "src/codemirror.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
cpSync(join(here, "static"), out, { recursive: true });
const size = ["app.js", "editor.js", "app.css", "index.html", "icon.svg"]
  .map(name => gzipSync(readFileSync(join(out, name))).length)
  .reduce((sum, one) => sum + one, 0);
console.log(`the page is ${size} bytes gzipped`);
if (size > MOST_GZIPPED) {
  console.error(`that is more than ${MOST_GZIPPED}`);
  process.exit(1);
}
