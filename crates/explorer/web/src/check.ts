// A check from the page: the options as a form that prints its command line, live numbers, the report.

import { $, el, replace, svg } from "./dom";
import type { Store } from "./store";
import type { Point, Progress } from "./types";

const number = (n: number): string => n.toLocaleString("en-US");

/** What the form says. */
const chosen: Record<string, string | boolean> = { search: "", por: "on", symmetry: "", raw: false, all: false, no_deadlock: false, safety: false, allow_races: false, max_time: "" };

const CHOICES: [string, string, [string, string][]][] = [
  ["search", "Search", [["", "as suits"], ["bfs", "breadth first"], ["dfs", "depth first"]]],
  ["por", "Partial order", [["on", "on"], ["si", "symmetric independence"], ["off", "off"]]],
  ["symmetry", "Symmetry", [["", "as found"], ["off", "off"], ["heap", "heap"], ["pc", "pc"], ["exact", "exact"]]],
];
/** The options of a C or C++ program. */
const THREADS: [string, string, [string, string][]][] = [["symmetry", "Symmetry", [["", "off"], ["costarted", "threads started alike"], ["dynamic", "dynamic"]]]];
const RACES: [string, string][] = [["allow_races", "Data races are allowed"]];

const SWITCHES: [string, string][] = [["raw", "No reductions of the program"], ["all", "All violations"], ["no_deadlock", "Deadlocks are allowed"], ["safety", "Claims are not checked"]];

const memory = (bytes: number): string => (bytes < 2 ** 30 ? `${Math.round(bytes / 2 ** 20)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`);

