// The chart: a row for each statement, a column for each process. Only rows in sight are in the page; lines are one drawing.

import { $, badge, el, replace, svg } from "./dom";
import type { Store } from "./store";
import type { Statement, Value } from "./types";

const ROW = 30;
const GAP = 6;
const LEFT = 52;
const NARROWEST = 170;
const LANE = 22;

export let showStatements = false;
export function toggleStatements(): void {
  showStatements = !showStatements;
}

const y = (store: Store, row: number): number => row * ROW + (store.run.rows.step[row] - 1) * GAP + 8;

/** Where columns are; lanes where there is no room for text in each. */
function columns(store: Store, width: number): { x: (pid: number) => number; lanes: boolean; text: number; order: Map<number, number> } {
  const order = new Map(store.run.processes.map((p, i) => [p.pid, i]));
  const count = Math.max(1, order.size);
  const each = (width - LEFT - 10) / count;
  const lanes = each < NARROWEST && count > 1;
  const x = (pid: number) => LEFT + 14 + (order.get(pid) ?? 0) * (lanes ? LANE : each);
  return { x, lanes, text: LEFT + 14 + count * LANE, order };
}

const message = (values: Value[]): string => {
  const [first, ...rest] = values.map((v) => v.text);
  return rest.length > 0 && values[0].kind === "constant" ? `${first}(${rest.join(", ")})` : values.map((v) => v.text).join(", ");
};

/** What a row says: its effect, or the statement. */
export function label(s: Statement): Node[] {
  if (showStatements) return [document.createTextNode(s.text)];
  const event = s.events[0];
  const text = (t: string, kind?: string): Node => (kind ? el("span", { class: kind }, t) : document.createTextNode(t));
  switch (event?.kind) {
    case "send":
      return [text(`${event.channel} ! ${message(event.message ?? [])}`)];
    case "receive":
      return [text(`${event.channel} ${event.stays ? "?<>" : "?"} ${message(event.message ?? [])}`)];
    case "assert":
      return event.holds ? [text(`assert ${event.text} `), text("✓", "ok")] : [text(`assert ${event.text}`)];
    case "start":
      return [text(`starts ${event.process}`)];
    case "end":
      return [text("ends", "dim")];
    case "lock":
    case "unlock":
    case "wait":
    case "wake":
    case "notify":
    case "notify all":
      return [text(`${event.kind} ${event.object}`)];
  }
  const writes = s.writes.filter((w) => w.before !== null && w.after !== null);
  if (writes.length > 0 && event?.kind !== "timeout") {
    const parts: Node[] = [];
    for (const w of writes.slice(0, 3)) {
      if (parts.length > 0) parts.push(text("  "));
      const same = w.before?.text === w.after?.text;
      parts.push(text(`${w.name} `));
      parts.push(text(w.before?.text ?? "", "dim"), text(same ? " = " : " → ", "dim"), text(w.after?.text ?? "", same ? undefined : "to"));
    }
    if (writes.length > 3) parts.push(text(` and ${writes.length - 3} more`, "dim"));
    return parts;
  }
  return [text(s.text, "dim")];
}

export function drawColumns(store: Store): void {
  const { x, lanes } = columns(store, $("chart").clientWidth);
  const heads = store.run.processes.map((p) => {
    const head = el("div", { class: "column" }, badge(p.pid, p.name), lanes ? null : el("span", {}, p.name.replace(/\(\d+\)$/, "")));
    head.style.left = `${x(p.pid) - 9}px`;
    return head;
  });
  replace($("columns"), ...heads);
}

