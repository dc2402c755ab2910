// Folding: blocks of steps that are repeated, and statements that nobody else notices, as one row each. A fold hides rows of the chart;
// the run stays what it is.

import type { Run } from "./types";

export interface Fold { from: number; to: number; said: string }

/** Blocks have at most this many steps. */
const LONGEST = 12;

/** What can be folded in a run: ranges of rows that do not overlap. The rows of the step `keep` stay. */
export function folds(run: Run, keep: number): Fold[] {
  const { step, pid, statement, kind } = run.rows;
  const count = step.length;
  // One key for each step: who did what.
  const first: number[] = [];
  const keys: string[] = [];
  for (let row = 0; row < count; row++) {
    if (row === 0 || step[row] !== step[row - 1]) {
      first.push(row);
      keys.push("");
    }
    keys[keys.length - 1] += `${pid[row]}:${statement[row]};`;
  }
  first.push(count);
  const found: Fold[] = [];
  for (let i = 0; i < keys.length; ) {
    let best = { length: 0, times: 0 };
    for (let length = 1; length <= LONGEST && i + 3 * length <= keys.length; length++) {
      let times = 1;
      while (same(keys, i, i + times * length, length)) times++;
      // Where the page stands stays in sight: what comes before it is folded, and what comes behind.
      if (keep > i + length && keep <= i + times * length) times = Math.floor((keep - 1 - i) / length);
      if (times >= 3 && times * length > best.length * best.times) best = { length, times };
    }
    const end = i + best.length * best.times;
    // The first time stays in sight.
    const hidden = { from: first[i + best.length], to: first[Math.min(end, keys.length)] };
    if (best.times > 0) {
      const what = best.length === 1 ? "this step" : `these ${best.length} steps`;
      found.push({ ...hidden, said: `${what} ×${best.times}` });
      i = end;
    } else i++;
  }
  return [...found, ...quiet(run, keep, found)].sort((a, b) => a.from - b.from);

  /** Conditions and `skip`, four or more in a row. */
  function quiet(run: Run, keep: number, taken: Fold[]): Fold[] {
    const out: Fold[] = [];
    let next = 0;
    for (let row = 0; row < count; ) {
      while (next < taken.length && taken[next].to <= row) next++;
      if (next < taken.length && row >= taken[next].from) { row = taken[next].to; continue; }
      let end = row;
      const stop = taken[next]?.from ?? count;
      while (end < stop && kind[end] === "quiet" && pid[end] === pid[row] && run.rows.step[end] !== keep) end++;
      if (end - row >= 4) out.push({ from: row, to: end, said: `${end - row} statements that nobody notices` });
      row = Math.max(end, row + 1);
    }
    return out;
  }
}

function same(keys: string[], a: number, b: number, length: number): boolean {
  if (b + length > keys.length) return false;
  for (let i = 0; i < length; i++) if (keys[a + i] !== keys[b + i]) return false;
  return true;
}
