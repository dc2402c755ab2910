// The chart: a row for each statement, a column for each process. Only rows in sight are in the page; lines are one drawing.

import { $, Kept, badge, called, el, numberOf, replace, svg } from "./dom";
import { type Fold, around, folds } from "./fold";
import { size } from "./sizes";
import { type Run, firstOf, goesOn, kind, lastOf, partner, sender, source } from "./run";
import type { Store } from "./store";
import type { Frame, Statement, Value } from "./types";

const ROW = 30;
const GAP = 6;
const LEFT = 52;
const NARROWEST = 170;
const LANE = 22;
/** About how wide a character is. */
const CHARACTER = 7.3;
/** From the middle of a row to its lower edge. */
const EDGE = 13;

export let showStatements = false;
export function toggleStatements(): void {
  showStatements = !showStatements;
}

/** Where rows are: for each its upper edge, and the folds that hide some. Made once for a run; with folds, once for a place. */
interface Layout { run: Run; keep: number; opened: number; top: Float64Array; fold: Map<number, Fold>; hidden: Uint8Array }
let made: Layout | null = null;
let folding = false;
/** What can be folded in a run. */
let foldsOf: { run: Run; list: Fold[] } | null = null;
/** Folds that were opened by a click, by their first row; the count tells that it changed. */
let openedOf: Run | null = null;
let opened = new Set<number>();

export function toggleFolding(): boolean {
  folding = !folding;
  made = null;
  opened = new Set();
  return folding;
}

/** The folds that are shown where the page stands. */
function shownFolds(store: Store): Fold[] {
  const { run, place } = store;
  if (foldsOf?.run !== run) foldsOf = { run, list: folds(run) };
  const [from, to] = place.at > 0 ? [firstOf(run, place.at), lastOf(run, place.at) + 1] : [-1, -1];
  return foldsOf.list.flatMap((f) => (opened.has(f.from) ? [] : from >= f.from && from < f.to ? around(f, from, to) : [f])).filter((f) => !opened.has(f.from));
}

function layout(store: Store): Layout {
  const run = store.run;
  if (openedOf !== run) [openedOf, opened] = [run, new Set()];
  const keep = folding ? store.place.at : 0;
  if (made && made.run === run && made.keep === keep && made.opened === opened.size) return made;
  const { count, step } = run;
  const list = folding ? shownFolds(store) : [];
  const fold = new Map(list.map((f) => [f.from, f]));
  const top = new Float64Array(count + 1);
  const hidden = new Uint8Array(count);
  for (const f of list) hidden.fill(1, f.from, f.to);
  // Of a run that goes on from the last one, without folds, what is new.
  const known = list.length === 0 && made?.fold.size === 0 && goesOn(run, made.run) ? made.top : null;
  if (known) top.set(known);
  let at = known ? known[known.length - 1] : 8;
  for (let row = known ? known.length - 1 : 0; row < count; row++) {
    if (row > 0 && step[row] !== step[row - 1] && !hidden[row - 1]) at += GAP;
    top[row] = at;
    // A fold is one row, that of its first statement.
    if (!hidden[row] || fold.has(row)) at += ROW;
  }
  top[count] = at;
  made = { run, keep, opened: opened.size, top, fold, hidden };
  return made;
}

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
export const label = (s: Statement): Node[] => (showStatements ? [document.createTextNode(s.text)] : effect(s));

/** What a statement does, or would do. */
export function effect(s: Pick<Statement, "text" | "events" | "reads" | "writes"> & { stack?: Frame[] }): Node[] {
  const stack = s.stack ?? [];
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
      const woken = event.kind.startsWith("notify") && event.threads ? (event.threads.length > 0 ? `, wakes ${event.threads.map(called).join(", ")}` : stack.length > 0 ? ", wakes nobody" : "") : "";
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
  return [text(s.text, stack.length > 0 ? undefined : "dim")];
}

