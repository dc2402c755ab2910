// What the server answers. Made from `explorer/src/api` by a test: `QUOTIENT_BLESS=1 cargo test -p quotient-explorer --test server types` writes it.

/** Whole numbers: a digit says in how many bytes each is, the lowest first; they follow in base 64, in one or two bytes each one larger. */
export type Packed = string;

/** A value of a program, as in traces: `text` shows it. */
export interface Value { kind: string; text: string; number?: number; pid?: number; items?: unknown[]; holder?: number | null; count?: number }
export interface Read { full: string; name: string; value: Value }
export interface Write { full: string; name: string; before: Value | null; after: Value | null }
export interface Failed { text: string; values: string; reads: Read[] }
export interface Event {
  kind: string; channel?: string; message?: Value[]; partner?: number | null; object?: string; process?: string;
  text?: string; holds?: boolean; stays?: boolean; threads?: number[];
}
export interface Frame { function: string; file: string; line: number }

/** What others notice of a statement. A run names it by its place in this list. */
export type RowKind = "other" | "quiet" | "send" | "receive" | "rendezvous" | "lock" | "unlock" | "start" | "end" | "new" | "assert" | "fails" | "timeout" | "race";
export const RowKinds: readonly RowKind[] = ["other", "quiet", "send", "receive", "rendezvous", "lock", "unlock", "start", "end", "new", "assert", "fails", "timeout", "race"];
/** How a run ends; `more`: there is more to come, ask again; `not run`: a program that nobody has run to here. */
export type EndingKind = "open" | "violation" | "deadlock" | "end" | "lost" | "more" | "not run";
export const EndingKinds: readonly EndingKind[] = ["open", "violation", "deadlock", "end", "lost", "more", "not run"];
/** Where a value belongs. */
export type GroupKind = "global" | "channel" | "lock" | "process" | "object";
export const GroupKinds: readonly GroupKind[] = ["global", "channel", "lock", "process", "object"];
/** How it is said why a statement cannot be executed: what is missing, what its thread waits to do, or that it comes only when nothing else can. */
export type WhyKind = "missing" | "waits" | "last";
export const WhyKinds: readonly WhyKind[] = ["missing", "waits", "last"];
/** What is drawn in a heap. */
export type NodeKind = "root" | "object";
export const NodeKinds: readonly NodeKind[] = ["root", "object"];
/** What a state is like. */
export type StateKind = "open" | "violation" | "deadlock" | "end";
export const StateKinds: readonly StateKind[] = ["open", "violation", "deadlock", "end"];

