// What the server answers. The fields are those of `explorer/src/session.rs` and `show.rs`.

export interface Value { kind: string; text: string; number?: number; pid?: number; items?: unknown[] }
export interface Read { full: string; name: string; value: Value; set?: { step: number; pid: number } | null }
export interface Write { full: string; name: string; before: Value | null; after: Value | null }
export interface Failed { text: string; values: string; reads: Read[] }
export interface Event {
  kind: string; channel?: string; message?: Value[]; partner?: number | null; object?: string; process?: string;
  text?: string; holds?: boolean; stays?: boolean;
}
export interface Statement {
  row: number; step: number; pid: number; process: string | null; text: string; file: number; line: number;
  called_at: string | null; output: string; reads: Read[]; writes: Write[]; events: Event[]; failed: Failed | null;
}
export interface Part { text?: string; code?: string; value?: string; full?: string }
export interface Ending {
  kind: "open" | "violation" | "deadlock" | "end" | "lost"; headline?: string; message?: string; violation?: string; at?: string;
  parts?: Part[]; failed?: Failed | null; step?: number;
}
export interface Process { pid: number; name: string }
export interface Run {
  path: string; length: number; processes: Process[]; ending: Ending; history: Record<string, [number, boolean][]> | null;
  rows: {
    step: number[]; pid: number[]; kind: string[]; partner: (number | null)[]; sent_by: (number | null)[];
    file: number[]; line: number[];
  };
}
export interface Group { kind: "global" | "channel" | "process" | "object"; pid?: number; name?: string }
export interface Leaf {
  group: Group; variable: string; name: string; full: string; value: Value; set: { row: number; step: number } | null;
}
export interface Standing { pid: number; name: string; file: number; line: number; ended: boolean; valid_end: boolean }
export interface State { row: number; leaves: Leaf[]; processes: Standing[] }
export interface Choice {
  move: string; pid: number; process: string; taken: boolean; violation: string | null;
  statements: { text: string; file: number; line: number; pid: number }[];
}
export interface Waiting {
  pid: number; process: string; ended: boolean; takes_part: boolean; valid_end: boolean;
  statements: { text: string; file: number; line: number; why: string; reads: Read[]; holder: number | null }[];
}
export interface Next { choices: Choice[]; waiting: Waiting[]; over: boolean }
export interface Origin {
  full: string; name?: string; value?: Value; set: { row: number; step: number; pid: number; text: string } | null;
  write?: Write | null; sent_by?: { row: number; step: number; pid: number } | null; inputs?: Origin[];
}
export interface Info {
  file: string; defines: [string, string][]; checksum: string; sources: { name: string; text: string }[];
  opening: { position: string; cycle: number; step: number | null; message: string | null };
}
export interface Violation { kind: string; message: string; at: string | null; position: string | null; cycle: number }
export interface Progress {
  running: boolean; asked: boolean; seconds: number; states: number; transitions: number; depth: number;
  verdict: string | null; message: string | null; symmetry: string | null; partial_order: string | null;
  violations: Violation[];
}
