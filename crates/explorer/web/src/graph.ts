// States around the one where the page stands, by the steps that lead to them; of small models all.

import * as api from "./api";
import { called, el, replace, svg } from "./dom";
import { print } from "./position";
import { size } from "./sizes";
import type { Store } from "./store";
import type { Graph, GraphNode } from "./types";

/** How far layers are apart, as far as there is room; and states in a layer. */
const [COLUMN, NARROWEST] = [84, 38];
const ROW = 34;

/** A picture that does not fit is made smaller, down to this, unless somebody wants it in full size. */
const SMALLEST = 0.5;
let inFull = false;

let shown: { key: string; graph: Graph } | null = null;
let edgeShown = "";

/** Where states are, by their keys: those that are seen again from another place stay where they were. */
let places: { of: string; at: Map<string, { x: number; y: number }> } = { of: "", at: new Map() };
/** Places are counted in layers and rows; a picture that is wide has its layers closer together, as long as it can be read. */
const columnOf = (layers: number): number => Math.max(NARROWEST, Math.min(COLUMN, Math.floor((size("centre").width - 104) / Math.max(1, layers))));
/** When so many have a place, they are given anew. */
const MOST_PLACES = 600;

/** Places for the states of a graph: in layers, or, around a place, beside the states that they are reached from. */
function place(graph: Graph, model: string): Map<string, { x: number; y: number }> {
  const of = `${model} ${graph.whole}`;
  if (places.of !== of || places.at.size > MOST_PLACES || !graph.nodes.some((n) => places.at.has(n.key))) places = { of, at: new Map() };
  const { at } = places;
  const lowest = new Map<number, number>();
  for (const { x, y } of at.values()) lowest.set(x, Math.max(lowest.get(x) ?? 0, y));
  const from = new Map<number, GraphNode>();
  for (const e of graph.edges) if (!from.has(e.to) && e.from !== e.to) from.set(e.to, graph.nodes[e.from]);
  for (const node of graph.nodes) {
    if (at.has(node.key)) continue;
    const before = graph.whole ? undefined : at.get(from.get(node.id)?.key ?? "");
    const x = before && node.layer > 0 ? before.x + 1 : node.layer;
    const low = lowest.get(x);
    const y = low === undefined ? 26 + (x % 2) * 10 : low + ROW;
    lowest.set(x, y);
    at.set(node.key, { x, y });
  }
  return at;
}

/** Stands at a state: at the step of this run that leads to it, or after the steps that do. */
function stand(store: Store, graph: Graph, node: GraphNode): void {
  if (node.on_run !== null) return void store.go(node.on_run);
  const before = graph.whole ? [] : store.place.moves.slice(0, graph.at);
  void store.follow(print([...before, ...node.moves]), 0);
}

export async function drawGraph(store: Store, pane: HTMLElement): Promise<void> {
  const here = () => `${store.asked}|${store.place.at}|${store.checked}`;
  const key = here();
  if (shown?.key !== key) {
    const graph = await api.graph(store.asked, store.place.at);
    if (key !== here() || store.tab !== "graph") return;
    shown = { key, graph };
    edgeShown = "";
  }
  const { graph } = shown;
  const classes = new Set(graph.nodes.map((n) => n.class)).size;
  const light = (number: number | null) => pane.querySelectorAll<SVGElement>(".graph circle.state").forEach((c) => c.classList.toggle("alike", number !== null && c.dataset.class === String(number)));
  const said = graph.whole ? `All ${graph.nodes.length} states of the model as written` : `The nearest ${graph.nodes.length} states`;
  const quotient = graph.reduced !== null ? `; a check stores ${graph.reduced}` : "";
  const pale = graph.edges.some((e) => e.left_out) ? " Pale: left for later by the partial order." : "";
  const at = place(graph, store.info.checksum);
  const whole: Drawn[] = graph.nodes.map((n) => ({ ...n, said: `state ${n.id}, ${n.kind}`, place: at.get(n.key) as Drawn["place"] }));
  const show = (text: string) => { edgeShown = text; void drawGraph(store, pane); };
  const go = (node: GraphNode) => stand(store, graph, node);
  const again = () => void drawGraph(store, pane);
  const parts: HTMLElement[] = [el("p", { class: "empty" }, `${said}${quotient}.${pale} Click a state to stand there, a line to read its step. `, edgeShown === "" ? null : el("code", {}, edgeShown)), legend(graph), picture(whole, graph.edges, show, light, go, again)];
  // Where a check has found no symmetry that it may use, there is no quotient that it explores.
  const usable = store.checked === "" || (store.progress?.symmetry_found ?? []).length > 0;
  if (graph.whole && usable && classes < graph.nodes.length) {
    // One node for each class, in the layer of its first member.
    const first = new Map<number, Drawn>();
    for (const n of whole) {
      const known = first.get(n.class);
      if (!known) first.set(n.class, { ...n, id: n.class, said: `class ${n.class}` });
      else first.set(n.class, { ...known, here: known.here || n.here, on_run: known.on_run ?? n.on_run, kind: known.kind === "open" ? n.kind : known.kind });
    }
    const inLayer = new Map<number, number>();
    for (const n of first.values()) {
      const index = inLayer.get(n.layer) ?? 0;
      inLayer.set(n.layer, index + 1);
      n.place = { x: n.layer, y: 26 + index * ROW + (n.layer % 2) * 10 };
    }
    const of = new Map(graph.nodes.map((n) => [n.id, n.class]));
    const edges = new Map<string, Graph["edges"][0]>();
    for (const e of graph.edges) {
      const [from, to] = [of.get(e.from) as number, of.get(e.to) as number];
      // The end of a process that classes take no notice of is no step there.
      if (graph.without_ends && e.ends && from === to) continue;
      const known = edges.get(`${from} ${to}`);
      edges.set(`${from} ${to}`, { ...e, from, to, left_out: e.left_out && (known?.left_out ?? true) });
    }
    parts.push(el("p", { class: "empty" }, `The quotient: ${classes} classes${graph.without_ends ? ", without the ends of processes, which nobody notices" : ""}. Point at a state, or move the focus to it, to see its class in both.`), picture([...first.values()], [...edges.values()], show, light, go, again));
  }
  replace(pane, ...parts);
  pane.querySelector(".graph circle.state.here")?.scrollIntoView({ block: "nearest", inline: "center" });
}

