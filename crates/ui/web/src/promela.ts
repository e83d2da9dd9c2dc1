// Promela for the editor: colours, completion, indentation. What is right is said by the server, which reads the model
// as a check does; this is only for the eye.

import { StreamLanguage, type StringStream, indentService } from "@codemirror/language";
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";

const words = (text: string) => new Set(text.split(" "));
const CONTROL = words("if fi do od break goto else skip unless timeout run return atomic d_step for select in never ltl ctl mu trace notrace proctype init inline active typedef mtype provided priority assert printf printm c_code c_expr c_decl c_state c_track xr xs enabled eval full empty nfull nempty len pc_value get_priority set_priority of");
const TYPES = words("bit bool byte short int unsigned chan pid mtype hidden show local");
const ATOMS = words("true false _pid _nr_pr _last _ np_ STDIN");
const LTL = words("always eventually until weakuntil release next implies equivalent U W V X");

interface State { comment: boolean; ltl: boolean }

function token(stream: StringStream, state: State): string | null {
  if (state.comment) {
    state.comment = !stream.skipTo("*/");
    if (state.comment) stream.skipToEnd(); else stream.match("*/");
    return "comment";
  }
  if (stream.sol() && stream.match(/\s*#\s*\w+/)) return "meta";
  if (stream.eatSpace()) return null;
  if (stream.match("/*")) { state.comment = true; return token(stream, state); }
  if (stream.match("//")) { stream.skipToEnd(); return "comment"; }
  if (stream.match(/"(?:[^"\\]|\\.)*"?/)) return "string";
  if (stream.match(/'(?:[^'\\]|\\.)'/)) return "character";
  if (stream.match(/0[xX][0-9a-fA-F]+|\d+/)) return "number";
  if (stream.match(/[A-Za-z_]\w*/)) {
    const word = stream.current();
    if (word === "ltl" || word === "ctl" || word === "mu") state.ltl = true;
    if (CONTROL.has(word)) return "keyword";
    if (TYPES.has(word)) return "typeName";
    if (ATOMS.has(word)) return "atom";
    if (state.ltl && LTL.has(word)) return "operatorKeyword";
    if (stream.match(/\s*:(?!:)/, false) && /^\s*$/.test(stream.string.slice(0, stream.start))) return "labelName";
    if (stream.match(/\s*\(/, false)) return "variableName.function";
    return "variableName";
  }
  if (stream.match("}")) { state.ltl = false; return "brace"; }
  if (stream.match("::") || stream.match("->") || stream.match(/[!?]{1,2}/)) return "controlOperator";
  if (stream.match(/\[\]|<>/) ) return "operatorKeyword";
  stream.next();
  return "operator";
}

export const promela = StreamLanguage.define<State>({
  name: "promela",
  startState: () => ({ comment: false, ltl: false }),
  token,
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", "\""] } },
});

/** A line is indented as the one before it, more after what opens a block, less where it closes one. */
export const indentation = indentService.of((context, pos) => {
  const line = context.lineAt(pos);
  if (line.from === 0) return 0;
  const previous = context.lineAt(line.from - 1, -1);
  const bare = previous.text.replace(/\/\*.*?\*\/|\/\/.*/g, "").trimEnd();
  const opens = /(\{|\bdo|\bif|->)$/.test(bare);
  const closes = /^\s*(\}|fi\b|od\b)/.test(line.text);
  return Math.max(0, context.lineIndent(previous.from) + (opens ? context.unit : 0) - (closes ? context.unit : 0));
});

const KEYWORDS = [...CONTROL, ...TYPES, ...ATOMS].map(label => ({ label, type: "keyword" }));

/** Keywords, and the names that the text has. */
export function complete(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/[A-Za-z_]\w*/);
  if (!before || (before.from === before.to && !context.explicit)) return null;
  const text = context.state.doc.toString();
  const names = new Set<string>();
  for (const [name] of text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\]|\\.)*"/g, " ").matchAll(/[A-Za-z_]\w*/g)) names.add(name);
  names.delete(before.text);
  const known = new Set(KEYWORDS.map(one => one.label));
  const own = [...names].filter(name => !known.has(name)).map(label => ({ label, type: "variable" }));
  return { from: before.from, options: [...own, ...KEYWORDS], validFor: /^\w*$/ };
}