/** A statement in words: "receives data(0, 0) from forth". */
function aloud(s: Statement): string {
  const event = s.events[0];
  if (event?.kind === "send") return `sends ${message(event.message ?? [])} to ${event.channel}`;
  if (event?.kind === "receive") return `receives ${message(event.message ?? [])} from ${event.channel}`;
  const writes = s.writes.filter((w) => w.before !== null && w.after !== null);
  if (event === undefined && writes.length > 0) return writes.slice(0, 3).map((w) => `${w.name} from ${w.before?.text} to ${w.after?.text}`).join(", ");
  return effect(s).map((n) => n.textContent).join("");
}

export function drawColumns(store: Store): void {
  const { x, lanes } = columns(store, size("chart").width);
  const heads = store.run.processes.map((p) => {
    const head = el("div", { class: "column" }, badge(p.pid, p.name), lanes ? null : el("span", {}, p.name.replace(/\(\d+\)$/, "")));
    head.style.left = `${x(p.pid) - 9}px`;
    return head;
  });
  replace($("columns"), ...heads);
}

/** Draws the rows in sight; `scrolled` is given by who knows it: to ask for it makes the browser lay out what was changed before. */
export function drawChart(store: Store, scrolled = $("chart").scrollTop): void {
  const chart = $("chart");
  const run = store.run;
  const { count, step: stepOf } = run;
  const { width, height: seen } = size("chart");
  const { x, lanes, text } = columns(store, width);
  const { top: tops, fold, hidden } = layout(store);
  const height = count === 0 ? 36 : tops[count] + 12 + (atEnd(store) ? waiters(store).length * WAIT + 16 : 0);
  // Only what is in sight, and a little more, is in the page: rows, and one drawing of that height.
  const above = Math.max(0, Math.min(scrolled, height) - MARGIN);
  const below = Math.min(height, scrolled + seen + MARGIN);
  const first = Math.max(0, rowAt(tops, above) - 1);
  const to = Math.min(count, rowAt(tops, below));
  const drawing = svg("svg", { class: "lines", width, height: Math.max(1, below - above), viewBox: `0 ${above} ${width} ${Math.max(1, below - above)}`, "aria-hidden": true });
  drawing.style.transform = `translateY(${above}px)`;
  const within = (y: number) => Math.max(above - 20, Math.min(below + 20, y));
  // A line begins where its thread is started and ends with it, with a cap.
  const { from: begins, to: ends } = lives(run);
  for (const p of run.processes) {
    const [begin, end] = [begins.get(p.pid), ends.get(p.pid)];
    const [y1, y2] = [begin === undefined ? 0 : tops[begin] + ROW / 2 + EDGE, end === undefined ? height : tops[end] + ROW / 2 + 9];
    if (y2 < above || y1 > below) continue;
    drawing.append(svg("line", { class: "life", x1: x(p.pid), x2: x(p.pid), y1: within(y1), y2: within(y2) }));
    for (const [row, at] of [[begin, y1], [end, y2]] as const) if (row !== undefined) drawing.append(svg("line", { class: "life", x1: x(p.pid) - 6, x2: x(p.pid) + 6, y1: at, y2: at }));
  }
  // A lock is a bar along its holder's line, as long as it is held.
  for (const lock of run.locks) {
    const end = lock.to ?? count - 1;
    if (end < first || lock.from >= to) continue;
    const [y1, y2] = [tops[lock.from] + ROW / 2, lock.to === null ? height - 12 : tops[end] + ROW / 2];
    const bar = svg("rect", { class: `holds p${lock.pid % 4}`, x: x(lock.pid) - 3, y: within(y1), width: 6, height: Math.max(6, within(y2) - within(y1)), rx: 3 });
    const title = svg("title");
    title.textContent = `${lock.object} is held`;
    bar.append(title);
    drawing.append(bar);
  }
  const here = store.state?.row ?? 0;
  const elements: [string, () => HTMLElement][] = [];
  const all = `${numberOf(run)} ${width} ${lanes} ${showStatements}`;
  const again = (step: number) => store.cycle > 0 && step > run.length - store.cycle;
  const name = (pid: number) => run.processes.find((p) => p.pid === pid)?.name ?? `process ${pid}`;
  // Where several have one name, the number stays with it.
  const base = (pid: number) => name(pid).replace(/\(\d+\)$/, "");
  const unique = (pid: number) => run.processes.filter((p) => p.name.replace(/\(\d+\)$/, "") === base(pid)).length === 1;
  const shortly = new Map(lanes ? run.processes.map((p) => [p.pid, unique(p.pid) ? base(p.pid) : store.info.program ? `${called(p.pid)} ${p.name}` : p.name]) : []);
  for (let row = first; row < to; row++) {
    const step = stepOf[row];
    const pid = run.pid[row];
    const folded = fold.get(row);
    if (folded) {
      elements.push([`fold ${row} ${folded.to} ${tops[row]} ${all}`, () => {
        const label = el("button", { class: "fold", onclick: () => { opened.add(folded.from); drawChart(store); } }, `⋯ ${folded.said}`);
        label.style.transform = `translateY(${tops[row]}px)`;
        label.style.left = `${LEFT + 28}px`;
        return label;
      }]);
    }
    if (hidden[row]) continue;
    const what = kind(run, row);
    const now = step === store.place.at;
    const future = row >= here;
    const fails = what === "fails" || what === "race" || (row === count - 1 && run.ending.kind === "violation");
    const s = store.statement(row);
    const style = `row ${now ? "now" : ""} ${future ? "future" : ""} ${fails && !future ? "fails" : ""} ${again(step) ? "again" : ""}`;
    elements.push([`${row} ${style} ${tops[row]} ${s !== null} ${all}`, () => {
      const number = el("span", { class: "number" }, row === 0 || stepOf[row - 1] !== step ? step : "");
      const said = el("span", { class: "said" }, lanes ? el("b", { class: `who p${pid % 4}` }, `${shortly.get(pid) ?? name(pid)} `) : null, ...(s ? label(s) : [el("span", { class: "dim" }, "…")]), fails && s?.failed ? el("span", { class: "values" }, s.failed.values) : null, s?.saw ? el("span", { class: "tag", title: s.saw }, "an older write") : null);
      // At the right of its dot; at the left of it, if there is room only there.
      const needed = (said.textContent?.length ?? 0) * CHARACTER + (s?.saw ? 30 : 0) + (fails && s?.failed ? 18 : 0);
      const [before, behind] = [x(pid) - 14 - LEFT, width - x(pid) - 18];
      if (!lanes && needed > behind && before > behind) {
        said.classList.add("before");
        said.style.left = `${LEFT}px`;
        said.style.right = `${width - x(pid) + 14}px`;
      } else said.style.left = `${lanes ? text : x(pid) + 14}px`;
      said.setAttribute("role", "gridcell");
      const element = el(
        "div",
        { class: style, role: "row",
          "aria-label": s ? `step ${step}, ${name(pid)}, ${aloud(s)}${fails ? ", goes wrong" : ""}` : undefined, "aria-rowindex": row + 1, "aria-current": now ? "step" : undefined, "data-row": row, title: s?.text,
          onclick: () => void store.go(step, row === lastOf(run, step) ? null : row + 1) },
        number,
        said,
      );
      element.style.transform = `translateY(${tops[row]}px)`;
      return element;
    }]);
    const cy = tops[row] + ROW / 2;
    const cls = `p${pid % 4} ${future ? "future" : ""}`;
    if (fails) drawing.append(svg("circle", { class: "dot wrong", cx: x(pid), cy, r: 7 }), svg("path", { class: "cross", d: `M${x(pid) - 2.5} ${cy - 2.5}l5 5m0 -5l-5 5` }));
    else drawing.append(svg("circle", { class: `dot ${cls}`, cx: x(pid), cy, r: what === "quiet" ? 2.5 : 4.5 }));
    if (what === "send" && !received(run)[row]) drawing.append(svg("path", { class: `arrow ${cls}`, d: `M${x(pid)} ${cy + 5}V${cy + ROW / 2 + 1}h16` }), svg("circle", { class: `ring ${cls}`, cx: x(pid) + 20, cy: cy + ROW / 2 + 1, r: 3.5 }));
    const other = partner(run, row);
    // Along the lower edge of the row, so that the text stays readable.
    if (other !== null) arrow(drawing, `M${x(pid)} ${cy + 5}V${cy + EDGE}H${x(other) + (x(other) > x(pid) ? -6 : 6)}`, cls);
    if (what === "lock" || what === "unlock") drawing.append(svg("rect", { class: `lock ${cls}`, x: x(pid) - 6, y: cy - 6, width: 12, height: 12, rx: 2 }));
    if (what === "timeout") drawing.append(svg("path", { class: "clock", d: `M${x(pid)} ${cy - 3}v3h3` }));
    const sent = sender(run, row);
    if (sent !== null) {
      const fromX = x(run.pid[sent]);
      const toX = x(pid);
      const side = fromX <= toX ? -9 : 9;
      const sy = tops[sent] + ROW / 2;
      const lower = sy + ROW / 2 + 1;
      const way = fromX === toX
        ? `M${fromX} ${sy + 5}h-9V${cy}h3`
        : `M${fromX} ${sy + 5}V${lower}H${toX + side}V${cy}h${-side / 9 * 3}`;
      arrow(drawing, way, `p${run.pid[sent] % 4} ${future ? "future" : ""}`);
    }
  }
  // The two accesses of a race are joined; they are the last rows.
  const race = count > 1 && kind(run, count - 2) === "race" ? count - 2 : -1;
  if (race >= 0 && race < to) {
    const [ax, ay, bx, by] = [x(run.pid[race]), tops[race] + ROW / 2, x(run.pid[race + 1]), tops[race + 1] + ROW / 2];
    // Past the texts, which stand at the right of their dots.
    drawing.append(svg("path", { class: "race", d: ax < bx ? `M${ax} ${ay + 7}V${by}H${bx - 7}` : `M${ax - 7} ${ay}H${bx}V${by - 7}` }));
  }
  // What the read of this step saw.
  if (store.info.program && store.place.at > 0) {
    const row = firstOf(run, store.place.at);
    const write = source(run, row);
    if (write !== null && row >= first && row < to && run.pid[write] !== run.pid[row]) {
      const [ax, ay, bx, by] = [x(run.pid[write]), tops[write] + ROW / 2, x(run.pid[row]), tops[row] + ROW / 2];
      const side = ax < bx ? -8 : 8;
      drawing.append(svg("path", { class: "saw", d: `M${ax} ${ay}C${ax} ${by} ${bx + 4 * side} ${by} ${bx + side} ${by}` }), svg("path", { class: "head saw", d: `M${bx + side / 1.6} ${by}l${side} -4v8z` }));
    }
  }
  const waits = atEnd(store) ? waiters(store) : [];
  waits.forEach((wait, index) => {
    const at = tops[count] + 24 + index * WAIT;
    const [ax, bx] = [x(wait.pid), x(wait.holder)];
    const side = ax < bx ? -1 : 1;
    drawing.append(svg("line", { class: `waits ${wait.lock ? "wrong" : ""}`, x1: ax - side * 6, y1: at, x2: bx + side * 9, y2: at }), svg("path", { class: `tip ${wait.lock ? "wrong" : ""}`, d: `M${bx + side * 5} ${at}l${side * 8} -4v8z` }));
    elements.push([`waits ${wait.pid} ${wait.said} ${at} ${all}`, () => {
      const said = el("span", { class: `waiting ${wait.lock ? "wrong" : ""}` }, lanes ? el("b", {}, `${shortly.get(wait.pid) ?? name(wait.pid)} `) : null, wait.said);
      said.style.transform = `translateY(${lanes ? at - 9 : at - 20}px)`;
      said.style.left = `${lanes ? text - 3 : ax + 12}px`;
      return said;
    }]);
  });
  if (store.cycle > 0 && store.cycle <= run.length) {
    const start = firstOf(run, run.length - store.cycle + 1);
    const a = tops[start] + 4;
    const b = tops[count - 1] + ROW - 4;
    if (b >= above && a <= below) arrow(drawing, `M14 ${within(b)}H6V${within(a)}H12`, "again");
  }
  elements.unshift([`drawing ${++drawings}`, () => drawing as unknown as HTMLElement]);
  const nothing = run.ending.kind === "not run" ? "The steps are shown when the program has been run." : "No step has been taken. Choose what happens next, or press 1.";
  if (count === 0) elements.push([nothing, () => el("p", { class: "empty" }, nothing)]);
  if (!rows) {
    const inner = el("div", { class: "rows" });
    rows = { inner, kept: new Kept(inner) };
    replace(chart, inner);
  }
  rows.inner.style.height = `${height}px`;
  rows.kept.draw(elements);
}

