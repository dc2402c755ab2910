// The source: which process stands where, the lines of this step, how often each line was executed. Only lines in sight are in the page.

import { $, Kept, badge, el } from "./dom";
import { type Run, file as fileOf, goesOn, line as lineOf } from "./run";
import { size } from "./sizes";
import type { Store } from "./store";
import type { Standing } from "./types";

/** The height of a line, and about how wide a character is. */
const LINE = 20;
const CHARACTER = 7.3;
const MARGIN = 200;
/** What stands before the code: who stands there, and the number. */
const BEFORE = 96;

const KEYWORDS = new Set(
  ("active proctype init if fi do od atomic d_step unless goto break skip assert printf byte bool bit int short chan mtype typedef inline ltl never run else timeout eval " +
    "system record extends function thread loc when return throw try catch virtual lock enum const " +
    "process state trans commit assert sync effect guard channel async property " +
    "while for switch case default static void struct return char unsigned long double float union class public private template typename auto new delete namespace using continue sizeof").split(" "),
);

const TOKEN = /(\/\/.*$|\/\*.*?\*\/|\/\*.*$|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*)/g;

/** For each line: does it begin inside of a comment? */
function commented(lines: string[]): boolean[] {
  let inside = false;
  return lines.map((line) => {
    const begins = inside;
    const end = inside ? line.indexOf("*/") : -2;
    if (end === -1) return begins;
    // The last comment that is opened behind it, if it is not closed.
    const rest = line.slice(end + 2).match(TOKEN) ?? [];
    const last = rest[rest.length - 1] ?? "";
    inside = last.startsWith("/*") && !last.slice(2).endsWith("*/");
    return begins;
  });
}

/** A line of source with keywords and comments set apart; `inside`: it begins in a comment. */
function lineParts(text: string, inside: boolean): Node[] {
  const parts: Node[] = [];
  const pattern = new RegExp(TOKEN);
  let last = 0;
  if (inside) {
    const end = text.indexOf("*/");
    last = pattern.lastIndex = end < 0 ? text.length : end + 2;
    parts.push(el("span", { class: "comment" }, text.slice(0, last)));
  }
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (match.index > last) parts.push(document.createTextNode(text.slice(last, match.index)));
    const word = match[0];
    const kind = word.startsWith("//") || word.startsWith("/*") ? "comment" : KEYWORDS.has(word) ? "keyword" : null;
    parts.push(kind ? el("span", { class: kind }, word) : document.createTextNode(word));
    last = match.index + word.length;
  }
  parts.push(document.createTextNode(text.slice(last)));
  return parts;
}

/** Badges of those who stand at a line, as many as there is room for. */
function whoStands(there: Standing[], room: number): HTMLElement[] {
  if (there.length <= room) return there.map((p) => badge(p.pid, p.name));
  const more = there.slice(room - 1);
  return [...there.slice(0, room - 1).map((p) => badge(p.pid, p.name)), el("span", { class: "badge more", title: more.map((p) => p.name).join(", ") }, `+${more.length}`)];
}

/** How often lines of a file were executed up to some row. */
let counted: { run: Run; file: number; here: number; times: Int32Array } | null = null;

/** The lines of a file, and how long the longest is. */
let split: { text: string; lines: string[]; inside: boolean[]; longest: number } = { text: "", lines: [], inside: [], longest: 0 };

/** How many files have been split: says which file a line belongs to. */
let splits = 0;

/** How far the source is scrolled to the right, as far as is known without asking the browser. */
let scrolledRight = 0;
export function scrolledAcross(): void {
  scrolledRight = $("source").scrollLeft;
}

/** The lines in the page. */
let shown: { inner: HTMLElement; kept: Kept } | null = null;
function linesOf(pane: HTMLElement): { inner: HTMLElement; kept: Kept } {
  if (shown) return shown;
  const inner = pane.appendChild(el("div", { class: "text-of" }));
  shown = { inner, kept: new Kept(inner) };
  return shown;
}

let sourceOf = -1;
let ofCheck = false;

/** What the counts are of: this run, or the last check. */
export function toggleCounting(): void {
  ofCheck = !ofCheck;
}

