// What the server answers. `tests/server/types.rs` holds every answer against these types, on every model and on random programs.

export interface Value { kind: string; text: string; number?: number; pid?: number; items?: unknown[]; holder?: number | null; count?: number }
export interface Read { full: string; name: string; value: Value; set?: { step: number; pid: number } | null }
export interface Write { full: string; name: string; before: Value | null; after: Value | null }
export interface Failed { text: string; values: string; reads: Read[] }
export interface Event {
  kind: string; channel?: string; message?: Value[]; partner?: number | null; object?: string; process?: string;
  text?: string; holds?: boolean; stays?: boolean; threads?: number[];
}
export interface Statement {
  row: number; step: number; pid: number; process: string | null; text: string; file: number; line: number;
  called_at: string | null; output: string; reads: Read[]; writes: Write[]; events: Event[]; failed: Failed | null; stack?: Frame[];
}
export interface Frame { function: string; file: string; line: number }
export interface Part { text?: string; code?: string; value?: string; full?: string }
export interface Ending {
  kind: "open" | "violation" | "deadlock" | "end" | "lost" | "more" | "not run"; headline?: string; message?: string; violation?: string; at?: string;
  parts?: Part[]; failed?: Failed | null; step?: number; what?: string; accesses?: { pid: number; process: string; access: string; stack: Frame[] }[];
}
export interface Process { pid: number; name: string }
export interface Run {
  path: string; length: number; processes: Process[]; ending: Ending; history: Record<string, [number, boolean][]> | null;
  rows: {
    step: number[]; pid: number[]; kind: string[]; partner: (number | null)[]; sent_by: (number | null)[];
    file: number[]; line: number[]; statement: number[]; reads_from?: (number | null)[];
  };
  locks: { object: string; pid: number; from: number; to: number | null }[];
}
export interface Group { kind: "global" | "channel" | "lock" | "process" | "object"; pid?: number; name?: string }
export interface Leaf {
  group: Group; variable: string; name: string; full: string; value: Value; set: { row: number; step: number } | null; unread: boolean;
}
export interface Standing { pid: number; name: string; file: number; line: number; ended: boolean; valid_end: boolean; stack?: Frame[] }
export interface State { row: number; leaves: Leaf[]; processes: Standing[] }
export interface Choice {
  move: string; pid: number; process: string; taken: boolean; violation: string | null; explored: boolean | null;
  statements: { text: string; file: number; line: number; pid: number }[];
}
export interface Waiting {
  pid: number; process: string; ended: boolean; takes_part: boolean; valid_end: boolean;
  statements: { text: string; file: number; line: number; why: string; reads: Read[]; holder: number | null; object?: string; since?: number | null }[];
}
/** Of a program it may not be known who can go on, until it is run to here. */
export interface Next { choices: Choice[]; waiting: Waiting[]; over: boolean; known?: boolean }
export interface Origin {
  full: string; name?: string; value?: Value; set: { row: number; step: number; pid: number; text: string } | null;
  write?: Write | null; sent_by?: { row: number; step: number; pid: number } | null; inputs?: Origin[];
}
export interface Info {
  file: string; model: string; has_objects: boolean; defines: [string, string][]; checksum: string; sources: { name: string; text: string }[];
  /** Of a C or C++ program: the command that repeats a schedule, before and behind it; the command that checks it. */
  program?: { again: string; behind: string; check: string; cells: string; runs: number };
  opening: { position: string; cycle: number; step: number | null; message: string | null };
}
export interface Violation { kind: string; message: string; at: string | null; position: string | null; cycle: number }
export interface Evaluated { wrong: string | null; value: string; history: [number, string][] | null }
export interface HeapNode {
  id: string; name: string; kind: "root" | "object"; pid: number | null; layer: number; lock: { pid: number; name: string } | null;
  fields: { name: string; text: string; to: string | null; changed: boolean }[];
}
export interface Heap { nodes: HeapNode[]; hidden: number }
export interface Member { path: string; here: boolean; plays: [number, number][]; moved: number[] }
/** The states that symmetry makes one of. */
export interface Class { why: string | null; count: number; more: boolean; members: Member[]; stored: [number, number][]; processes?: Process[] }
export interface GraphNode { id: number; class: number; layer: number; here: boolean; on_run: boolean; kind: "open" | "violation" | "deadlock" | "end"; expanded: boolean }
export interface Graph {
  nodes: GraphNode[]; edges: { from: number; to: number; pid: number; text: string; left_out: boolean }[]; whole: boolean; reduced: number | null;
}
export interface Reductions {
  explored: { pid: number; process: string; text: string; why: string | null }[]; later: { pid: number; process: string; text: string; why: string }[]; why: string;
  symmetry: { order: string; found: string[]; limit: string | null } | null;
}
export interface Changed { changed: boolean; works: boolean; step: number | null; wrong: string | null }
export interface Point { seconds: number; states: number; waiting: number; bytes: number }
export interface Progress {
  points: Point[]; report: string | null; unreached: { file: string; line: number }[];
  symmetry_found: string[]; symmetry_limit: string | null;
  running: boolean; asked: boolean; seconds: number; states: number; transitions: number; depth: number;
  verdict: string | null; message: string | null; symmetry: string | null; partial_order: string | null;
  violations: Violation[];
}
