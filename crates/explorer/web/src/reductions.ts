// What a check leaves out here, and why.

import * as api from "./api";
import { drawClass } from "./class";
import { badge, el, replace } from "./dom";
import type { Store } from "./store";
import type { Class, Reductions } from "./types";

let shown: { key: string; said: Reductions; members: Class } | null = null;

export async function drawReductions(store: Store, pane: HTMLElement): Promise<void> {
  // What symmetry was found is known from a check.
  const here = () => `${store.asked}|${store.place.at}|${store.checked}`;
  const key = here();
  if (shown?.key !== key) {
    const [said, members] = await Promise.all([api.reductions(store.asked, store.place.at), api.classOf(store.asked, store.place.at)]);
    if (key !== here() || store.tab !== "reductions") return;
    shown = { key, said, members };
  }
  const { explored, later, why, symmetry } = shown.said;
  const way = (w: { pid: number; process: string; text: string; why: string | null }) =>
    el("div", { class: "way" }, badge(w.pid, w.process), el("code", {}, w.text), el("span", {}), w.why ? el("div", { class: "why" }, w.why) : null);
  const limit = symmetry?.limit;
  // A place in the sentence leads to its line.
  const place = limit?.match(/([^\s:]+):(\d+)/);
  replace(pane,
    el("div", { class: "reading" },
      el("h3", {}, "Partial order: explored here"), ...(explored.length > 0 ? explored.map(way) : [el("p", { class: "dim" }, "Nothing.")]),
      el("p", {}, why),
      later.length > 0 ? el("h3", {}, "Left for later") : null, ...later.map(way),
      el("h3", {}, "Symmetry: the class of this state"), drawClass(store, shown.members),
      el("h3", {}, "Symmetry that was found"),
      symmetry === null ? el("p", { class: "dim" }, "Known after a check.") : el("p", {}, symmetry.found.length > 0 ? symmetry.found.join("; ") : "None was found."),
      limit ? el("p", { class: "limit" }, "Limited: ", limit, " ", place ? el("button", { class: "step", onclick: () => store.reveal(Number(place[2]), place[1]) }, `line ${place[2]}`) : null) : null,
      symmetry ? el("p", { class: "dim" }, `Order: ${symmetry.order}`) : null,
    ));
}
