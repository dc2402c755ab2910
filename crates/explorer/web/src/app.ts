// The page: one store, one drawing of what changed, keys.

import { takeToken } from "./api";
import { drawChart, drawColumns, revealStep, toggleStatements } from "./chart";
import { $, el, replace } from "./dom";
import { drawBecause, drawHeadline, drawNext, drawNotice, drawSource, drawState } from "./panes";
import { drawPlayer, stepAt } from "./player";
import { parse } from "./position";
import { Store } from "./store";

const KEYS: [string, string][] = [
  ["← →  h l", "a step back, a step on"],
  ["Shift ← →", "by single statements"],
  ["↑ ↓  k j", "previous, next step of the same process"],
  ["Home End", "first, last"],
  ["1 … 9", "take that next step"],
  ["Backspace", "undo (also the browser's back)"],
  ["n", "the violation that a check found"],
  ["b", "bookmark this step"],
  ["e", "effects or statements"],
  ["r", "random walk of 100 steps"],
  ["g", "go to a step"],
  ["/", "filter variables"],
  ["c", "check, or stop checking"],
  ["t", "light or dark"],
  ["[ ]", "previous, next view on narrow windows"],
  ["?", "this list"],
];

const store = new Store((what) => {
  if (what === "place") {
    drawHeadline(store);
    drawColumns(store);
    revealStep(store);
    drawChart(store);
    drawSource(store);
    drawState(store);
    drawNext(store);
    drawBecause(store);
    drawPlayer(store);
    drawNotice(store);
  } else if (what === "rows") {
    drawChart(store);
    drawBecause(store);
  } else {
    drawNotice(store);
    if (store.run) {
      drawHeadline(store);
      // The line of statistics may have another width now.
      drawPlayer(store);
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

async function randomWalk(): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const choices = store.next?.choices ?? [];
    if (choices.length === 0) return;
    await store.take(choices[Math.floor(Math.random() * choices.length)].move);
  }
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
  drawColumns(store);
  drawChart(store);
}

function showKeys(): void {
  const dialog = $("keys") as HTMLDialogElement;
  replace(dialog, el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)])), el("button", { class: "button", onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
}

function goTo(): void {
  const dialog = $("keys") as HTMLDialogElement;
  const input = el("input", { type: "number", min: 0, max: store.run.length, value: store.place.at, "aria-label": "Step" }) as HTMLInputElement;
  const go = () => { dialog.close(); void store.go(Number(input.value)); };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  replace(dialog, el("h2", {}, "Go to step"), input, el("button", { class: "button", onclick: go }, "Go"));
  dialog.showModal();
  input.select();
}

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
    case "n": { const found = store.progress?.violations.find((v) => v.position); if (found) void store.follow(found.position as string, found.cycle); return true; }
    case "b": store.bookmarks.has(at) ? store.bookmarks.delete(at) : store.bookmarks.add(at); drawPlayer(store); return true;
    case "e": toggleStatements(); $("effects").setAttribute("aria-pressed", String($("effects").getAttribute("aria-pressed") !== "true")); drawChart(store); return true;
    case "r": void randomWalk(); return true;
    case "g": goTo(); return true;
    case "c": void store.check(); return true;
    case "t": theme(); return true;
    case "/": $("filter").focus(); return true;
    case "?": showKeys(); return true;
    case "Escape": store.say(null); return true;
    case "[": case "]": {
      const views = ["chart", "source", "state", "next"];
      const now = views.indexOf((document.querySelector("main") as HTMLElement).dataset.view ?? "chart");
      view(views[(now + (event.key === "]" ? 1 : 3)) % 4]);
      return true;
    }
  }
  if (/^[1-9]$/.test(event.key)) {
    const choice = store.next?.choices[Number(event.key) - 1];
    if (choice) void store.take(choice.move);
    return true;
  }
  return false;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ($("keys") as HTMLDialogElement).open) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (key(event)) event.preventDefault();
});
document.querySelectorAll<HTMLElement>("[data-key]").forEach((b) => b.addEventListener("click", () => key({ key: b.dataset.key ?? "" })));
document.querySelectorAll<HTMLElement>("nav .tab").forEach((tab) => tab.addEventListener("click", () => view(tab.dataset.view ?? "chart")));
$("help").addEventListener("click", showKeys);
$("theme").addEventListener("click", theme);
$("check").addEventListener("click", () => void store.check());
$("effects").addEventListener("click", () => key({ key: "e" }));
$("filter").addEventListener("input", () => drawState(store));
$("copy").addEventListener("click", () => {
  const command = `quotient explore ${store.info.file} --at '${store.path}' --step ${store.place.at}`;
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
addEventListener("resize", () => { if (store.run) { drawColumns(store); drawChart(store); drawPlayer(store); } });
addEventListener("popstate", (event) => {
  const kept = event.state as { path: string | null; at: number } | null;
  if (kept) void store.stand({ moves: kept.path === null ? store.place.moves : parse(kept.path), at: kept.at, row: null }, "keep");
});

// An address with a token that is opened in this tab again.
addEventListener("hashchange", () => takeToken());

const said = takeToken();
void store.start(said).then(async () => {
  $("file").textContent = store.info.file;
  replace($("defines"), ...store.info.defines.map(([n, v]) => el("span", { class: "chip" }, `${n}=${v}`)));
  await store.poll();
  document.documentElement.dataset.ready = "true";
}, (error: Error) => store.say(error.message));
