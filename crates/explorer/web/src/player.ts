// The player: where we are, and the whole run as lanes.

import { $, el, replace, svg } from "./dom";
import { type Run, goesOn } from "./run";
import { size } from "./sizes";
import { isSame, type Store } from "./store";

/** Above this many steps the run is drawn on a canvas. */
const DRAWN = 400;

/** The lanes of a long run, painted once. */
let painted: { run: Run; width: number; theme: string; length: number; canvas: HTMLCanvasElement } | null = null;

function paint(store: Store, width: number, height: number, theme: string, x: (step: number) => number, order: Map<number, number>, laneHeight: number) {
  const canvas = document.createElement("canvas");
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  const { step, pid } = store.run;
  if (pen) {
    pen.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colours = [0, 1, 2, 3].map((i) => style.getPropertyValue(`--p${i}`).trim());
    // Each column of pixels of a lane is painted once, however many steps it stands for.
    const done = new Map<number, number>();
    for (let row = 0; row < step.length; row++) {
      const lane = order.get(pid[row]) ?? 0;
      const left = Math.floor(x(step[row] - 1) * scale);
      if (done.get(lane) === left) continue;
      done.set(lane, left);
      pen.fillStyle = colours[pid[row] % 4];
      pen.fillRect(left / scale, 3 + lane * laneHeight, Math.max(1 / scale, x(1) - x(0)), laneHeight - 4);
    }
  }
  return { run: store.run, width, theme, length: store.run.length, canvas };
}

/** The lanes of a long run, for the width that the timeline has. */
function lanesOf(store: Store): HTMLCanvasElement {
  const { width, height } = size("timeline");
  const { run } = store;
  const theme = document.documentElement.dataset.theme ?? "";
  if (painted && painted.width === width && painted.theme === theme) {
    // A few more steps of a long run move what is painted by less than one sees.
    const unseen = goesOn(run, painted.run) && (run.length - painted.length) * width < run.length / 2;
    if (unseen) painted.run = run;
    if (painted.run === run) return painted.canvas;
  }
  const lanes = Math.min(run.processes.length, 8);
  const order = new Map(run.processes.map((p, i) => [p.pid, i % 8]));
  painted = paint(store, width, height, theme, (step) => 6 + ((width - 12) * step) / Math.max(1, run.length), order, Math.min(13, (height - 18) / Math.max(1, lanes)));
  return painted.canvas;
}

/** Paints the lanes before they are shown. */
export function preparePlayer(store: Store): void {
  if (store.run.length > DRAWN) lanesOf(store);
}