/** The rows in the page, and how many drawings of lines there have been. */
let rows: { inner: HTMLElement; kept: Kept } | null = null;
let drawings = 0;

/** Rows are drawn this far beyond what is in sight. */
const MARGIN = 240;

/** Who waits for whom where the run ends, as far as a holder is known. */
function waiters(store: Store): { pid: number; holder: number; said: string; lock: boolean }[] {
  if (store.next?.choices.length !== 0 || store.next.over) return [];
  return store.next.waiting.flatMap((w) => (w.ended ? [] : w.statements.filter((s) => s.holder !== null && s.holder !== w.pid).slice(0, 1).map((s) => ({ pid: w.pid, holder: s.holder as number, said: s.since ? `waits for ${s.object}` : s.object === null ? `waits: ${s.text}` : `waits to ${s.text}`, lock: Boolean(s.since) || s.object === null }))));
}
const atEnd = (store: Store): boolean => store.place.at === store.run.length;
const WAIT = 24;

/** What is made once for a run, in parts: each is quick enough to be a task of its own. */
export const prepareChart: ((store: Store) => void)[] = [(store) => void layout(store), (store) => void lives(store.run), (store) => void received(store.run)];

/** Where threads are started and end in a run. */
let livesOf: { run: Run; from: Map<number, number>; to: Map<number, number> } | null = null;
function lives(run: Run): { from: Map<number, number>; to: Map<number, number> } {
  if (livesOf?.run === run) return livesOf;
  const known = goesOn(run, livesOf?.run) ? livesOf : null;
  const [from, to] = [new Map(known?.from), new Map(known?.to)];
  for (let row = known?.run.count ?? 0; row < run.count; row++) {
    const what = kind(run, row);
    const other = what === "start" ? partner(run, row) : null;
    if (other !== null && !from.has(other)) from.set(other, row);
    if (what === "end") to.set(run.pid[row], row);
    // A number may be given to another process later.
    else if (to.size > 0 && to.has(run.pid[row])) to.delete(run.pid[row]);
  }
  livesOf = { run, from, to };
  return livesOf;
}