/** What the page is about. Of a C or C++ program also how it is run. */
export interface Info {
  file: string;
  model: string;
  /** Runs can be written to a trace file. */
  has_trace: boolean;
  has_objects: boolean;
  defines: [string, string][];
  checksum: string;
  sources: Source[];
  program: ProgramInfo | null;
  opening: OpeningInfo;
}
export interface Source {
  name: string;
  text: string;
}
/** The command that repeats a schedule, before it and behind it; the one that checks; how choices are meant; the memory model. */
export interface ProgramInfo {
  again: string;
  behind: string;
  check: string;
  cells: string;
  memory: string;
  runs: number;
}
/** Where the page opens: at which step of the run `~0`, and the sentence that the run was found for. */
export interface OpeningInfo {
  step: number | null;
  message: string | null;
}
/** A run. Its statements are columns; those that the page has (`known`) are left out, as is the path then. */
export interface Run {
  /** Names the run in further questions, as `~id`, for as long as the server keeps it. */
  id: string;
  path: string | null;
  length: number;
  /** How many steps at its end are repeated for ever. */
  cycle: number;
  /** The first of the statements that are told. */
  from: number;
  rows: Columns;
  /** File and line of each statement of the program. */
  places: [number, number][];
  processes: Process[];
  /** By place: the statements that wrote it, and whether its value changed. Of long runs not told. */
  history: Record<string, [number, boolean][]> | null;
  locks: Locks;
  ending: Ending;
  /** The place that the question named by `at`, so that a step is one question. */
  place: Place | null;
}
/** Statements of a run: which of the program, whose, of which kind (128 more where a step begins), and what it is linked with: of a rendezvous or a start the other process, of a receive the statement that sent, of an atomic read the one that wrote; -1 where there is nothing. */
export interface Columns {
  statement: Packed;
  pid: Packed;
  kind: Packed;
  link: Packed;
}
/** Locks that were held: object, process, the statement that took it, the one that gave it back or -1. */
export interface Locks {
  objects: string[];
  held: Packed;
}
export interface Process {
  pid: number;
  name: string;
}
/** How a run ends. */
export interface Ending {
  kind: EndingKind;
  headline: string | null;
  message: string | null;
  violation: string | null;
  at: string | null;
  parts: Part[];
  failed: Failed | null;
  /** What the statement read in which the run goes wrong. */
  reads: Read[];
  step: number | null;
  what: string | null;
  accesses: Accessed[];
}
/** A part of a sentence: plain text, code, or a value that can be asked about by its name. */
export interface Part {
  text: string | null;
  code: string | null;
  value: string | null;
  full: string | null;
}
export interface Accessed {
  pid: number;
  process: string;
  access: string;
  stack: Frame[];
}
export interface Steps {
  from: number;
  to: number;
  rows: Statement[];
}
/** A statement of a run. */
export interface Statement {
  row: number;
  step: number;
  pid: number;
  kind: RowKind;
  link: number | null;
  process: string | null;
  text: string;
  file: number;
  line: number;
  called_at: string | null;
  output: string;
  reads: Read[];
  writes: Write[];
  events: Event[];
  failed: Failed | null;
  stack: Frame[];
  /** Under weak memory: which write it saw, where that is not the last one, and why it may. */
  saw: string | null;
}
/** A place in a run: what is true there, and what can happen next. */
export interface Place {
  state: State;
  next: Next;
}
export interface State {
  row: number;
  leaves: Leaf[];
  processes: Standing[];
}
/** A value that can be set by itself; `before` where the last step changed it. */
export interface Leaf {
  group: Group;
  variable: string;
  name: string;
  full: string;
  value: Value;
  before: string | null;
  set: Setting | null;
  unread: boolean;
}
export interface Group {
  kind: GroupKind;
  pid: number | null;
  name: string | null;
}
/** The statement that set a value, and its step. */
export interface Setting {
  row: number;
  step: number;
}
/** Where a process stands. */
export interface Standing {
  pid: number;
  name: string;
  file: number;
  line: number;
  ended: boolean;
  valid_end: boolean;
  stack: Frame[];
}
/** Of a program it may not be known who can go on, until it is run to here. */
export interface Next {
  choices: Choice[];
  waiting: Waiting[];
  over: boolean;
  known: boolean;
}
export interface Choice {
  move: string;
  pid: number;
  process: string;
  statements: ChoiceStatement[];
  violation: string | null;
  taken: boolean;
  explored: boolean | null;
}
/** A statement that could be executed, and what it would do; of a program that is not known. */
export interface ChoiceStatement {
  text: string;
  file: number;
  line: number;
  pid: number;
  reads: Read[];
  writes: Write[];
  events: Event[];
}
export interface Waiting {
  pid: number;
  process: string;
  ended: boolean;
  takes_part: boolean;
  valid_end: boolean;
  statements: WaitingFor[];
}
/** A statement that cannot be executed, and why. */
export interface WaitingFor {
  text: string;
  file: number;
  line: number;
  why: string;
  kind: WhyKind;
  reads: ReadAndSet[];
  holder: number | null;
  object: string | null;
  since: number | null;
}
export interface ReadAndSet {
  full: string;
  name: string;
  value: Value;
  set: Who | null;
}
export interface Who {
  step: number;
  pid: number;
}
/** Where a value comes from: the statement that set it, and what that one read; of a value that was received also what its sender read. */
export interface Origin {
  full: string;
  name: string | null;
  value: Value | null;
  set: Setter | null;
  write: Write | null;
  sent_by: Sender | null;
  sent: Origin[];
  inputs: Origin[];
}
export interface Setter {
  row: number;
  step: number;
  pid: number;
  text: string;
}
export interface Sender {
  row: number;
  step: number;
  pid: number;
}
/** An expression: its value, and where along the run it becomes another; or what is wrong with it. */
export interface Evaluated {
  wrong: string | null;
  value: string | null;
  history: [number, string][] | null;
}
export interface Found {
  step: number | null;
}
export interface Walked {
  path: string;
}
/** The nearest run that passes, and the step in which it has another choice; or why there is none. */
export interface Passing {
  path: string | null;
  step: number | null;
  why: string | null;
}
export interface Heap {
  nodes: HeapNode[];
  hidden: number;
}
export interface HeapNode {
  id: string;
  name: string;
  kind: NodeKind;
  pid: number | null;
  layer: number;
  lock: Process | null;
  fields: HeapField[];
}
export interface HeapField {
  name: string;
  text: string;
  to: string | null;
  changed: boolean;
  before: string | null;
}
/** The states that symmetry makes one of. */
export interface Class {
  why: string | null;
  count: number;
  more: boolean;
  members: Member[];
  stored: [number, number][];
  processes: Process[];
  /** The processes are on a ring, which can only be turned. */
  ring: boolean;
}
export interface Member {
  path: string;
  here: boolean;
  plays: [number, number][];
  moved: number[];
}
/** States that a run comes to again, by step: the first step after which it was there, and who is who then. */
export interface Same {
  repeats: Repeat[];
}
export interface Repeat {
  step: number;
  of: number;
  renaming: [number, number][];
}
export interface Starved {
  starved: Process[] | null;
}
/** States around a place: after `at` steps of the run, or, if `whole`, all from the start on. */
export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  whole: boolean;
  at: number;
  reduced: number | null;
  /** States that differ only in which of the processes at their ends have ended are of one class. */
  without_ends: boolean;
}
export interface GraphNode {
  id: number;
  /** The same in every answer about this model. */
  key: string;
  class: number;
  layer: number;
  here: boolean;
  /** The first step of the run after which it is in this state. */
  on_run: number | null;
  /** The steps that lead to it from where the graph begins. */
  moves: string[];
  kind: StateKind;
  expanded: boolean;
}
/** A step; `ends`: the end of its process. */
export interface GraphEdge {
  from: number;
  to: number;
  pid: number;
  text: string;
  left_out: boolean;
  ends: boolean;
}
export interface Reductions {
  explored: Explored[];
  later: Explored[];
  why: string;
  symmetry: SymmetryFound | null;
}
export interface Explored {
  pid: number;
  process: string;
  text: string;
  why: string | null;
}
export interface SymmetryFound {
  order: string;
  found: string[];
  limit: string | null;
}
/** Has the model been edited, and does this run still work? */
export interface Changed {
  changed: boolean;
  works: boolean;
  step: number | null;
  wrong: string | null;
}
export interface Reloaded {
  checksum: string;
}
export interface Drawn {
  text: string;
}
/** A check. */
export interface Progress {
  running: boolean;
  asked: boolean;
  seconds: number;
  states: number;
  transitions: number;
  depth: number;
  verdict: string | null;
  message: string | null;
  symmetry: string | null;
  symmetry_found: string[];
  symmetry_limit: string | null;
  partial_order: string | null;
  report: string | null;
  /** How often statements were executed, by line, once a check has come to its end; never executed: 0. */
  covered: Covered[];
  points: Point[];
  /** What each worker has done, where several work. */
  shares: number[];
  violations: Violation[];
}
export interface Covered {
  file: string;
  line: number;
  times: number;
}
export interface Point {
  seconds: number;
  states: number;
  waiting: number;
  bytes: number;
}
export interface Violation {
  kind: string;
  message: string;
  at: string | null;
  position: string | null;
  cycle: number;
}
