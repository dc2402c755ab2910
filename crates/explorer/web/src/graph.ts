// States around the one where the page stands, by the steps that lead to them; of small models all.

import * as api from "./api";
import { el, replace, svg } from "./dom";
import type { Store } from "./store";
import type { Graph, GraphNode } from "./types";

const COLUMN = 84;
const ROW = 34;

let shown: { key: string; graph: Graph } | null = null;
let edgeShown = "";

export async function drawGraph(store: Store, pane: HTMLElement): Promise<void> {
  const key = `${store.asked}|${store.place.at}`;
  if (shown?.key !== key) {
    const graph = await api.graph(store.asked, store.place.at);
    if (key !== `${store.asked}|${store.place.at}` || store.tab !== "graph") return;
    shown = { key, graph };
    edgeShown = "";
  }
  const { graph } = shown;
  const classes = new Set(graph.nodes.map((n) => n.class)).size;
  const light = (number: number | null) => pane.querySelectorAll<SVGElement>("circle.state").forEach((c) => c.classList.toggle("alike", number !== null && c.dataset.class === String(number)));
  const said = graph.whole ? `All ${graph.nodes.length} states of the model as written` : `The nearest ${graph.nodes.length} states`;
  const quotient = graph.reduced !== null ? `; a check stores ${graph.reduced}` : "";
  const pale = graph.edges.some((e) => e.left_out) ? " Pale: left for later by the partial order." : "";
  const whole: Drawn[] = graph.nodes.map((n) => ({ ...n, said: `state ${n.id}, ${n.kind}` }));
  const parts: HTMLElement[] = [el("p", { class: "empty" }, `${said}${quotient}.${pale} ${edgeShown}`), picture(whole, graph.edges, (text) => { edgeShown = text; void drawGraph(store, pane); }, light)];
  if (graph.whole && classes < graph.nodes.length) {
    // One node for each class, in the layer of its first member.
    const first = new Map<number, Drawn>();
    for (const n of whole) {
      const known = first.get(n.class);
      if (!known) first.set(n.class, { ...n, id: n.class, said: `class ${n.class}` });
      else first.set(n.class, { ...known, here: known.here || n.here, on_run: known.on_run || n.on_run, kind: known.kind === "open" ? n.kind : known.kind });
    }
    const of = new Map(graph.nodes.map((n) => [n.id, n.class]));
    const edges = new Map<string, Graph["edges"][0]>();
    for (const e of graph.edges) {
      const [from, to] = [of.get(e.from) as number, of.get(e.to) as number];
      const known = edges.get(`${from} ${to}`);
      edges.set(`${from} ${to}`, { ...e, from, to, left_out: e.left_out && (known?.left_out ?? true) });
    }
    parts.push(el("p", { class: "empty" }, `The quotient: ${classes} classes. Point at a state, or move the focus to it, to see its class in both.`), picture([...first.values()], [...edges.values()], () => {}, light));
  }
  replace(pane, ...parts);
}

interface Drawn extends GraphNode { said: string }

/** States in layers, with their steps. */
function picture(nodes: Drawn[], edges: Graph["edges"], show: (text: string) => void, light: (number: number | null) => void): HTMLElement {
  const inLayer = new Map<number, number>();
  const place = new Map<number, { x: number; y: number }>();
  for (const node of nodes) {
    const index = inLayer.get(node.layer) ?? 0;
    inLayer.set(node.layer, index + 1);
    place.set(node.id, { x: 30 + node.layer * COLUMN, y: 26 + index * ROW + (node.layer % 2) * 10 });
  }
  const at = (id: number) => place.get(id) as { x: number; y: number };
  const width = 80 + COLUMN * Math.max(0, ...nodes.map((n) => n.layer));
  const height = 60 + ROW * Math.max(1, ...inLayer.values());
  const drawing = svg("svg", { class: "graph", width, height, role: "group", "aria-label": `${nodes.length} states` });
  for (const edge of edges) {
    const [a, b] = [at(edge.from), at(edge.to)];
    const back = b.x <= a.x;
    const d = edge.from === edge.to ? `M${a.x - 6} ${a.y - 7}c-10 -16 22 -16 12 0`
      : back ? `M${a.x} ${a.y + 8}C${a.x} ${a.y + 30} ${b.x} ${b.y + 30} ${b.x} ${b.y + 9}` : `M${a.x + 8} ${a.y}C${a.x + 40} ${a.y} ${b.x - 40} ${b.y} ${b.x - 9} ${b.y}`;
    const line = svg("path", { class: `edge p${edge.pid % 4} ${edge.left_out ? "left-out" : ""}`, d });
    const title = svg("title");
    title.textContent = `${edge.pid}: ${edge.text}${edge.left_out ? " (left for later)" : ""}`;
    line.append(title);
    line.addEventListener("click", () => show(title.textContent ?? ""));
    drawing.append(line);
  }
  for (const node of nodes) {
    const { x, y } = at(node.id);
    const circle = svg("circle", { class: `state ${node.kind} ${node.here ? "here" : ""} ${node.on_run ? "on-run" : ""} ${node.expanded ? "" : "edge-of-sight"}`, cx: x, cy: y, r: node.here ? 9 : 6, tabindex: 0, role: "img", "aria-label": `${node.said}${node.here ? ", here" : ""}`, "data-class": node.class });
    for (const event of ["mouseenter", "focus"]) circle.addEventListener(event, () => light(node.class));
    for (const event of ["mouseleave", "blur"]) circle.addEventListener(event, () => light(null));
    drawing.append(circle);
  }
  return el("div", { class: "space scroll" }, drawing as unknown as Node);
}