export function drawPlayer(store: Store): void {
  const length = store.run.length;
  replace($("where"), el("b", {}, `Step ${store.place.at.toLocaleString("en-US")}`), el("span", { class: "dim" }, `of ${length.toLocaleString("en-US")}`));
  const timeline = $("timeline");
  timeline.setAttribute("aria-valuemin", "0");
  timeline.setAttribute("aria-valuemax", String(length));
  timeline.setAttribute("aria-valuenow", String(store.place.at));
  timeline.setAttribute("aria-valuetext", `step ${store.place.at} of ${length}`);
  const { width, height } = size("timeline");
  const lanes = Math.min(store.run.processes.length, 8);
  const laneHeight = Math.min(13, (height - 18) / Math.max(1, lanes));
  const order = new Map(store.run.processes.map((p, i) => [p.pid, i % 8]));
  const x = (step: number) => 6 + ((width - 12) * step) / Math.max(1, length);
  const rows = store.run;
  if (length > DRAWN) {
    const canvas = lanesOf(store);
    const line = el("div", { class: "here-line" });
    line.style.transform = `translateX(${x(store.place.at) - 1}px)`;
    // What comes later is pale.
    const veil = el("div", { class: "veil" });
    veil.style.transform = `translateX(${x(store.place.at) + 1}px)`;
    veil.style.width = `${Math.max(0, x(length) - x(store.place.at))}px`;
    const marks = [...store.bookmarks].map((mark) => {
      const flag = el("div", { class: "flag" });
      flag.style.transform = `translateX(${x(mark) - 3}px)`;
      return flag;
    });
    const scale = svg("svg", { width, height, "aria-hidden": true, class: "over" });
    if (store.cycle > 0) scale.append(svg("path", { class: "bracket", d: `M${x(length - store.cycle)} ${height - 20}v4H${x(length)}v-4` }));
    branchesOf(scale, store, height, x);
    ticksOf(scale, store, width, height, x);
    marks.push(scale as unknown as HTMLElement);
    marks.push(veil);
    replace(timeline, canvas, ...marks, line);
    return;
  }
  const drawing = svg("svg", { width, height, "aria-hidden": true });
  for (let lane = 0; lane < lanes; lane++) drawing.append(svg("line", { class: "axis", x1: x(0), x2: x(length), y1: 3 + lane * laneHeight + (laneHeight - 4) / 2, y2: 3 + lane * laneHeight + (laneHeight - 4) / 2 }));
  const gap = x(1) - x(0) > 8 ? 2 : 0;
  let last = 0;
  for (let row = 0; row < rows.count; row++) {
    const step = rows.step[row];
    if (step === last) continue;
    last = step;
    const lane = order.get(rows.pid[row]) ?? 0;
    const wrong = step === length && store.run.ending.kind === "violation" && rows.pid[rows.count - 1] === rows.pid[row];
    drawing.append(svg("rect", { class: `made ${wrong ? "wrong" : `p${rows.pid[row] % 4}`} ${step > store.place.at ? "future" : ""}`, x: x(step - 1) + gap, y: 3 + lane * laneHeight, width: Math.max(1, x(step) - x(step - 1) - 2 * gap), height: Math.max(3, laneHeight - 5), rx: gap }));
  }
  if (store.cycle > 0) {
    const from = length - store.cycle;
    drawing.append(svg("path", { class: "bracket", d: `M${x(from)} ${height - 20}v4H${x(length)}v-4` }));
  }
  branchesOf(drawing, store, height, x);
  for (const mark of store.bookmarks) drawing.append(svg("path", { class: "bookmark", d: `M${x(mark) - 3} 0h6v8l-3 -3l-3 3z` }));
  drawing.append(svg("line", { class: "here", x1: x(store.place.at), x2: x(store.place.at), y1: 0, y2: height - 14 }));
  ticksOf(drawing, store, width, height, x);
  replace(timeline, drawing as unknown as Node);
}

/** Futures that were left: each a line from the step where it was, which leads there again. */
function branchesOf(drawing: SVGElement, store: Store, height: number, x: (step: number) => number): void {
  const { length } = store.run;
  const { moves } = store.place;
  for (const branch of store.branches.slice(-8)) {
    if (isSame(branch.moves, moves)) continue;
    const [from, to] = [x(Math.min(branch.at, length)), x(Math.min(Math.max(branch.moves.length, branch.at + 1), length))];
    const [line, knot] = [svg("line", { class: "left-behind", x1: from, x2: Math.max(to, from + 10), y1: height - 16, y2: height - 16 }), svg("circle", { class: "branch", cx: from, cy: height - 16, r: 4 })];
    const title = svg("title");
    title.textContent = `A run of ${branch.moves.length.toLocaleString("en-US")} steps that was left after step ${branch.at}: go back to it`;
    const group = svg("g", { class: "way-back" }, title, line, knot);
    // The timeline itself would take the pointer.
    group.addEventListener("pointerdown", (event) => event.stopPropagation());
    group.addEventListener("click", () => void store.goBackTo(branch));
    drawing.append(group);
  }
}

/** Numbers of steps, at round ones. */
function ticksOf(drawing: SVGElement, store: Store, width: number, height: number, x: (step: number) => number): void {
  const length = store.run.length;
  const least = Math.max(1, length / Math.max(1, Math.floor(width / 70)));
  const power = 10 ** Math.floor(Math.log10(least));
  const every = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least) ?? least);
  for (let step = 0; step <= length; step += every) {
    const anchor = step === 0 ? "start" : x(step) > width - 30 ? "end" : "middle";
    const text = svg("text", { class: `tick ${step === store.place.at ? "at" : ""}`, x: step === 0 ? 0 : x(step), y: height - 2, "text-anchor": anchor });
    text.textContent = step === 0 ? "start" : step.toLocaleString("en-US");
    drawing.append(text);
  }
}

/** The step under a place of the timeline. */
export function stepAt(store: Store, clientX: number): number {
  const box = $("timeline").getBoundingClientRect();
  return Math.round(Math.max(0, Math.min(1, (clientX - box.left - 6) / (box.width - 12))) * store.run.length);
}
