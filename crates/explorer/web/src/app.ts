// The page: one store, one drawing of what changed, keys.

import { drawChart, drawColumns, revealStep, toggleFolding, toggleStatements } from "./chart";
import { drawCheck, options } from "./check";
import { drawCompare } from "./compare";
import { $, el, replace } from "./dom";
import { drawGraph } from "./graph";
import { drawHeap } from "./heap";
import { compare, drawBecause, drawHeadline, drawNext, drawNotice, drawSource, drawState, drawWatches, nextViolation } from "./panes";
import { drawPlayer, stepAt } from "./player";
import { parse } from "./position";
import { drawReductions } from "./reductions";
import { Store, type Tab } from "./store";
import { asText } from "./text";
import * as api from "./api";

const KEYS: [string, string][] = [
  ["← →  h l", "a step back, a step on"],
  ["Shift ← →", "by single statements"],
  ["↑ ↓  k j", "previous, next step of the same process"],
  ["Home End", "first, last"],
  ["1 … 9", "take that next step"],
  ["Backspace", "undo (also the browser's back)"],
  ["n N", "next, previous violation that a check found"],
  ["b", "bookmark this step"],
  ["x", "compare with the run that was left, or with the nearest one that passes"],
  ["w", "watch an expression"],
  ["/", "find a process, variable, statement or line; Shift+Enter backwards"],
  ["e", "effects or statements"],
  ["f", "fold what is repeated"],
  ["r", "random walk of 100 steps"],
  ["c", "check, or stop checking"],
  ["g", "go to a step"],
  ["[ ]", "previous, next view"],
  ["t", "light or dark"],
  ["Alt t", "the picture as text"],
  ["?", "this list"],
  ["Esc", "close, or stop"],
];

const centre = $("centre");

/** Draws what the centre shows. */
function drawCentre(): void {
  const comparing = store.tab === "chart" && store.other !== null;
  for (const id of ["columns", "chart", "folding", "effects"]) $(id).hidden = store.tab !== "chart" || comparing;
  centre.hidden = store.tab === "chart" && !comparing;
  document.querySelectorAll<HTMLElement>("#tabs .tab").forEach((tab) => {
    tab.setAttribute("aria-selected", String(tab.dataset.tab === store.tab));
    tab.hidden = !tabs().includes(tab.dataset.tab as Tab);
  });
  const failed = (error: Error) => store.say(error.message);
  if (comparing) void drawCompare(store, centre).catch(failed);
  else if (store.tab === "heap") void drawHeap(store, centre).catch(failed);
  else if (store.tab === "graph") void drawGraph(store, centre).catch(failed);
  else if (store.tab === "reductions") void drawReductions(store, centre).catch(failed);
  else if (store.tab === "check") drawCheck(store, centre);
  else {
    drawColumns(store);
    drawChart(store);
  }
}

const store = new Store((what) => {
  if (what === "place") {
    drawHeadline(store);
    drawColumns(store);
    drawBecause(store);
    revealStep(store);
    drawSource(store);
    drawState(store);
    drawNext(store);
    drawPlayer(store);
    drawNotice(store);
    drawCentre();
  } else if (what === "rows") {
    const height = $("chart").clientHeight;
    drawBecause(store);
    // What is said below the chart takes room from it: where the page stands stays in sight.
    if ($("chart").clientHeight !== height) revealStep(store);
    if (store.tab === "chart" && !store.other) drawChart(store);
  } else if (what === "watches") {
    drawWatches(store);
  } else if (what === "tab") {
    drawCentre();
  } else if (what === "line") {
    if (matchMedia("(max-width: 1180px)").matches) view("source");
    drawSource(store);
  } else {
    drawNotice(store);
    if (store.run) {
      drawHeadline(store);
      // The line of statistics may have another width now.
      drawPlayer(store);
      if (what === "progress" && !store.progress?.running) drawSource(store);
      if (store.tab === "check" && what === "progress") drawCheck(store, centre);
    }
  }
});

function sameProcess(direction: 1 | -1): void {
  const rows = store.run.rows;
  const at = store.place.at;
  const pid = rows.pid[rows.step.indexOf(Math.max(1, at))];
  for (let step = at + direction; step >= 1 && step <= store.run.length; step += direction) {
    if (rows.pid[rows.step.indexOf(step)] === pid) return void store.go(step);
  }
}

function statementStep(direction: 1 | -1): void {
  const rows = store.run.rows;
  const row = Math.max(0, Math.min(rows.step.length, (store.state?.row ?? 0) + direction));
  if (row === 0) return void store.go(0);
  const step = rows.step[row - 1];
  const whole = rows.step[row] !== step;
  void store.go(step, whole ? null : row);
}

function theme(): void {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  drawPlayer(store);
}

