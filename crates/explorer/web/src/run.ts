// A run as the page keeps it: what the server sends in packed columns, unpacked once. Everything here is looked up, never searched for: a run may
// have a hundred thousand steps.

import { numberOf } from "./dom";
import { type Ending, type Packed, type Process, type RowKind, RowKinds, type Run as Told } from "./types";

export interface Lock { object: string; pid: number; from: number; to: number | null }

export interface Run {
  id: string;
  length: number;
  cycle: number;
  ending: Ending;
  processes: Process[];
  locks: Lock[];
  history: Record<string, [number, boolean][]> | null;
  /** Statements. */
  count: number;
  step: Uint32Array;
  pid: Int32Array;
  statement: Int32Array;
  /** By step, from 0: the first statement behind it; `first[length]` is `count`. */
  first: Uint32Array;
  places: [number, number][];
  kinds: Uint8Array;
  links: Int32Array;
  /** The run that this one goes on from where that ends, as `numberOf` says it: what was made of it once is made on from there. */
  grown: number;
}

/** Does a run go on from the end of another? */
export const goesOn = (run: Run, from: Run | undefined): from is Run => from !== undefined && run.grown !== 0 && run.grown === numberOf(from);

function unpack(text: Packed): Int32Array {
  const [width, bytes] = [Number(text[0]), atob(text.slice(1))];
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = bytes.charCodeAt(i);
  if (width === 4) return new Int32Array(out.buffer);
  const numbers = new Int32Array(width === 1 ? out : new Uint16Array(out.buffer));
  for (let i = 0; i < numbers.length; i++) numbers[i]--;
  return numbers;
}

/** A column of which the beginning is known. */
function joined(known: Int32Array | undefined, from: number, more: Int32Array): Int32Array {
  if (from === 0 || !known) return more;
  const all = new Int32Array(from + more.length);
  all.set(known.subarray(0, from));
  all.set(more, from);
  return all;
}

const BEGINS = 128;

/** The run that the server has told; `before` is the one that it goes on from. */
export function assemble(told: Told, before: Run | null): Run {
  const from = told.from;
  const statement = joined(before?.statement, from, unpack(told.rows.statement));
  const pid = joined(before?.pid, from, unpack(told.rows.pid));
  const links = joined(before?.links, from, unpack(told.rows.link));
  const more = unpack(told.rows.kind);
  const count = statement.length;
  const kinds = new Uint8Array(count);
  const step = new Uint32Array(count);
  const first = new Uint32Array(told.length + 1);
  let at = 0;
  if (from > 0 && before) {
    kinds.set(before.kinds.subarray(0, from));
    step.set(before.step.subarray(0, from));
    at = step[from - 1];
    first.set(before.first.subarray(0, at));
  }
  for (let row = from; row < count; row++) {
    const kind = more[row - from];
    if (kind & BEGINS) first[at++] = row;
    kinds[row] = kind & ~BEGINS;
    step[row] = at;
  }
  first.fill(count, at);
  const held = unpack(told.locks.held);
  // Those that were given back before what is new are known.
  const locks: Lock[] = from > 0 ? (before?.locks ?? []).filter((l) => l.to !== null && l.to < from) : [];
  for (let i = 0; i < held.length; i += 4) locks.push({ object: told.locks.objects[held[i]], pid: held[i + 1], from: held[i + 2], to: held[i + 3] < 0 ? null : held[i + 3] });
  const { id, length, cycle, ending, processes, history } = told;
  const grown = from > 0 && before?.count === from ? numberOf(before) : 0;
  return { grown, id, length, cycle, ending, processes, history, locks, count, step, pid, statement, first, places: from > 0 && before ? before.places : told.places, kinds, links };
}

export const kind = (run: Run, row: number): RowKind => RowKinds[run.kinds[row]] ?? "other";
export const file = (run: Run, row: number): number => run.places[run.statement[row]]?.[0] ?? 0;
export const line = (run: Run, row: number): number => run.places[run.statement[row]]?.[1] ?? 0;

const link = (run: Run, row: number): number | null => (run.links[row] < 0 ? null : run.links[row]);

/** The process that takes part at once: of a rendezvous the receiver, of a start who is started. */
export function partner(run: Run, row: number): number | null {
  const k = kind(run, row);
  return k === "rendezvous" || k === "start" ? link(run, row) : null;
}

/** The statement that sent what this one receives. */
export const sender = (run: Run, row: number): number | null => (kind(run, row) === "receive" ? link(run, row) : null);

/** The statement whose write this one read, of a program. */
export function source(run: Run, row: number): number | null {
  const k = kind(run, row);
  return k === "receive" || k === "rendezvous" || k === "start" ? null : link(run, row);
}

/** The first statement of a step, from 1. */
export const firstOf = (run: Run, step: number): number => run.first[step - 1];
/** The last one. */
export const lastOf = (run: Run, step: number): number => run.first[step] - 1;
