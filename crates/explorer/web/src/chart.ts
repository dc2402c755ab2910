// The chart: a row for each statement, a column for each process. Only rows in sight are in the page; lines are one drawing.

import { $, badge, called, el, replace, svg } from "./dom";
import { type Fold, folds } from "./fold";
import type { Store } from "./store";
import type { Run, Statement, Value } from "./types";

const ROW = 30;
const GAP = 6;
const LEFT = 52;
const NARROWEST = 170;
const LANE = 22;
/** From the middle of a row to its lower edge. */
const EDGE = 13;

export let showStatements = false;
export function toggleStatements(): void {
  showStatements = !showStatements;
}

/** Where rows are: for each its upper edge, and the folds that hide some. Made once for a run. */
interface Layout { run: Run; keep: number; opened: number; top: Float64Array; fold: Map<number, Fold>; hidden: Uint8Array }
let made: Layout | null = null;
let folding = false;
/** Folds that were opened by a click, by their first row; the count tells that it changed. */
let openedOf: Run | null = null;
let opened = new Set<number>();

export function toggleFolding(): boolean {
  folding = !folding;
  made = null;
  opened = new Set();
  return folding;
}

function layout(store: Store): Layout {
  const run = store.run;
  if (openedOf !== run) [openedOf, opened] = [run, new Set()];
  const keep = folding ? store.place.at : 0;
  if (made && made.run === run && made.keep === keep && made.opened === opened.size) return made;
  const count = run.rows.step.length;
  const list = folding ? folds(run, keep).filter((f) => !opened.has(f.from)) : [];
  const fold = new Map(list.map((f) => [f.from, f]));
  const top = new Float64Array(count + 1);
  const hidden = new Uint8Array(count);
  let at = 8;
  for (let row = 0; row < count; row++) {
    if (row > 0 && run.rows.step[row] !== run.rows.step[row - 1] && !hidden[row - 1]) at += GAP;
    const here = fold.get(row);
    if (here) hidden.fill(1, here.from, here.to);
    top[row] = at;
    // A fold is one row, that of its first statement.
    if (!hidden[row] || here) at += ROW;
  }
  top[count] = at;
  made = { run, keep, opened: opened.size, top, fold, hidden };
  return made;
}

const y = (store: Store, row: number): number => layout(store).top[row];