function view(name: string): void {
  (document.querySelector("main") as HTMLElement).dataset.view = name;
  document.querySelectorAll<HTMLElement>("nav .tab").forEach((tab) => tab.setAttribute("aria-selected", String(tab.dataset.view === name)));
  drawCentre();
  if (name === "source") drawSource(store);
}

/** The views that there are: a program has no states that could be listed. */
const tabs = (): Tab[] => (store.info.program ? ["chart", "check"] : ["chart", ...(store.info.has_objects ? ["heap" as Tab] : []), "graph", "reductions", "check"]);

/** The previous or next view: of the centre, and on narrow windows the panes before it. */
function turn(direction: 1 | -1): void {
  if (matchMedia("(max-width: 760px)").matches) {
    const views = ["chart", "source", "state", "next"];
    const now = views.indexOf((document.querySelector("main") as HTMLElement).dataset.view ?? "chart");
    return view(views[(now + direction + views.length) % views.length]);
  }
  const all = tabs();
  store.show(all[(all.indexOf(store.tab) + direction + all.length) % all.length]);
}

function showKeys(): void {
  const dialog = $("keys") as HTMLDialogElement;
  replace(dialog, el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)])), el("button", { class: "button", onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
}

/** The picture in the centre as text. */
async function showText(): Promise<void> {
  const dialog = $("keys") as HTMLDialogElement;
  const lines = await asText(store);
  replace(dialog, el("h2", {}, "The picture as text"), el("ol", { class: "as-text", tabindex: 0 }, ...lines.map((line) => el("li", {}, line))), el("button", { class: "button", onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
}

/** The run as a file. */
function exportRun(): void {
  const dialog = $("keys") as HTMLDialogElement;
  const save = (format: "svg" | "mermaid", name: string, type: string) => async () => {
    dialog.close();
    try {
      const { text } = await api.drawn(store.path, format);
      const address = URL.createObjectURL(new Blob([text], { type }));
      el("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      store.say((error as Error).message);
    }
  };
  replace(dialog, el("h2", {}, "Export this run"),
    el("div", { class: "exports" },
      el("button", { class: "button", onclick: save("svg", "run.svg", "image/svg+xml") }, "Chart as SVG"),
      el("button", { class: "button", onclick: save("mermaid", "run.mmd", "text/plain") }, "Chart for Mermaid"),
      el("button", { class: "button quiet", onclick: () => dialog.close() }, "Close")));
  dialog.showModal();
}

/** Asks for a line of text. */
function ask(title: string, first: string, hint: string, use: (text: string, shift: boolean) => void, type = "text"): void {
  const dialog = $("keys") as HTMLDialogElement;
  const input = el("input", { type, value: first, placeholder: hint, "aria-label": title, autocomplete: "off", spellcheck: "false" }) as HTMLInputElement;
  const go = (shift: boolean) => { dialog.close(); use(input.value, shift); };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); go(event.shiftKey); } });
  replace(dialog, el("h2", {}, title), input, el("button", { class: "button", onclick: () => go(false) }, "Go"));
  dialog.showModal();
  input.select();
}

let looked = "";
function find(): void {
  ask("Find in this run", looked, "process, variable, statement, line", (text, back) => {
    looked = text.trim();
    if (looked) void store.find(looked, back).catch((error: Error) => store.say(error.message));
  });
}

const watch = () => ask("Watch an expression", "", "an expression of the model's language", (text) => void store.watch(text.trim()));

function key(event: { key: string; shiftKey?: boolean }): boolean {
  const { at } = store.place;
  switch (event.key) {
    case "ArrowLeft": case "h": event.shiftKey ? statementStep(-1) : void store.go(at - 1); return true;
    case "ArrowRight": case "l": event.shiftKey ? statementStep(1) : void store.go(at + 1); return true;
    case "ArrowUp": case "k": sameProcess(-1); return true;
    case "ArrowDown": case "j": sameProcess(1); return true;
    case "Home": void store.go(0); return true;
    case "End": void store.go(store.run.length); return true;
    case "Backspace": history.back(); return true;
    case "n": nextViolation(store, 1); return true;
    case "N": nextViolation(store, -1); return true;
    case "x": compare(store); return true;
    case "w": watch(); return true;
    case "f": $("folding").setAttribute("aria-pressed", String(toggleFolding())); drawCentre(); return true;
    case "b": store.bookmarks.has(at) ? store.bookmarks.delete(at) : store.bookmarks.add(at); drawPlayer(store); return true;
    case "e": toggleStatements(); $("effects").setAttribute("aria-pressed", String($("effects").getAttribute("aria-pressed") !== "true")); drawCentre(); return true;
    case "r": void store.randomWalk().catch((error: Error) => store.say(error.message)); return true;
    case "g": ask("Go to step", String(at), "", (text) => void store.go(Number(text)), "number"); return true;
    case "c": void store.check(options()); return true;
    case "t": theme(); return true;
    case "/": find(); return true;
    case "?": showKeys(); return true;
    case "Escape": if (store.progress?.running && !store.message) void store.check(); else if (store.other) store.endCompare(); else store.say(null); return true;
    case "[": turn(-1); return true;
    case "]": turn(1); return true;
  }
  if (/^[1-9]$/.test(event.key)) {
    const choice = store.next?.choices[Number(event.key) - 1];
    if (choice) void store.take(choice.move);
    return true;
  }
  return false;
}

document.addEventListener("keydown", (event) => {
  if (event.altKey && event.key.toLowerCase() === "t" && store.run) {
    event.preventDefault();
    return void showText().catch((error: Error) => store.say(error.message));
  }
  if (event.ctrlKey || event.metaKey || event.altKey || ($("keys") as HTMLDialogElement).open) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  // Enter and the space bar belong to the button that has the focus.
  if (store.run && key(event)) event.preventDefault();
});
document.querySelectorAll<HTMLElement>("[data-key]").forEach((b) => b.addEventListener("click", () => key({ key: b.dataset.key ?? "" })));
document.querySelectorAll<HTMLElement>("nav .tab").forEach((tab) => tab.addEventListener("click", () => view(tab.dataset.view ?? "chart")));
$("export").addEventListener("click", exportRun);
$("help").addEventListener("click", showKeys);
$("theme").addEventListener("click", theme);
$("check").addEventListener("click", () => store.show("check"));
$("folding").addEventListener("click", () => key({ key: "f" }));
$("watch").addEventListener("click", watch);
document.querySelectorAll<HTMLElement>("#tabs .tab").forEach((tab) => tab.addEventListener("click", () => store.show(tab.dataset.tab as Tab)));
$("effects").addEventListener("click", () => key({ key: "e" }));
$("filter").addEventListener("input", () => drawState(store));
$("copy").addEventListener("click", () => {
  const program = store.info.program;
  const command = `quotient explore ${store.info.model} --at '${store.path}${program?.cells ?? ""}' --step ${store.place.at}${program?.behind ?? ""}`;
  void navigator.clipboard.writeText(`${location.href}\n${command}`).then(() => store.say(`Copied the address and: ${command}`), () => store.say(command));
});
$("chart").addEventListener("scroll", () => requestAnimationFrame(() => drawChart(store)));
$("timeline").addEventListener("pointerdown", (event) => {
  const timeline = $("timeline");
  timeline.setPointerCapture(event.pointerId);
  const move = (e: PointerEvent) => { const step = stepAt(store, e.clientX); if (step !== store.place.at) void store.stand({ ...store.place, at: step, row: null }, "replace"); };
  move(event);
  timeline.addEventListener("pointermove", move);
  timeline.addEventListener("pointerup", () => timeline.removeEventListener("pointermove", move), { once: true });
});
addEventListener("resize", () => { if (store.run) { drawCentre(); drawPlayer(store); } });
addEventListener("popstate", (event) => {
  const kept = event.state as { path: string | null; at: number } | null;
  if (kept) void store.stand({ moves: kept.path === null ? store.place.moves : parse(kept.path), at: kept.at, row: null }, "keep");
});

// An address with a token that is opened in this tab again.
addEventListener("hashchange", () => api.takeToken());

// The columns are divided as the user likes it.
document.querySelectorAll<HTMLElement>(".divider").forEach((divider, index) => {
  const main = document.querySelector("main") as HTMLElement;
  const shares = [27, 46, 27];
  const now = () => (main.style.gridTemplateColumns ? main.style.gridTemplateColumns.split(" ").map((s) => Number.parseFloat(s)) : shares);
  const move = (by: number) => {
    const next = now();
    const total = next[index] + next[index + 1];
    next[index] = Math.max(14, Math.min(total - 14, next[index] + by));
    next[index + 1] = total - next[index];
    main.style.gridTemplateColumns = next.map((s) => `${s}fr`).join(" ");
    divider.setAttribute("aria-valuenow", String(Math.round(next[index])));
    drawCentre();
    drawPlayer(store);
  };
  divider.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.stopPropagation();
    event.preventDefault();
    move(event.key === "ArrowLeft" ? -2 : 2);
  });
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    let last = event.clientX;
    const drag = (e: PointerEvent) => { move(((e.clientX - last) * 100) / main.clientWidth); last = e.clientX; };
    divider.addEventListener("pointermove", drag);
    divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", drag), { once: true });
  });
});

const said = api.takeToken();
void store.start(said).then(async () => {
  $("file").textContent = store.info.file;
  $("watching").hidden = store.info.program !== undefined;
  replace($("defines"), ...store.info.defines.map(([n, v]) => el("span", { class: "chip" }, `${n}=${v}`)));
  await store.poll();
  setInterval(() => { if (!document.hidden) void store.lookForEdits(); }, 2000);
  document.documentElement.dataset.ready = "true";
}, (error: Error) => store.say(error.message));