export function drawChart(store: Store): void {
  const chart = $("chart");
  const rows = store.run.rows;
  const count = rows.step.length;
  const { x, lanes, text } = columns(store, chart.clientWidth);
  const height = count === 0 ? 40 : y(store, count - 1) + ROW + 12;
  const top = chart.scrollTop;
  const from = Math.max(0, Math.floor(top / (ROW + GAP)) - 12);
  let to = from;
  while (to < count && y(store, to) < top + chart.clientHeight + 300) to++;
  const first = Math.max(0, from);
  const drawing = svg("svg", { class: "lines", width: chart.clientWidth, height, "aria-hidden": true });
  for (const p of store.run.processes) drawing.append(svg("line", { class: "life", x1: x(p.pid), x2: x(p.pid), y1: 0, y2: height }));
  const here = store.state?.row ?? 0;
  const begin = store.place.at > 0 ? rows.step.indexOf(store.place.at) : -1;
  const elements: HTMLElement[] = [];
  for (let row = first; row < to; row++) {
    const step = rows.step[row];
    const pid = rows.pid[row];
    const now = begin >= 0 && step === store.place.at;
    const future = row >= here;
    const fails = rows.kind[row] === "fails" || (row === count - 1 && store.run.ending.kind === "violation");
    const s = store.statement(row);
    const number = el("span", { class: "number" }, row === 0 || rows.step[row - 1] !== step ? step : "");
    const said = el("span", { class: "said" }, ...(s ? label(s) : [el("span", { class: "dim" }, "…")]));
    said.style.left = `${(lanes ? text : x(pid) + 14)}px`;
    const element = el(
      "div",
      { class: `row ${now ? "now" : ""} ${future ? "future" : ""} ${fails && !future ? "fails" : ""}`, role: "row", "data-row": row, title: s?.text,
        onclick: () => void store.go(step, lastOfStep(store, row) ? null : row + 1) },
      number,
      said,
    );
    element.style.transform = `translateY(${y(store, row)}px)`;
    elements.push(element);
    const cy = y(store, row) + ROW / 2;
    const quiet = rows.kind[row] === "quiet";
    const cls = `p${pid % 4} ${future ? "future" : ""}`;
    if (fails) drawing.append(svg("circle", { class: "dot wrong", cx: x(pid), cy, r: 7 }), svg("path", { class: "cross", d: `M${x(pid) - 2.5} ${cy - 2.5}l5 5m0 -5l-5 5` }));
    else drawing.append(svg("circle", { class: `dot ${cls}`, cx: x(pid), cy, r: quiet ? 2.5 : 4.5 }));
    const partner = rows.partner[row];
    if (partner !== null && partner !== undefined) arrow(drawing, `M${x(pid)} ${cy}H${x(partner) + (x(partner) > x(pid) ? -6 : 6)}`, cls);
    const sender = rows.sent_by[row];
    if (sender !== null && sender !== undefined) {
      const fromX = x(rows.pid[sender]);
      const toX = x(pid);
      const side = fromX <= toX ? -9 : 9;
      const sy = y(store, sender) + ROW / 2;
      const below = sy + ROW / 2 + 1;
      const way = fromX === toX
        ? `M${fromX} ${sy + 5}h-9V${cy}h3`
        : `M${fromX} ${sy + 5}V${below}H${toX + side}V${cy}h${-side / 9 * 3}`;
      arrow(drawing, way, `p${rows.pid[sender] % 4} ${future ? "future" : ""}`);
    }
  }
  if (store.cycle > 0 && store.cycle <= store.run.length) {
    const start = rows.step.indexOf(store.run.length - store.cycle + 1);
    if (start >= 0) {
      const a = y(store, start) + 4;
      const b = y(store, count - 1) + ROW - 4;
      arrow(drawing, `M14 ${b}H6V${a}H12`, "again");
    }
  }
  const inner = el("div", { class: "rows" }, drawing as unknown as Node, ...elements);
  inner.style.height = `${height}px`;
  const focused = document.activeElement === chart;
  replace(chart, inner);
  if (count === 0) chart.append(el("p", { class: "empty" }, "No step has been taken. Choose one at the right, or press 1."));
  if (focused) chart.focus();
}

const lastOfStep = (store: Store, row: number): boolean => store.run.rows.step[row + 1] !== store.run.rows.step[row];

function arrow(drawing: SVGElement, d: string, cls: string): void {
  drawing.append(svg("path", { class: `arrow ${cls}`, d }));
  // The head points where the last piece of the way goes.
  const numbers = d.match(/-?\d+(\.\d+)?/g)?.map(Number) ?? [];
  const end = endOf(d, numbers);
  if (end) drawing.append(svg("path", { class: `head ${cls}`, d: `M${end.x} ${end.y}l${-5 * end.dx} -3.5v7z` }));
}

/** The point where a way of M, H, V, h, v ends, and whether it comes from the left or the right. */
function endOf(d: string, _numbers: number[]): { x: number; y: number; dx: number } | null {
  let px = 0, py = 0, dx = 1;
  for (const piece of d.match(/[MHVhv][^MHVhv]*/g) ?? []) {
    const n = piece.slice(1).trim().split(/[ ,]+/).map(Number);
    const before = px;
    switch (piece[0]) {
      case "M": [px, py] = n; break;
      case "H": px = n[0]; break;
      case "V": py = n[0]; break;
      case "h": px += n[0]; break;
      case "v": py += n[0]; break;
    }
    if (px !== before) dx = Math.sign(px - before);
  }
  return { x: px + 2 * dx, y: py, dx };
}

/** Brings the current step into sight. */
export function revealStep(store: Store): void {
  const chart = $("chart");
  const row = store.run.rows.step.lastIndexOf(store.place.at);
  if (row < 0) {
    if (store.place.at === 0) chart.scrollTop = 0;
    return;
  }
  const top = y(store, row);
  if (top < chart.scrollTop + 20) chart.scrollTop = Math.max(0, top - 60);
  else if (top + ROW > chart.scrollTop + chart.clientHeight - 20) chart.scrollTop = top + ROW - chart.clientHeight + 60;
}
