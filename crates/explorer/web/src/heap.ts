// The heap: roots at the left, objects in layers behind them, references as arrows. An object keeps its place along a run.

import * as api from "./api";
import { badge, el, replace, svg } from "./dom";
import { firstOf } from "./run";
import { size } from "./sizes";
import type { Store } from "./store";
import type { Heap, HeapNode } from "./types";

const WIDTH = 168;
const LINE = 18;
const COLUMN = 236;
/** On narrow windows. */
const NARROW_COLUMN = 204;

/** Places that were given, by node; they are kept while the page is open, so that nothing jumps. */
const places = new Map<string, { x: number; y: number }>();
/** Changes that are told below the picture. */
const MOST_CHANGES = 6;
let shown: { key: string; heap: Heap } | null = null;
/** Somebody wants to see all of it. */
let all = false;

const height = (node: HeapNode): number => 26 + LINE * node.fields.length + (node.lock ? LINE : 0) + 6;

function place(heap: Heap): void {
  const column = size("centre").width < 460 ? NARROW_COLUMN : COLUMN;
  for (const node of heap.nodes) {
    if (places.has(node.id)) continue;
    const x = 12 + node.layer * column;
    // Below everything that stands in this column, or in the first gap that is large enough.
    const others = heap.nodes.filter((n) => n !== node && places.get(n.id)?.x === x).map((n) => ({ y: (places.get(n.id) as { y: number }).y, h: height(n) + 14 }));
    others.sort((a, b) => a.y - b.y);
    let y = 16;
    for (const other of others) if (other.y < y + height(node) + 14 && other.y + other.h > y) y = other.y + other.h;
    places.set(node.id, { x, y });
  }
}

export async function drawHeap(store: Store, pane: HTMLElement): Promise<void> {
  const here = () => `${store.asked}|${store.place.at}|${all}`;
  const key = here();
  if (shown?.key !== key) {
    const heap = await api.heap(store.asked, store.place.at, all);
    if (key !== here() || store.tab !== "heap") return;
    shown = { key, heap };
  }
  const heap = shown.heap;
  place(heap);
  const at = (id: string) => places.get(id) as { x: number; y: number };
  const byId = new Map(heap.nodes.map((n) => [n.id, n]));
  const right = Math.max(320, ...heap.nodes.map((n) => at(n.id).x + WIDTH + 24));
  const bottom = Math.max(120, ...heap.nodes.map((n) => at(n.id).y + height(n) + 24));
  const lines = svg("svg", { class: "lines", width: right, height: bottom, "aria-hidden": true });
  const boxes = heap.nodes.map((node) => {
    const { x, y } = at(node.id);
    const fields = node.fields.map((f) => el("div", { class: `field ${f.changed ? "changed" : ""}` }, el("span", { class: "dim" }, f.name), " ", f.changed && f.before !== null && f.to === null ? `${f.before} → ` : "", f.to === null ? f.text : "•"));
    const held = node.lock ? el("div", { class: "field held-by" }, "held by ", badge(node.lock.pid, node.lock.name)) : null;
    const box = el("div", { class: `object ${node.kind} ${node.fields.some((f) => f.changed) ? "changed" : ""}`, "data-node": node.id }, el("div", { class: "title" }, node.pid === null ? null : badge(node.pid), node.name), held, ...fields);
    box.style.transform = `translate(${x}px, ${y}px)`;
    box.style.height = `${height(node)}px`;
    node.fields.forEach((f, index) => {
      const target = f.to === null ? undefined : byId.get(f.to);
      if (!target) return;
      const to = at(target.id);
      const [sx, sy] = [x + WIDTH, y + 26 + (node.lock ? LINE : 0) + LINE * index + LINE / 2];
      const back = to.x <= x;
      const [ex, ey] = [back ? to.x + WIDTH : to.x, to.y + 12];
      const bend = back ? 40 : Math.max(30, (ex - sx) / 2);
      lines.append(
        svg("path", { class: `reference ${node.pid === null ? "plain" : `p${node.pid % 4}`} ${f.changed ? "changed" : ""} ${index % 2 === 1 ? "second" : ""}`, d: `M${sx} ${sy}C${sx + bend} ${sy} ${back ? ex + bend : ex - bend} ${ey} ${ex} ${ey}` }),
        svg("path", { class: `tip p${(node.pid ?? 0) % 4} ${f.changed ? "changed" : ""} ${node.pid === null ? "plain" : ""}`, d: back ? `M${ex} ${ey}l7 -4v8z` : `M${ex} ${ey}l-7 -4v8z` }),
      );
    });
    return box;
  });
  const inner = el("div", { class: "space", "data-at": store.place.at }, lines as unknown as Node, ...boxes);
  inner.style.width = `${right}px`;
  inner.style.height = `${bottom}px`;
  const more = heap.hidden > 0 || all;
  const turn = () => { all = !all; void drawHeap(store, pane); };
  const note = heap.hidden > 0 ? "Only what this step touched and its neighbours are shown. " : "";
  // What this step changed, in words: boxes may be far from each other.
  const { run, place: stands } = store;
  const by = stands.at > 0 ? run.processes.find((p) => p.pid === run.pid[firstOf(run, stands.at)]) : undefined;
  const changes = heap.nodes.flatMap((n) => n.fields.filter((f) => f.changed).map((f) => ({ name: `${n.name}.${f.name}`, before: f.before, after: f.to === null ? f.text : byId.get(f.to)?.name ?? f.text })));
  const changed = changes.length === 0 || !by ? null : el("div", { class: "heap-changes" }, el("span", { class: "dim" }, "changed by "), badge(by.pid, by.name), ` ${by.name.replace(/\(\d+\)$/, "")}`,
    el("ul", {}, ...changes.slice(0, MOST_CHANGES).map((c) => el("li", {}, el("code", {}, c.name, " ", c.before === null ? null : el("span", { class: "dim" }, `${c.before} → `), el("b", {}, c.after)))), changes.length > MOST_CHANGES ? el("li", { class: "dim" }, `and ${changes.length - MOST_CHANGES} more`) : null));
  const none = heap.nodes.length === 0 ? "There are no objects yet. " : "";
  replace(pane, inner, changed, el("p", { class: "empty" }, `${none}${note}Garbage is not part of a state. `, more ? el("button", { class: "button small", id: "heap-more", onclick: turn }, all ? "Show fewer" : `Show ${heap.hidden.toLocaleString("en-US")} more`) : null));
}
