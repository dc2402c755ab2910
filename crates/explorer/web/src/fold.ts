// Folding: blocks of steps that are repeated, and statements that nobody else notices, as one row each. A fold hides rows of the chart;
// the run stays what it is. What can be folded is found once for a run, wherever the page stands.

import type { Run } from "./run";
import { kind } from "./run";

export interface Fold {
  from: number;
  to: number;
  said: string;
  /** How many rows are repeated; 0 where nothing is. */
  block: number;
}

/** Blocks have at most this many steps. */
const LONGEST = 12;

/** What can be folded in a run: ranges of rows that do not overlap, in order. */
export function folds(run: Run): Fold[] {
  const { pid, statement, first, length } = run;
  // One number for each step: who did what.
  const numbers = new Map<string | number, number>();
  const keys = new Int32Array(length);
  for (let step = 0; step < length; step++) {
    const row = first[step];
    let key: string | number = pid[row] * 2 ** 32 + statement[row];
    if (first[step + 1] > row + 1) key = `${pid.slice(row, first[step + 1])};${statement.slice(row, first[step + 1])}`;
    let number = numbers.get(key);
    if (number === undefined) numbers.set(key, (number = numbers.size));
    keys[step] = number;
  }
  const found: Fold[] = [];
  for (let i = 0; i < length; ) {
    let best = { length: 0, times: 0 };
    for (let size = 1; size <= LONGEST && i + 3 * size <= length; size++) {
      let times = 1;
      while (same(keys, i, i + times * size, size)) times++;
      if (times >= 3 && times * size > best.length * best.times) best = { length: size, times };
    }
    if (best.times > 0) {
      const end = i + best.length * best.times;
      // The first time stays in sight.
      const what = best.length === 1 ? "this step" : `these ${best.length} steps`;
      found.push({ from: first[i + best.length], to: first[end], said: `${what} ×${best.times}`, block: first[i + best.length] - first[i] });
      i = end;
    } else i++;
  }
  return [...found, ...quiet(run, found)].sort((a, b) => a.from - b.from);
}

/** Conditions and `skip`, four or more in a row. */
function quiet(run: Run, taken: Fold[]): Fold[] {
  const out: Fold[] = [];
  let next = 0;
  for (let row = 0; row < run.count; ) {
    while (next < taken.length && taken[next].to <= row) next++;
    if (next < taken.length && row >= taken[next].from) { row = taken[next].to; continue; }
    let end = row;
    const stop = taken[next]?.from ?? run.count;
    while (end < stop && kind(run, end) === "quiet" && run.pid[end] === run.pid[row]) end++;
    if (end - row >= 4) out.push({ from: row, to: end, said: `${end - row} statements that nobody notices`, block: 0 });
    row = Math.max(end, row + 1);
  }
  return out;
}

/** Folds as they are shown where the page stands at the rows `from` to `to`: the block that they belong to stays in sight. */
export function around(fold: Fold, from: number, to: number): Fold[] {
  const size = fold.block || 1;
  const begin = fold.block ? fold.from + Math.floor((from - fold.from) / size) * size : from;
  const end = fold.block ? Math.min(fold.to, begin + size) : to;
  const part = (a: number, b: number): Fold[] => (b <= a ? [] : [{ ...fold, from: a, to: b, said: fold.block ? fold.said.replace(/×.*/, `×${Math.round((b - a) / size)}`) : `${b - a} statements that nobody notices` }]);
  return [...part(fold.from, begin), ...part(Math.min(end, fold.to), fold.to)];
}

function same(keys: Int32Array, a: number, b: number, length: number): boolean {
  if (b + length > keys.length) return false;
  for (let i = 0; i < length; i++) if (keys[a + i] !== keys[b + i]) return false;
  return true;
}