/** The first row at or below a height. */
function rowAt(top: Float64Array, height: number): number {
  let [low, high] = [0, top.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (top[middle] < height) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
      return [text(event.threads?.length ? `starts ${called(event.threads[0])} ${event.process}` : `starts ${event.process}`)];
    case "join":
      return [text(`joins ${(event.threads ?? []).map(called).join(", ")}`)];
    case "end":
      return [text("ends", "dim")];
    case "lock":
    case "unlock":
    case "wait":
    case "wake":
    case "lock fails":
    case "notify":
    case "notify all": {
      // Who waits at a condition gives its mutex back; what is waited for says more.
      const waits = s.events.find((e) => e.kind === "wait" || e.kind === "wake") ?? event;
      const woken = event.kind.startsWith("notify") && event.threads ? (event.threads.length > 0 ? `, wakes ${event.threads.map(called).join(", ")}` : s.stack ? ", wakes nobody" : "") : "";
      return [text(`${waits.kind} ${waits.object}${woken}`)];
    }
    case "atomic read":
      return [text(`${event.object} = `), text(s.reads[0]?.value.text ?? "?")];
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
  return [text(s.text, s.stack ? undefined : "dim")];
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
  const { top: tops, fold, hidden } = layout(store);
  const height = count === 0 ? 40 : tops[count] + 12 + (atEnd(store) ? waiters(store).length * WAIT + 16 : 0);
  const top = chart.scrollTop;
  const first = rowAt(tops, top - 300);
  const to = Math.min(count, rowAt(tops, top + chart.clientHeight + 300));
  const drawing = svg("svg", { class: "lines", width: chart.clientWidth, height, "aria-hidden": true });
  // A line begins where its thread is started and ends with it, with a cap.
  const { from: begins, to: ends } = lives(store.run);
  for (const p of store.run.processes) {
    const [begin, end] = [begins.get(p.pid), ends.get(p.pid)];
    const [y1, y2] = [begin === undefined ? 0 : tops[begin] + ROW / 2 + EDGE, end === undefined ? height : tops[end] + ROW / 2];
    drawing.append(svg("line", { class: "life", x1: x(p.pid), x2: x(p.pid), y1, y2 }));
    for (const [row, at] of [[begin, y1], [end, y2 + (end === undefined ? 0 : 9)]] as const) if (row !== undefined) drawing.append(svg("line", { class: "life", x1: x(p.pid) - 6, x2: x(p.pid) + 6, y1: at, y2: at }));
    if (end !== undefined) drawing.append(svg("line", { class: "life", x1: x(p.pid), x2: x(p.pid), y1: y2, y2: y2 + 9 }));
  }
  // A lock is a bar along its holder's line, as long as it is held.
  for (const lock of store.run.locks) {
    const end = lock.to ?? count - 1;
    if (end < first || lock.from >= to) continue;
    const bar = svg("rect", { class: `holds p${lock.pid % 4}`, x: x(lock.pid) - 3, y: tops[lock.from] + ROW / 2, width: 6, height: Math.max(6, (lock.to === null ? height - 12 : tops[end] + ROW / 2) - tops[lock.from] - ROW / 2), rx: 3 });
    const title = svg("title");
    title.textContent = `${lock.object} is held`;
    bar.append(title);
    drawing.append(bar);
  }
  const here = store.state?.row ?? 0;
  const begin = store.place.at > 0 ? rows.step.indexOf(store.place.at) : -1;
  const elements: HTMLElement[] = [];
  const again = (step: number) => store.cycle > 0 && step > store.run.length - store.cycle;
  const name = (pid: number) => store.run.processes.find((p) => p.pid === pid)?.name ?? `process ${pid}`;
  // Where several have one name, the number stays with it.
  const base = (pid: number) => name(pid).replace(/\(\d+\)$/, "");
  const unique = (pid: number) => store.run.processes.filter((p) => p.name.replace(/\(\d+\)$/, "") === base(pid)).length === 1;
  const shortly = new Map(lanes ? store.run.processes.map((p) => [p.pid, unique(p.pid) ? base(p.pid) : store.info.program ? `${called(p.pid)} ${p.name}` : p.name]) : []);
  for (let row = first; row < to; row++) {
    const step = rows.step[row];
    const pid = rows.pid[row];
    const folded = fold.get(row);
    if (folded) {
      const label = el("button", { class: "fold", onclick: () => { opened.add(folded.from); drawChart(store); } }, `⋯ ${folded.said}`);
      label.style.transform = `translateY(${tops[row]}px)`;
      label.style.left = `${LEFT + 28}px`;
      elements.push(label);
    }
    if (hidden[row]) continue;
    const now = begin >= 0 && step === store.place.at;
    const future = row >= here;
    const fails = rows.kind[row] === "fails" || rows.kind[row] === "race" || (row === count - 1 && store.run.ending.kind === "violation");
    const s = store.statement(row);
    const number = el("span", { class: "number" }, row === 0 || rows.step[row - 1] !== step ? step : "");
    const said = el("span", { class: "said" }, lanes ? el("b", { class: `who p${pid % 4}` }, `${shortly.get(pid) ?? name(pid)} `) : null, ...(s ? label(s) : [el("span", { class: "dim" }, "…")]), fails && s?.failed ? el("span", {}, `   ${s.failed.values}`) : null);
    said.style.left = `${(lanes ? text : x(pid) + 14)}px`;
    const element = el(
      "div",
      { class: `row ${now ? "now" : ""} ${future ? "future" : ""} ${fails && !future ? "fails" : ""} ${again(step) ? "again" : ""}`, role: "row",
        "aria-label": s ? `step ${step}, ${name(pid)}, ${s.text}` : undefined, "data-row": row, title: s?.text,
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
    if (rows.kind[row] === "send" && !received(store).has(row)) drawing.append(svg("path", { class: `arrow ${cls}`, d: `M${x(pid)} ${cy + 5}V${cy + ROW / 2 + 1}h16` }), svg("circle", { class: `ring ${cls}`, cx: x(pid) + 20, cy: cy + ROW / 2 + 1, r: 3.5 }));
    const partner = rows.partner[row];
    // Along the lower edge of the row, so that the text stays readable.
    if (partner !== null && partner !== undefined) arrow(drawing, `M${x(pid)} ${cy + 5}V${cy + EDGE}H${x(partner) + (x(partner) > x(pid) ? -6 : 6)}`, cls);
    if (rows.kind[row] === "lock" || rows.kind[row] === "unlock") drawing.append(svg("rect", { class: `lock ${cls}`, x: x(pid) - 6, y: cy - 6, width: 12, height: 12, rx: 2 }));
    if (rows.kind[row] === "timeout") drawing.append(svg("path", { class: "clock", d: `M${x(pid)} ${cy - 3}v3h3` }));
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
  // The two accesses of a race are joined.
  const race = rows.kind.indexOf("race");
  if (race >= 0 && race + 1 < count && race < to) {
    const [ax, ay, bx, by] = [x(rows.pid[race]), y(store, race) + ROW / 2, x(rows.pid[race + 1]), y(store, race + 1) + ROW / 2];
    // Past the texts, which stand at the right of their dots.
    drawing.append(svg("path", { class: "race", d: ax < bx ? `M${ax} ${ay + 7}V${by}H${bx - 7}` : `M${ax - 7} ${ay}H${bx}V${by - 7}` }));
  }
  // What the read of this step saw.
  for (let row = first; row < to; row++) {
    const write = rows.reads_from?.[row];
    if (rows.step[row] !== store.place.at || write === null || write === undefined || rows.pid[write] === rows.pid[row]) continue;
    const [ax, ay, bx, by] = [x(rows.pid[write]), y(store, write) + ROW / 2, x(rows.pid[row]), y(store, row) + ROW / 2];
    const side = ax < bx ? -8 : 8;
    drawing.append(svg("path", { class: "saw", d: `M${ax} ${ay}C${ax} ${by} ${bx + 4 * side} ${by} ${bx + side} ${by}` }), svg("path", { class: "head saw", d: `M${bx + side / 1.6} ${by}l${side} -4v8z` }));
  }
  const waits = atEnd(store) ? waiters(store) : [];
  waits.forEach((wait, index) => {
    const at = tops[count] + 24 + index * WAIT;
    const [ax, bx] = [x(wait.pid), x(wait.holder)];
    const side = ax < bx ? -1 : 1;
    drawing.append(svg("line", { class: `waits ${wait.lock ? "wrong" : ""}`, x1: ax - side * 6, y1: at, x2: bx + side * 9, y2: at }), svg("path", { class: `tip ${wait.lock ? "wrong" : ""}`, d: `M${bx + side * 5} ${at}l${side * 8} -4v8z` }));
    const said = el("span", { class: `waiting ${wait.lock ? "wrong" : ""}` }, wait.said);
    said.style.transform = `translateY(${at - 20}px)`;
    said.style.left = `${lanes ? text : ax + 12}px`;
    elements.push(said);
  });
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
  if (count === 0) chart.append(el("p", { class: "empty" }, store.run.ending.kind === "not run" ? "The steps are shown when the program has been run." : "No step has been taken. Choose one at the right, or press 1."));
  if (focused) chart.focus();
}

/** Who waits for whom where the run ends, as far as a holder is known. */
function waiters(store: Store): { pid: number; holder: number; said: string; lock: boolean }[] {
  if (store.next?.choices.length !== 0 || store.next.over) return [];
  return store.next.waiting.flatMap((w) => (w.ended ? [] : w.statements.filter((s) => s.holder !== null && s.holder !== w.pid).slice(0, 1).map((s) => ({ pid: w.pid, holder: s.holder as number, said: s.since ? `waits for ${s.object}` : s.object === undefined ? `waits: ${s.text}` : `waits to ${s.text}`, lock: Boolean(s.since) || s.object === undefined }))));
}
const atEnd = (store: Store): boolean => store.place.at === store.run.length;
const WAIT = 24;

/** Where threads are started and end in a run. */
let livesOf: { run: Run; from: Map<number, number>; to: Map<number, number> } | null = null;
function lives(run: Run): { from: Map<number, number>; to: Map<number, number> } {
  if (livesOf?.run === run) return livesOf;
  const [from, to] = [new Map<number, number>(), new Map<number, number>()];
  const { kind, pid, partner } = run.rows;
  for (let row = 0; row < kind.length; row++) {
    const other = partner[row];
    if (kind[row] === "start" && other !== null && other !== undefined && !from.has(other)) from.set(other, row);
    if (kind[row] === "end") to.set(pid[row], row);
    // A number may be given to another process later.
    else if (to.has(pid[row])) to.delete(pid[row]);
  }
  livesOf = { run, from, to };
  return livesOf;
}

/** Rows whose message is received later in the run. */
let receivedOf: { run: Run; rows: Set<number> } | null = null;
function received(store: Store): Set<number> {
  if (receivedOf?.run !== store.run) receivedOf = { run: store.run, rows: new Set(store.run.rows.sent_by.filter((r): r is number => r !== null)) };
  return receivedOf.rows;
}

const lastOfStep = (store: Store, row: number): boolean => store.run.rows.step[row + 1] !== store.run.rows.step[row];

function arrow(drawing: SVGElement, d: string, cls: string): void {
  drawing.append(svg("path", { class: `arrow ${cls}`, d }));
  // The head points where the last piece of the way goes.
  const end = endOf(d);
  if (end) drawing.append(svg("path", { class: `head ${cls}`, d: `M${end.x} ${end.y}l${-5 * end.dx} -3.5v7z` }));
}

/** The point where a way of M, H, V, h, v ends, and whether it comes from the left or the right. */
function endOf(d: string): { x: number; y: number; dx: number } | null {
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