function times(store: Store, file: number, here: number): Int32Array {
  const run = store.run;
  // Counted on from where the page stood before: a run may be long.
  if (counted?.file === file && goesOn(run, counted.run)) counted.run = run;
  if (counted?.run !== run || counted.file !== file) counted = { run, file, here: 0, times: new Int32Array(split.lines.length + 2) };
  const { times } = counted;
  for (; counted.here < here; counted.here++) if (fileOf(run, counted.here) === file) times[lineOf(run, counted.here)]++;
  for (; counted.here > here; counted.here--) if (fileOf(run, counted.here - 1) === file) times[lineOf(run, counted.here - 1)]--;
  return times;
}

/** The file that is shown: the one that was asked for, or that of the step. */
function shownFile(store: Store, here: number): number {
  const { run, place, revealed } = store;
  if (revealed !== null) return revealed.file;
  if (here > 0 && run.step[here - 1] === place.at) return fileOf(run, here - 1);
  return place.at === 0 ? store.state?.processes[0]?.file ?? 0 : 0;
}

/** Draws the lines in sight: where somebody `scrolled` to, or where the page stands; `top` is how far it is scrolled, from who knows it. */
export function drawSource(store: Store, scrolled = false, top = $("source").scrollTop): void {
  const pane = $("source");
  const run = store.run;
  const here = store.state?.row ?? 0;
  const file = shownFile(store, here);
  const source = store.info.sources[file];
  const text = (source?.text ?? "").replace(/\t/g, "    ");
  if (split.text !== text) {
    const lines = text.split("\n");
    split = { text, lines, inside: commented(lines), longest: lines.reduce((most, l) => Math.max(most, l.length), 0) };
    splits++;
    counted = null;
  }
  const counts = times(store, file, here);
  const now = new Set<number>();
  for (let row = here - 1; row >= 0 && run.step[row] === store.place.at; row--) if (fileOf(run, row) === file) now.add(lineOf(run, row));
  const atEnd = store.place.at === run.length;
  const failing = atEnd && run.ending.kind === "violation" && run.count > 0 && fileOf(run, run.count - 1) === file ? lineOf(run, run.count - 1) : -1;
  const note = failing > 0 && run.ending.failed ? `${run.ending.failed.values} is false` : null;
  const covered = new Map((store.progress?.covered ?? []).filter((c) => c.file === source?.name).map((c) => [c.line, c.times]));
  const check = ofCheck && covered.size > 0;
  const several = store.info.sources.filter((s) => s.text !== "").length > 1;
  $("source-name").textContent = several ? (source?.name ?? "").replace(/^.*\//, "") : "";
  const button = $("counting");
  button.hidden = covered.size === 0;
  button.setAttribute("aria-pressed", String(check));
  $("counted").textContent = several ? (check ? "in the last check" : "in this run") : check ? "times executed in the last check" : "times executed in this run";
  const at = (line: number) => 6 + (line - 1) * LINE + (note !== null && line > failing ? LINE : 0);
  const height = at(split.lines.length) + LINE + 6;
  const standing = new Map<number, Standing[]>();
  for (const p of store.state?.processes ?? []) if (p.file === file && !p.ended) standing.set(p.line, [...(standing.get(p.line) ?? []), p]);
  const above = scrolled ? top : reveal(pane, store, [...now], failing, at, sourceOf !== file, height, top);
  sourceOf = file;
  const seen = size("source").height;
  // A line that goes on beyond the pane says so.
  const right = size("source").width + scrolledRight - BEFORE;
  const first = Math.max(1, Math.floor((above - MARGIN) / LINE));
  const last = Math.min(split.lines.length, Math.ceil((above + seen + MARGIN) / LINE));
  const out: [string, () => HTMLElement][] = [];
  for (let line = first; line <= last; line++) {
    const count = check ? covered.get(line) : counts[line] || undefined;
    const never = !check && count === undefined && covered.get(line) === 0;
    const said = never || count === 0 ? el("span", { class: "times never" }, " never executed") : count ? el("span", { class: "times" }, ` ×${count.toLocaleString("en-US")}`) : null;
    const style = `line ${line === failing ? "fails" : now.has(line) ? "now" : ""} ${line === store.revealed?.line ? "revealed" : ""}`;
    const there = standing.get(line) ?? [];
    const cut = (split.lines[line - 1].length + (said?.textContent?.length ?? 0)) * CHARACTER > right + 2;
    out.push([`${splits} ${cut} ${line} ${at(line)} ${style} ${said?.textContent ?? ""} ${there.map((p) => p.name).join(" ")}`, () => {
      const element = el("div", { class: style, "data-line": line,
          onclick: (event: MouseEvent) => goToLine(store, file, line, event.shiftKey) },
        el("span", { class: "who" }, ...whoStands(there, store.info.program ? 2 : 3)),
        el("span", { class: "no" }, line),
        el("span", { class: "code" }, ...lineParts(split.lines[line - 1], split.inside[line - 1]), said),
        cut ? el("button", { class: "cut", tabindex: -1, "aria-hidden": true, title: "The end of this line", onclick: (event: MouseEvent) => { event.stopPropagation(); pane.scrollLeft = BEFORE + split.lines[line - 1].length * CHARACTER + 40 - size("source").width; } }, "…") : null);
      element.style.transform = `translateY(${at(line)}px)`;
      return element;
    }]);
    if (line === failing && note !== null) out.push([`note ${at(line)} ${note}`, () => {
      const below = el("div", { class: "note" }, note);
      below.style.transform = `translateY(${at(line) + LINE}px)`;
      below.style.paddingLeft = `${BEFORE + (split.lines[line - 1].length - split.lines[line - 1].trimStart().length) * CHARACTER}px`;
      return below;
    }]);
  }
  const { inner, kept } = linesOf(pane);
  inner.style.height = `${height}px`;
  inner.style.minWidth = `${Math.round(110 + (split.longest + 12) * CHARACTER)}px`;
  kept.draw(out);
  if (!scrolled) revealAcross(store);
}

/** Brings the line of this step into sight, or the one that was asked for; says how far the source is scrolled then. */
function reveal(pane: HTMLElement, store: Store, now: number[], failing: number, at: (line: number) => number, other: boolean, height: number, scrolled: number): number {
  // The height is what lines need: before it is set, nothing could be scrolled to.
  const { inner } = linesOf(pane);
  if (inner.style.height !== `${height}px`) inner.style.height = `${height}px`;
  if (other) pane.scrollTop = scrolled = 0;
  const line = store.revealed?.line ?? (failing > 0 ? failing : Math.min(...now));
  if (!Number.isFinite(line)) return scrolled;
  const top = at(line);
  const seen = size("source").height;
  if (top >= scrolled + 20 && top <= scrolled + seen - 60) return scrolled;
  const wanted = Math.max(0, top - seen / 2);
  if (wanted === scrolled) return scrolled;
  pane.scrollTop = wanted;
  return pane.scrollTop;
}

/** The statement that was brought into sight last, and how far to the right the source was scrolled for it. */
let across = { of: "", left: 0 };

/** Of a line that is longer than the pane is wide, brings the statement of this step into sight, once it is known. */
export function revealAcross(store: Store): void {
  const row = (store.state?.row ?? 0) - 1;
  const made = store.run.step[row] === store.place.at && fileOf(store.run, row) === sourceOf;
  const text = made ? store.statement(row)?.text : "";
  const of = `${store.asked}|${row}|${splits}`;
  if (text === undefined || across.of === of) return;
  // As it is written, with any spaces.
  const signs = [...text.replace(/\s+/g, "")].slice(0, 200).map((sign) => sign.replace(/[^\w]/g, "\\$&"));
  const found = new RegExp(signs.join("\\s*")).exec(split.lines[lineOf(store.run, row) - 1] ?? "");
  const { width } = size("source");
  const begin = BEFORE + (found?.index ?? 0) * CHARACTER;
  const end = begin + (found?.[0].length ?? 0) * CHARACTER + 16;
  // What begins in sight is left there: the beginnings of all other lines would be lost for its end.
  const left = begin + 4 * CHARACTER > width ? Math.max(0, Math.round(Math.min(end - width, begin - BEFORE - 8))) : 0;
  if (left !== across.left) {
    $("source").scrollLeft = left;
    scrolledAcross();
    drawSource(store, true);
  }
  across = { of, left };
}

/** The next time (or the last, backwards) that this run executes a line. */
function goToLine(store: Store, file: number, line: number, back: boolean): void {
  const run = store.run;
  const here = store.state?.row ?? 0;
  const fits = (row: number) => fileOf(run, row) === file && lineOf(run, row) === line;
  let found = -1;
  if (back) { for (let row = here - 2; row >= 0; row--) if (fits(row)) { found = row; break; } }
  else for (let row = here; row < run.count; row++) if (fits(row)) { found = row; break; }
  if (found >= 0) void store.go(run.step[found]);
  else store.say(back ? `Line ${line} is not executed before here.` : `Line ${line} is not executed after here in this run.`);
}
