// What the server sends, as far as the page reads it.

export interface OptionSpec {
  name: string;
  kind: "flag" | "number" | "size" | "time" | "choice" | "list" | "text";
  placeholder: string;
  help: string;
  words: string[];
  repeats: boolean;
  common: boolean;
  example: string;
}

export interface Info {
  version: string;
  folder: string;
  model: string | null;
  read_only: boolean;
  options: OptionSpec[];
}

export interface Label { file: string; line: number; column: number; end_line: number; end_column: number; message: string }
export interface Notice {
  severity: "error" | "warning";
  code: string;
  message: string;
  file: string | null;
  line: number | null;
  column: number | null;
  help: string | null;
  labels: Label[];
  notes: string[];
  fixes?: Fix[];
}
export interface Fix { title: string; safe: boolean; edits: { file: string; line: number; column: number; end_line: number; end_column: number; text: string }[] }

export interface Range { file: string; line: number; column: number; end_line: number; end_column: number }
export interface Automaton {
  name: string;
  kind: string;
  start: number;
  locations: { number: number; labels: string[]; range: Range }[];
  edges: { edge: number; from: number; to: number | null; text: string; range: Range }[];
}
export interface Picture { name: string; kind: string; svg: string; automaton: Automaton }
export interface Analysis { diagnostics: Notice[]; memory_system?: boolean; properties?: string[]; automata?: { automaton: Automaton; svg: string }[] }

export interface Progress { states: number; transitions: number; depth: number; frontier: number; memory: number; errors: number; seconds: number }

export interface Violation { kind: string; message: string; file: string; line: number; process: string | null; pid: number | null; depth: number; cycle?: number; reason?: string }
export interface Property {
  name: string;
  kind: string;
  verdict: "holds" | "violated" | "unknown";
  errors: number;
  exhaustive: boolean;
  states: number | string;
  transitions: number | null;
  depth: number | null;
  violations: Violation[];
  reason?: string;
  proof?: string[];
  note?: string;
  satisfied?: number | string;
  omission_probability?: number | null;
  witness?: Violation;
  vacuous?: { holds: string; irrelevant: string };
  holds_under_weak_fairness?: boolean;
  holds_under_strong_fairness?: boolean;
  unreached?: { process: string; file: string; line: number; column: number; text: string }[];
}
export interface Fence { file: string; line: number; column: number; process: string; where: string; statement: string }
export interface Report {
  model: string;
  verdict: "holds" | "violated" | "unknown";
  config: Record<string, any>;
  properties: Property[];
  seconds: { front_end: number; compile: number; search: number; total: number };
  memory: { peak_rss: number; state_bytes: number; bytes_per_state: number; model?: string; bound?: number; exact?: boolean; buffered?: string[]; fences?: { places: Fence[] | null; reason?: string } };
  notices?: Notice[];
}

export interface Check {
  id: number;
  state: "waiting" | "running" | "done";
  model?: string;
  command?: string;
  progress?: Progress | null;
  /** Bytes that the check may use. */
  memory_limit?: number;
  report?: Report | null;
  error?: { message: string; help: string | null } | null;
  notices?: Notice[];
  /** Of a test of a memory system: what is known so far, or all of it. */
  memory?: { asked?: number; known?: number; report: MemoryReport } | null;
}

export interface MemoryRow { row: number; processor: number | null; operation: string; address: string | null; value: number | null; step: number }
export interface MemoryProperty extends Property {
  processors: number;
  addresses: number;
  bounds: number[];
  about: string;
  reached?: boolean | null;
  allowed_by?: string[];
  table?: MemoryRow[];
  because?: string;
}
export interface MemoryReport {
  model: string;
  verdict: "holds" | "violated" | "unknown";
  properties: MemoryProperty[];
  tests: MemoryProperty[];
  classification: Record<string, { possible: boolean | null; against: string[] }> | null;
  conclusions: string[];
  data_independent: boolean;
  seconds: { total: number };
  notices: Notice[];
}
export interface MemoryCatalogue { systems: string[]; models: { name: string; words: string }[]; rules: { name: string; about: string; is_rule: boolean }[]; litmus: string[] }

export interface Where { pid: number | null; process: string; file: string; line: number; column: number; text: string }
export interface Change { name: string; scope: "global" | "local" | "channel"; pid?: number; before?: unknown; after?: unknown }
export interface RunEvent { kind: string; pid?: number; receiver?: number; child?: number; process?: string; name?: string; text?: string; message?: unknown[]; holds?: boolean }
export interface Step extends Where {
  number: number;
  partner?: Where;
  moves: { pid: number | null; proctype: string; edge: number; from: number; to: number | null }[];
  atomic: boolean;
  changes: Change[];
  events: RunEvent[];
  effects: string;
  output?: string;
  fault?: { kind: string; message: string };
}

export interface Choice extends Where { choice: number; reads: boolean; taken: boolean; partner?: Where; changes?: Change[]; fault?: { message: string } }
export interface Helper { process: string; pid: number; file: string; line: number; text: string; can_move: boolean; through: string }
export interface Blocked {
  process: string; pid: number; file: string; line: number; text: string; valid_end: boolean;
  held: any;
  alternatives: { file: string; line: number; text: string; kind: string; reason: string; escape: boolean; helpers: Helper[] }[];
}
export interface Leaf { name: string; text: string; pid?: number; channel?: boolean }
export interface ProcessView { pid: number; process: string; file: string; line: number; location: number; next: string[]; at_end: boolean }
export interface Moment {
  moment: number;
  atomic: boolean;
  in_cycle: boolean;
  state: { processes: ProcessView[] };
  step: Step | null;
  choices: Choice[];
  blocked: Blocked[];
  propositions: { text: string; holds: boolean }[];
  values: Leaf[];
}

export interface RunSummary {
  id: number;
  first: number;
  steps: number;
  on_trail: boolean;
  shared: number | null;
  trail: { property: string; steps: number; cycle: number | null; violation: string } | null;
  fault: string | null;
  model: string;
  files: { name: string; etag: string }[];
  may_branch: string | null;
  can_save: boolean;
}

export interface GraphState { id: string; path: number[]; open: number; moment: number | null; fault: string | null; text: string }
export interface StateGraph { svg: string; states: GraphState[]; steps: [number, number, string][]; cut: boolean }
export type Truth = "true" | "false" | "open";
export interface Judgement { verdict: Truth; moments: number[]; from: Truth[]; propositions: [string, boolean[]][] }