/** What the states that are drawn look like. */
function legend(graph: Graph): HTMLElement {
  const has = (test: (n: GraphNode) => boolean) => graph.nodes.some(test);
  const kinds: [string, string, boolean][] = [
    ["open here", "here", true],
    ["open on-run", "on this run", has((n) => n.on_run !== null && !n.here)],
    ["violation", "goes wrong", has((n) => n.kind === "violation")],
    ["deadlock", "nobody can go on", has((n) => n.kind === "deadlock")],
    ["end", "every process has ended", has((n) => n.kind === "end")],
    ["open edge-of-sight", "goes on beyond this picture", has((n) => !n.expanded)],
  ];
  const one = ([look, text]: [string, string, boolean]) => {
    const drawing = svg("svg", { viewBox: "0 0 20 20", "aria-hidden": true });
    drawing.append(svg("circle", { class: `state ${look}`, cx: 10, cy: 10, r: 6 }));
    return el("span", {}, drawing as unknown as Node, text);
  };
  return el("p", { class: "legend" }, ...kinds.filter(([, , is]) => is).map(one));
}

interface Drawn extends GraphNode { said: string; place: { x: number; y: number } }

/** States with their steps. */
function picture(nodes: Drawn[], edges: Graph["edges"], show: (text: string) => void, light: (number: number | null) => void, go: (node: GraphNode) => void, again: () => void): HTMLElement {
  const layers = nodes.map((n) => n.place.x);
  const [left, column] = [Math.min(...layers), columnOf(Math.max(...layers) - Math.min(...layers))];
  const place = new Map(nodes.map((n) => [n.id, { x: 30 + (n.place.x - left) * column, y: n.place.y }]));
  const bend = Math.round(column * 0.45);
  const at = (id: number) => place.get(id) as { x: number; y: number };
  const width = 50 + Math.max(...[...place.values()].map((p) => p.x));
  const height = 34 + Math.max(...[...place.values()].map((p) => p.y));
  const fits = Math.min(1, Math.max(SMALLEST, (size("centre").width - 20) / width));
  const scale = inFull ? 1 : fits;
  const drawing = svg("svg", { class: "graph", width: Math.ceil(width * scale), height: Math.ceil(height * scale), viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${nodes.length} states` });
  for (const edge of edges) {
    const [a, b] = [at(edge.from), at(edge.to)];
    const back = b.x <= a.x;
    const d = edge.from === edge.to ? `M${a.x - 6} ${a.y - 7}c-10 -16 22 -16 12 0`
      : back ? `M${a.x} ${a.y + 8}C${a.x} ${a.y + 30} ${b.x} ${b.y + 30} ${b.x} ${b.y + 9}` : `M${a.x + 8} ${a.y}C${a.x + bend} ${a.y} ${b.x - bend} ${b.y} ${b.x - 9} ${b.y}`;
    const line = svg("path", { class: `edge p${edge.pid % 4} ${edge.left_out ? "left-out" : ""}`, d });
    const title = svg("title");
    title.textContent = `${called(edge.pid)}: ${edge.text}${edge.left_out ? " (left for later)" : ""}`;
    line.append(title);
    line.addEventListener("click", () => show(title.textContent ?? ""));
    drawing.append(line);
    if (edge.from !== edge.to) drawing.append(svg("path", { class: `head ${edge.left_out ? "future" : `p${edge.pid % 4}`}`, d: back ? `M${b.x} ${b.y + 8}l-3 6h6z` : `M${b.x - 8} ${b.y}l-6 -3v6z` }));
  }
  for (const node of nodes) {
    const { x, y } = at(node.id);
    const circle = svg("circle", { class: `state ${node.kind} ${node.here ? "here" : ""} ${node.on_run === null ? "" : "on-run"} ${node.expanded ? "" : "edge-of-sight"}`, cx: x, cy: y, r: node.here ? 9 : 6, tabindex: 0, role: "button", "aria-label": `${node.said}${node.here ? ", here" : ""}`, "data-class": node.class, "data-state": node.key });
    circle.addEventListener("click", () => go(node));
    circle.addEventListener("keydown", (event) => { if ((event as KeyboardEvent).key === "Enter") go(node); });
    for (const event of ["mouseenter", "focus"]) circle.addEventListener(event, () => light(node.class));
    for (const event of ["mouseleave", "blur"]) circle.addEventListener(event, () => light(null));
    drawing.append(circle);
  }
  const turn = fits < 1 ? el("button", { class: "button small size", "data-do": "size", onclick: () => { inFull = !inFull; again(); } }, inFull ? "Fit" : "Full size") : null;
  return el("div", {}, turn, el("div", { class: "space scroll" }, drawing as unknown as Node));
}
