// What a model declares, line by line, for the eye; the server knows it better, but only of texts without errors.

export interface Entry { name: string; kind: string; line: number; detail: string }

/** What the text declares, line by line; it also works while the text has errors. */
export function outline(text: string): Entry[] {
  const found: Entry[] = [];
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  const lines = text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/\/\/.*/g, blank).split("\n");
  let depth = 0;
  lines.forEach((line, at) => {
    const add = (kind: string, name: string, detail = "") => found.push({ kind, name, detail, line: at + 1 });
    let hit: RegExpMatchArray | null;
    if (depth === 0) {
      if ((hit = line.match(/^\s*((?:active\s*(?:\[[^\]]*\])?\s*)?)(?:d_)?proctype\s+(\w+)/))) add("proctype", hit[2]!, hit[1]!.trim());
      else if (/^\s*init\b/.test(line)) add("proctype", "init");
      else if ((hit = line.match(/^\s*inline\s+(\w+)/))) add("inline", hit[1]!);
      else if ((hit = line.match(/^\s*(ltl|ctl|mu)\s+(\w+)/))) add("property", hit[2]!, hit[1]!);
      else if ((hit = line.match(/^\s*(never|trace|notrace)\b\s*(\w*)/))) add("property", hit[2] || hit[1]!, hit[1]!);
      else if ((hit = line.match(/^\s*typedef\s+(\w+)/))) add("type", hit[1]!, "typedef");
      else if (/^\s*mtype\b(?!\s+\w+\s*[;=,])/.test(line)) add("type", "mtype");
      else if ((hit = line.match(/^\s*(?:hidden\s+|local\s+|show\s+)?(chan|bit|bool|byte|short|int|mtype|pid|unsigned)\s+([^;]*)/))) {
        for (const part of hit[2]!.replace(/\{[^}]*\}|\[[^\]]*\]|\([^)]*\)/g, "").split(",")) {
          const name = part.match(/^\s*(\w+)/);
          if (name) add(hit[1] === "chan" ? "channel" : "variable", name[1]!, hit[1]!);
        }
      }
    }
    if ((hit = line.match(/^\s*#\s*define\s+(\w+)/))) add("macro", hit[1]!, "#define");
    else if ((hit = line.match(/^\s*#\s*include\s+["<]([^">]+)/))) add("include", hit[1]!, "#include");
    for (const sign of line.replace(/"(?:[^"\\]|\\.)*"/g, "")) {
      if (sign === "{") depth++;
      if (sign === "}") depth = Math.max(0, depth - 1);
    }
  });
  return found;
}