/** Rows whose message is received later in the run. */
let receivedOf: { run: Run; rows: Uint8Array } | null = null;
function received(run: Run): Uint8Array {
  if (receivedOf?.run === run) return receivedOf.rows;
  const rows = new Uint8Array(run.count);
  const known = goesOn(run, receivedOf?.run) ? receivedOf : null;
  if (known) rows.set(known.rows);
  for (let row = known?.run.count ?? 0; row < run.count; row++) {
    const sent = sender(run, row);
    if (sent !== null) rows[sent] = 1;
  }
  receivedOf = { run, rows };
  return rows;
}

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

/** Brings the current step into sight, and says how far the chart is scrolled then. */
export function revealStep(store: Store): number {
  const chart = $("chart");
  if (store.place.at === 0 || store.run.count === 0) {
    if (chart.scrollTop !== 0) chart.scrollTop = 0;
    return 0;
  }
  const { top: tops } = layout(store);
  const top = tops[lastOf(store.run, store.place.at)];
  const [scrolled, seen] = [chart.scrollTop, size("chart").height];
  const wanted = top < scrolled + 20 ? Math.max(0, top - 60) : top + ROW > scrolled + seen - 20 ? top + ROW - seen + 60 : null;
  if (wanted === null) return scrolled;
  // The height is what rows need: before it is set, nothing could be scrolled to.
  if (rows && Number.parseFloat(rows.inner.style.height) < tops[store.run.count] + 12) rows.inner.style.height = `${tops[store.run.count] + 12}px`;
  chart.scrollTop = wanted;
  return chart.scrollTop;
}
