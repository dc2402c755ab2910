// States around the one where the page stands, by the steps that lead to them; of small models all.

import * as api from "./api";
import { el, replace, svg } from "./dom";
import type { Store } from "./store";
import type { Graph } from "./types";

const COLUMN = 84;
const ROW = 34;

let shown: { key: string; graph: Graph } | null = null;
let edgeShown = "";

export async function drawGraph(store: Store, pane: HTMLElement): Promise<void> {
  const key = `${store.path}|${store.place.at}`;
  if (shown?.key !== key) {
    const graph = await api.graph(store.path, store.place.at);
    if (key !== `${store.path}|${store.place.at}` || store.tab !== "graph") return;
    shown = { key, graph };
    edgeShown = "";
  }
  const { graph } = shown;
  const inLayer = new Map<number, number>();
  const place = new Map<number, { x: number; y: number }>();
  for (const node of graph.nodes) {
    const index = inLayer.get(node.layer) ?? 0;
    inLayer.set(node.layer, index + 1);
    place.set(node.id, { x: 30 + node.layer * COLUMN, y: 26 + index * ROW + (node.layer % 2) * 10 });
  }
  const at = (id: number) => place.get(id) as { x: number; y: number };
  const width = 80 + COLUMN * Math.max(0, ...graph.nodes.map((n) => n.layer));
  const height = 60 + ROW * Math.max(1, ...inLayer.values());
  const drawing = svg("svg", { class: "graph", width, height, role: "img", "aria-label": `${graph.nodes.length} states` });
  for (const edge of graph.edges) {
    const [a, b] = [at(edge.from), at(edge.to)];
    const back = b.x <= a.x;
    const d = edge.from === edge.to ? `M${a.x - 6} ${a.y - 7}c-10 -16 22 -16 12 0`
      : back ? `M${a.x} ${a.y + 8}C${a.x} ${a.y + 30} ${b.x} ${b.y + 30} ${b.x} ${b.y + 9}` : `M${a.x + 8} ${a.y}C${a.x + 40} ${a.y} ${b.x - 40} ${b.y} ${b.x - 9} ${b.y}`;
    const line = svg("path", { class: `edge p${edge.pid % 4} ${edge.left_out ? "left-out" : ""}`, d });
    const title = svg("title");
    title.textContent = `${edge.pid}: ${edge.text}${edge.left_out ? " (left for later)" : ""}`;
    line.append(title);
    line.addEventListener("click", () => { edgeShown = title.textContent ?? ""; void drawGraph(store, pane); });
    drawing.append(line);
  }
  for (const node of graph.nodes) {
    const { x, y } = at(node.id);
    drawing.append(svg("circle", { class: `state ${node.kind} ${node.here ? "here" : ""} ${node.on_run ? "on-run" : ""} ${node.expanded ? "" : "edge-of-sight"}`, cx: x, cy: y, r: node.here ? 9 : 6 }));
  }
  const said = graph.whole ? `All ${graph.nodes.length} states of the model as written` : `The nearest ${graph.nodes.length} states`;
  const quotient = graph.reduced !== null ? `; a check stores ${graph.reduced}` : "";
  const pale = graph.edges.some((e) => e.left_out) ? " Pale: left for later by the partial order." : "";
  replace(pane, el("p", { class: "empty" }, `${said}${quotient}.${pale} ${edgeShown}`), el("div", { class: "space scroll" }, drawing as unknown as Node));
}
