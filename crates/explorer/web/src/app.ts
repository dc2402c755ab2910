// The page: one store, one drawing of what changed, keys.

import { drawChart, drawColumns, prepareChart, revealStep, toggleFolding, toggleStatements } from "./chart";
import { drawCheck, options } from "./check";
import { drawCompare } from "./compare";
import { $, el, replace } from "./dom";
import { drawGraph } from "./graph";
import { drawHeap } from "./heap";
import { compare, drawBecause, drawHeadline, drawNext, drawNotice, drawState, drawWatches, nextViolation } from "./panes";
import { drawPlayer, preparePlayer, stepAt } from "./player";
import { firstOf } from "./run";
import { drawReductions } from "./reductions";
import { forgetSizes, whenResized } from "./sizes";
import { drawSource, revealAcross, scrolledAcross, toggleCounting } from "./source";
import { MUCH, Store, type Tab, pause } from "./store";
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
function drawCentre(scrolled?: number): void {
  const comparing = store.tab === "chart" && store.other !== null;
  const away = store.tab !== "chart" || comparing;
  const back = $("chart").hidden && !away;
  if ($("chart").hidden !== away) forgetSizes();
  for (const id of ["columns", "chart", "folding", "effects"]) $(id).hidden = away;
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
    drawChart(store, scrolled ?? (back ? revealStep(store) : undefined));
  }
}

/** Draws everything. The first time, of a long run, in several tasks: nothing of the page's code is warm yet. */
async function drawPlace(): Promise<void> {
  const first = performance.getEntriesByName("first-picture").length === 0;
  // What has to know where it is scrolled to comes first, before anything is changed.
  const top = $("source").scrollTop;
  const scrolled = store.tab === "chart" && !store.other ? revealStep(store) : undefined;
  const parts = [() => drawHeadline(store), () => drawSource(store, false, top), () => drawCentre(scrolled), () => drawState(store), () => drawNext(store), () => drawPlayer(store), () => { drawBecause(store); drawNotice(store); }];
  for (const part of parts) {
    part();
    if (first && store.run.length > MUCH) await pause();
  }
  if (first) performance.mark("first-picture");
}

const store = new Store((what) => {
  if (what === "place") {
    return drawPlace();
  } else if (what === "rows") {
    drawBecause(store);
    revealAcross(store);
    // The statement that failed is known now.
    if (store.next?.over) drawNext(store);
    if (store.tab === "chart" && !store.other) drawChart(store);
  } else if (what === "watches") {
    drawWatches(store);
  } else if (what === "repeats") {
    drawState(store);
  } else if (what === "tab") {
    drawCentre();
    drawNotice(store);
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
      if (what === "progress" && store.tab === "check") drawCheck(store, centre);
      // What these say of symmetry and of stored states is known from a check.
      else if (what === "progress" && (store.tab === "reductions" || store.tab === "graph") && store.checked !== "") drawCentre();
    }
  }
});

store.prepare = [...prepareChart, preparePlayer];

function sameProcess(direction: 1 | -1): void {
  const run = store.run;
  const at = store.place.at;
  if (run.length === 0) return;
  const pid = run.pid[firstOf(run, Math.max(1, at))];
  for (let step = at + direction; step >= 1 && step <= run.length; step += direction) {
    if (run.pid[firstOf(run, step)] === pid) return void store.go(step);
  }
}

function statementStep(direction: 1 | -1): void {
  const run = store.run;
  const row = Math.max(0, Math.min(run.count, (store.state?.row ?? 0) + direction));
  if (row === 0) return void store.go(0);
  const step = run.step[row - 1];
  const whole = run.step[row] !== step;
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
  forgetSizes();
  document.querySelectorAll<HTMLElement>("nav .tab").forEach((tab) => tab.setAttribute("aria-selected", String(tab.dataset.view === name)));
  drawCentre(name === "chart" && store.tab === "chart" && !store.other ? revealStep(store) : undefined);
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
  const save = (format: "svg" | "mermaid" | "trace", name: string, type: string) => async () => {
    dialog.close();
    try {
      const { text } = await (format === "trace" ? api.trace(store.asked, store.cycle) : api.drawn(store.asked, format));
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
      store.info.has_trace ? el("button", { class: "button", onclick: save("trace", "run.json", "application/json"), title: "quotient explore run.json opens it again" }, "Run as a trace file") : null,
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
    // Typed fast, the key comes before the place that it is meant for has been told.
    store.whenKnown(() => {
      const choice = store.next?.choices[Number(event.key) - 1];
      if (choice) void store.take(choice.move);
    });
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
  const defines = program ? "" : store.info.defines.map(([n, v]) => ` -D ${n}=${v}`).join("");
  const sum = store.info.checksum === "" ? "" : `@${store.info.checksum}`;
  const command = `quotient explore ${store.info.model}${defines} --at '${store.path}${program?.cells ?? sum}' --step ${store.place.at}${program?.behind ?? ""}`;
  void navigator.clipboard.writeText(`${location.href}\n${command}`).then(() => store.say(`Copied the address and: ${command}`), () => store.say(command));
});
$("chart").addEventListener("scroll", () => requestAnimationFrame(() => { if (store.run) drawChart(store); }));
$("source").addEventListener("scroll", () => requestAnimationFrame(() => { scrolledAcross(); if (store.run) drawSource(store, true); }));
$("counting").addEventListener("click", () => { toggleCounting(); drawSource(store, true); });
$("timeline").addEventListener("pointerdown", (event) => {
  const timeline = $("timeline");
  timeline.setPointerCapture(event.pointerId);
  const move = (e: PointerEvent) => { const step = stepAt(store, e.clientX); if (step !== store.place.at) void store.stand({ ...store.place, at: step, row: null }, "replace"); };
  move(event);
  timeline.addEventListener("pointermove", move);
  timeline.addEventListener("pointerup", () => timeline.removeEventListener("pointermove", move), { once: true });
});
whenResized((id) => {
  if (!store.run) return;
  if (id === "timeline") drawPlayer(store);
  else if (id === "source") drawSource(store);
  else if (store.tab === "chart" && !store.other) {
    // What is said below the chart takes room from it: where the page stands stays in sight.
    drawColumns(store);
    drawChart(store, revealStep(store));
  }
});
addEventListener("resize", () => { forgetSizes(); if (store.run) { drawCentre(store.tab === "chart" && !store.other ? revealStep(store) : undefined); drawPlayer(store); } });
addEventListener("popstate", (event) => {
  const kept = event.state as { path: string; at: number } | null;
  if (kept) void store.back(kept);
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

// What was asked by a key or a click and has no answer is told; nothing waits for it.
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof api.Unanswered)) return;
  event.preventDefault();
  store.say(event.reason.message);
});

const said = api.takeToken();
void store.start(said).then(async () => {
  // Of a long path the end says most.
  const parts = store.info.file.split("/");
  $("file").textContent = store.info.file.length > (innerWidth < 760 ? 30 : 48) && parts.length > 1 ? `…/${parts[parts.length - 1]}` : store.info.file;
  $("file").title = store.info.file;
  replace($("defines"), ...store.info.defines.map(([n, v]) => el("span", { class: "chip" }, `${n}=${v}`)));
  await store.poll();
  setInterval(() => { if (!document.hidden) void store.lookForEdits(); }, 2000);
  document.documentElement.dataset.ready = "true";
}, (error: Error) => store.say(error.message));