/** A time as one says it: `0.4 s`, `1 min 08 s`, `2 h 03 min`. */
export function time(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${two(Math.floor(seconds % 60))} s` : `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** The options that differ from the usual ones. */
export function options(): Record<string, string | boolean> {
  return Object.fromEntries(Object.entries(chosen).filter(([name, value]) => value !== "" && value !== false && !(name === "por" && value === "on")));
}

/** The definitions and options of an address: `N:5,por:off`. */
export function written(store: Store): string {
  const all = [...store.info.defines, ...Object.entries(options()).map(([name, value]) => [name, String(value)])];
  return all.map(([name, value]) => `${encodeURIComponent(name)}:${encodeURIComponent(value)}`).join(",");
}

/** Takes over the options of an address; says which of its definitions this model was not read with. */
export function takeOver(store: Store, text: string): string | null {
  const defines = new Map(store.info.defines);
  const other: string[] = [];
  for (const part of text.split(",").filter((p) => p !== "")) {
    const [name, value] = part.split(":").map(decodeURIComponent);
    if (name in chosen) chosen[name] = typeof chosen[name] === "boolean" ? value === "true" : value ?? "";
    else if (defines.get(name) !== value) other.push(`${name}=${value ?? ""}`);
  }
  return other.length === 0 ? null : `This address was made with ${other.join(", ")}; the model here was read without: start quotient explore with -D ${other.join(" -D ")}.`;
}

export function commandLine(store: Store): string {
  const words = Object.entries(options()).map(([name, value]) => (value === true ? `--${name.replace("_", "-")}` : `--${name.replace("_", "-")} ${value}`));
  if (store.info.program) return [store.info.program.check, ...words].join(" ");
  const defines = store.info.defines.map(([n, v]) => `-D ${n}=${v}`);
  return ["quotient check", store.info.model, ...defines, ...words].join(" ");
}

/** A small plot; the last value is said in words beside its name. */
function plot(name: string, said: string, points: { x: number; y: number }[], colour: number, rises = true): HTMLElement {
  const [width, height] = [220, 56];
  const [mx, my] = [Math.max(0.001, ...points.map((p) => p.x)), Math.max(1, ...points.map((p) => p.y))];
  // From the beginning: a line of one point is none.
  if (points.length > 0 && points[0].x > 0) points = [{ x: 0, y: rises ? 0 : points[0].y }, ...points];
  const line = points.map((p, i) => `${i === 0 ? "M" : "L"}${((p.x / mx) * width).toFixed(1)} ${(height - 2 - (p.y / my) * (height - 6)).toFixed(1)}`).join("");
  const drawing = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": true });
  if (points.length > 0) drawing.append(svg("path", { class: `area p${colour}`, d: `${line}L${((points[points.length - 1].x / mx) * width).toFixed(1)} ${height}L0 ${height}z` }), svg("path", { class: `curve p${colour}`, d: line }));
  return el("div", {}, el("div", { class: "plot-head" }, el("span", {}, name), el("b", {}, said)), drawing as unknown as Node);
}

function rates(points: Point[]): { x: number; y: number }[] {
  return points.map((p, i) => ({ x: p.seconds, y: (p.states - (points[i - 1]?.states ?? 0)) / Math.max(0.001, p.seconds - (points[i - 1]?.seconds ?? 0)) }));
}

export function drawCheck(store: Store, pane: HTMLElement): void {
  const progress = store.progress;
  const redraw = () => { ($("check-line") as HTMLElement).textContent = commandLine(store); };
  const program = store.info.program !== null;
  const counted = program ? "executions" : "states";
  const choices = (program ? THREADS : CHOICES).map(([name, label, values]) => {
    const select = el("select", { id: `option-${name}` }, ...values.map(([value, said]) => el("option", { value, selected: chosen[name] === value }, said))) as HTMLSelectElement;
    select.addEventListener("change", () => { chosen[name] = select.value; redraw(); store.rewriteAddress(); });
    return el("label", {}, el("span", {}, label), select);
  });
  const switches = (program ? RACES : SWITCHES).map(([name, label]) => {
    const box = el("input", { type: "checkbox", id: `option-${name}`, checked: chosen[name] === true }) as HTMLInputElement;
    box.addEventListener("change", () => { chosen[name] = box.checked; redraw(); store.rewriteAddress(); });
    return el("label", { class: "switch" }, box, label);
  });
  const limit = el("input", { id: "option-max_time", value: chosen.max_time, placeholder: "none", size: 8 }) as HTMLInputElement;
  limit.addEventListener("input", () => { chosen.max_time = limit.value.trim(); redraw(); store.rewriteAddress(); });
  const points = progress?.points ?? [];
  const last = points[points.length - 1];
  const running = progress?.running ?? false;
  const sentence = !progress?.asked ? "Not checked yet." : running ? `${time(progress.seconds)} · ${program ? `${number(progress.states)} executions` : `depth ${number(progress.depth)}`} · nothing wrong so far` : progress.verdict === "holds" ? `Holds: ${number(progress.states)} ${progress.states === 1 ? counted.slice(0, -1) : counted} in ${progress.seconds.toFixed(3)} s` : `${progress.verdict ?? ""} ${progress.message ?? ""} · ${number(progress.states)} ${counted} in ${progress.seconds.toFixed(3)} s`;
  const rate = rates(points);
  replace(pane,
    el("div", { class: "reading" },
      el("div", { class: "form" }, ...choices, el("label", {}, el("span", {}, "Time at most"), limit), ...switches),
      el("div", { class: "line-of-command" }, el("code", { id: "check-line" }, commandLine(store))),
      el("p", {}, el("button", { class: "button", id: "check-run", onclick: () => void store.check(options()) }, running ? "Stop" : "Check", " ", el("kbd", {}, running ? "Esc" : "c")), " ", el("span", { id: "check-said" }, sentence)),
      points.length < 3 && !running ? null : el("div", { class: "plots" },
        plot(program ? "Executions" : "States", number(progress?.states ?? 0), points.map((p) => ({ x: p.seconds, y: p.states })), 0),
        plot("Per second", number(Math.round(rate[rate.length - 1]?.y ?? 0)), rate, 2, false),
        ...(program ? [] : [plot("Waiting", number(last?.waiting ?? 0), points.map((p) => ({ x: p.seconds, y: p.waiting })), 1),
        plot(running ? "Memory" : "Memory at most", memory(Math.max(0, ...(running ? [last?.bytes ?? 0] : points.map((p) => p.bytes)))), points.map((p) => ({ x: p.seconds, y: p.bytes })), 3)])),
      shares(progress),
      progress?.report ? el("pre", { class: "report" }, ...linked(store, progress.report)) : null,
    ));
}

/** What each worker has done, where several work. */
function shares(progress: Progress | null): HTMLElement | null {
  const all = progress?.shares ?? [];
  const sum = all.reduce((a, b) => a + b, 0);
  if (all.length < 2 || sum === 0) return null;
  const bars = all.map((share, i) => {
    const bar = el("span", { class: `share p${i % 4}` });
    bar.style.width = `${(100 * share) / sum}%`;
    return bar;
  });
  const said = all.map((share, i) => `worker ${i + 1}: ${((100 * share) / sum).toFixed(0)} %`);
  return el("div", { class: "workers" }, el("div", { class: "plot-head" }, el("span", {}, "Workers' share of the states"), el("b", {}, said.join(", "))), el("div", { class: "shares", "aria-hidden": true }, ...bars));
}

/** The report with its places as links. */
function linked(store: Store, report: string): (Node | string)[] {
  const names = store.info.sources.flatMap(({ name }) => [name, name.split("/").pop() ?? name]).filter((name) => name !== "");
  if (names.length === 0) return [report];
  // The longer name first: the other is its end.
  const escaped = names.map((n) => n.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length).join("|");
  const pattern = new RegExp(`(${escaped}):(\\d+)`, "g");
  const out: (Node | string)[] = [];
  let from = 0;
  for (let match = pattern.exec(report); match; match = pattern.exec(report)) {
    out.push(report.slice(from, match.index));
    const [place, name, line] = match;
    out.push(el("button", { class: "step", onclick: () => store.reveal(Number(line), name) }, place));
    from = match.index + place.length;
  }
  return [...out, report.slice(from)];
}
