// Two runs side by side: equal steps folded, from the first difference on in bold.

import * as api from "./api";
import { label } from "./chart";
import { badge, el, replace } from "./dom";
import { print } from "./position";
import type { Store } from "./store";
import type { Statement } from "./types";

let shown: { key: string; ours: Statement[]; theirs: Statement[] } | null = null;

/** How many steps two runs have in common. */
export function common(a: string[], b: string[]): number {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same;
}

/** Steps after the first difference that are shown. */
const SHOWN = 60;

export async function drawCompare(store: Store, pane: HTMLElement): Promise<void> {
  const other = store.other;
  if (!other) return;
  const same = common(store.place.moves, other.moves);
  const key = `${store.asked}|${print(other.moves)}`;
  if (shown?.key !== key) {
    const [ours, theirs] = await Promise.all([api.steps(store.asked, same, same + SHOWN), api.steps(print(other.moves), same, same + SHOWN)]);
    if (store.other !== other) return;
    shown = { key, ours: ours.rows, theirs: theirs.rows };
  }
  const column = (title: string, rows: Statement[], moves: string[], ending: string) =>
    el("div", { class: "side" }, el("h3", {}, title),
      ...rows.map((s, i) => el("div", { class: `compared ${i === 0 ? "first" : ""}` }, el("span", { class: "number" }, i === 0 || rows[i - 1].step !== s.step ? s.step : ""), badge(s.pid, s.process ?? undefined), el("span", { class: "code" }, i === 0 ? "≠ " : "", ...label(s)))),
      moves.length > same + SHOWN ? el("p", { class: "dim" }, `and ${moves.length - same - SHOWN} further steps`) : el("p", { class: "dim" }, ending));
  const how = (kind: string) => ({ violation: "goes wrong here", deadlock: "nobody can go on", end: "comes to its end", lost: "ends here", open: "goes on from here" })[kind] ?? kind;
  replace(pane,
    el("div", { class: "compare-head" }, el("p", {}, same === 0 ? "The two runs differ from the first step on." : `The first ${same} ${same === 1 ? "step is" : "steps are"} the same.`, " Compared with ", other.note, "."),
      el("span", { class: "tags" },
        el("button", { class: "button small", onclick: () => { const { moves } = other; store.endCompare(); void store.follow(print(moves), 0); } }, "Go to the other run"),
        el("button", { class: "button small", onclick: () => store.endCompare() }, "Close ", el("kbd", {}, "x")))),
    el("div", { class: "compare" }, column("This run", shown.ours, store.place.moves, how(store.run.ending.kind)), column("The other run", shown.theirs, other.moves, how(other.ending))));
}
