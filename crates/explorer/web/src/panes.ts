// Headline, state, what can happen next, because.

import { $, badge, el, replace, stepLink, svg } from "./dom";
import { effect } from "./chart";
import { time } from "./check";
import { cycles } from "./class";
import { firstOf } from "./run";
import type { Store, Watch } from "./store";
import type { Accessed, Frame, Leaf, Origin, Part, Violation, WaitingFor } from "./types";
import { drawWaits } from "./waits";

const number = (n: number): string => n.toLocaleString("en-US");
const counted = (n: number, what: string): string => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
/** Names in a sentence. */
const listed = (names: string[]): string => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names.join(""));
/** A place without its folders. */
const shortly = (at: string): string => at.replace(/^.*\//, "");

/** The parts of a sentence; values can be asked about. */
function said(store: Store, parts: Part[]): (Node | string)[] {
  return parts.map((part) =>
    part.code !== null ? el("code", {}, part.code)
      : part.value !== null ? el("button", { class: "value", title: "Where does it come from?", onclick: () => void store.because(part.full ?? "") }, part.value)
      : part.text ?? "");
}

/** What was found in this run, as the check says it. */
function foundHere(store: Store): string | null {
  const known = store.progress?.violations.find((v) => v.position !== null && store.isAt(v.position))?.message ?? null;
  return known ?? (store.isOpening ? store.info.opening.message : null);
}

export function drawHeadline(store: Store): void {
  const { ending, length } = store.run;
  const head = $("headline");
  const [h1, p] = [head.querySelector("h1") as HTMLElement, head.querySelector("p") as HTMLElement];
  // What a check found in this run, where the run itself does not say it: a formula, a claim.
  const message = ending.kind === "open" || ending.kind === "end" || store.cycle > 0 ? foundHere(store) : null;
  const bad = message !== null || ending.kind === "violation" || ending.kind === "deadlock" || ending.kind === "lost" || store.cycle > 0;
  head.dataset.kind = bad ? "bad" : ending.kind === "end" ? "good" : "open";
  (head.querySelector(".mark") as HTMLElement).textContent = bad ? "✕" : ending.kind === "end" ? "✓" : "▸";
  const steps = `${number(length)} ${length === 1 ? "step" : "steps"}`;
  if (store.cycle > 0 || message !== null) {
    // What was asked stands behind the colon.
    const [kind, asked = ""] = (message ?? "this run goes on for ever").split(/: (.*)/s);
    const [title, many] = [`${kind[0].toUpperCase()}${kind.slice(1)}`, store.cycle === 1 ? `step ${number(length)} repeats` : `steps ${number(length - store.cycle + 1)} to ${number(length)} repeat`];
    const how = store.cycle > 0 ? `${many} for ever` : ending.kind === "end" ? "the run ends here, and stays as it is" : length === 0 ? "that is certain at the start" : `that is certain after step ${number(length)}`;
    if (asked) replace(h1, el("code", {}, asked), ` does not hold: ${how}`);
    else replace(h1, `${title}: ${how}`);
    const after = store.cycle > 0 ? `a cycle of ${counted(store.cycle, "step")} after ${number(length - store.cycle)}` : length === 0 ? "before any step" : `after ${steps}`;
    const starved = store.cycle > 0 ? store.starved : null;
    const fair = !starved ? "" : starved.length > 0 ? `: ${listed(starved.map((s) => s.name))} could always move there and never ${starved.length > 1 ? "do" : "does"}, so with weak fairness this run does not count` : "; weak fairness would not rule this run out: nobody who could always move is left out";
    replace(p, asked ? `${title}, ${after}${fair}` : `${after[0].toUpperCase()}${after.slice(1)}${fair}`);
  } else if (ending.kind === "not run") {
    replace(h1, store.place.moves.length > 0 ? "The program has not been run to this place" : "The program has not been run");
    replace(p, "A C or C++ program is run by a click, never because an address was opened. Each step runs it again from its start.");
  } else if (ending.kind === "violation") {
    replace(h1, ...said(store, ending.parts));
    const what = ending.what ? ending.what[0].toUpperCase() + ending.what.slice(1) : ending.failed ? "Assertion violated" : "Violated";
    replace(p, `${what}${ending.at ? ` at ${shortly(ending.at)}` : ""}, after ${steps}`);
    p.title = ending.at ?? "";
  } else if (ending.kind === "deadlock") {
    replace(h1, ...(ending.parts.length > 0 ? ["Nobody can go on: ", ...said(store, ending.parts)] : ["Nobody can go on"]));
    replace(p, ending.parts.length > 0 ? `Deadlock after ${steps}` : `Deadlock after ${steps}: every ${store.info.program ? "thread" : "process"} waits for something that no other will do`);
  } else if (ending.kind === "lost") {
    replace(h1, ending.headline ?? "");
    replace(p, "The model has changed, or the address is of another model");
  } else if (ending.kind === "more") {
    replace(h1, ending.headline ?? "");
    replace(p, "The rest is being followed");
  } else if (ending.kind === "end") {
    replace(h1, store.info.program ? "The program has come to its end" : "Every process has come to its end");
    replace(p, `After ${steps}`);
  } else {
    replace(h1, length === 0 ? "The start of every run" : `A run of ${steps}`);
    const { progress } = store;
    const rest = store.info.program ? ". Each step runs the program again from its start" : "";
    const holds = progress?.asked && !progress.running && progress.verdict === "holds";
    replace(p, holds ? `Choose what happens next: whatever that is, a check has found nothing wrong (${counted(progress.states, store.info.program ? "execution" : "state")})${rest}`
      : progress?.running || progress?.violations.length ? `Choose what happens next${rest}` : `Choose what happens next, or let a check look for what goes wrong${rest}`);
  }
  const other = store.branches[store.branches.length - 1];
  const found = (store.progress?.violations ?? []).filter((v) => v.position);
  replace($("actions"),
    ending.kind === "not run" ? el("button", { class: "button first", id: "run-here", onclick: () => void store.runHere() }, store.place.moves.length > 0 ? "Run it to here" : "Run it") : null,
    found.length > 1 ? el("button", { class: "button", "data-do": "n", onclick: () => nextViolation(store, 1) }, "Next violation ", el("kbd", {}, "n")) : null,
    bad || other ? el("button", { class: "button", "data-do": "x", onclick: () => compare(store), "aria-label": store.other ? "Close the comparison" : "Compare" }, el("span", { class: "wide" }, store.other ? "Close" : "Compare"), el("span", { class: "slim", "aria-hidden": true }, "≠"), el("kbd", {}, "x")) : null);
  document.title = `${store.info.file} · step ${store.place.at} · Quotient`;
}

/** Goes to the next violation that a check found, or the one before. */
export function nextViolation(store: Store, direction: 1 | -1): void {
  const found = (store.progress?.violations ?? []).filter((v) => v.position);
  if (found.length === 0) return store.say("No check has found a violation.");
  const here = found.findIndex((v) => store.isAt(v.position as string) && store.place.at === store.run.length);
  const next = found[here < 0 ? (direction > 0 ? 0 : found.length - 1) : (here + direction + found.length) % found.length];
  void store.follow(next.position as string, next.cycle);
}

/** Compares with the run that was left last, or else with the nearest one that passes. */
export function compare(store: Store): void {
  if (store.other) return store.endCompare();
  const left = store.branches[store.branches.length - 1];
  if (store.tab !== "chart") store.show("chart");
  if (left) void store.compare(left.moves, "the run that was left last");
  else void store.comparePassing();
}

/** A line of ticks: tall where a value changed, short where it was written and stayed. */
function ticks(store: Store, full: string): SVGElement | null {
  const history = store.run.history?.[full];
  const total = store.run.count;
  const drawing = svg("svg", { class: "ticks", viewBox: "0 0 64 14", "aria-hidden": true });
  drawing.append(svg("line", { x1: 0, x2: 64, y1: 7, y2: 7, class: "axis" }));
  const x = (row: number) => 2 + (60 * (row + 1)) / Math.max(1, total);
  for (const [row, changed] of (history ?? []).slice(0, 200)) drawing.append(svg("line", { x1: x(row), x2: x(row), y1: changed ? 2 : 5, y2: changed ? 12 : 9, class: changed ? "tall" : "short" }));
  const here = x((store.state?.row ?? 0) - 1);
  drawing.append(svg("line", { x1: here, x2: here, y1: 0, y2: 14, class: "here" }));
  return drawing;
}

const groupKey = (leaf: Leaf): string => `${leaf.group.kind}:${leaf.group.pid ?? leaf.group.name ?? ""}`;

/** A name, whose owner is cut first where there is no room for both. */
function ownedName(store: Store, name: string): (Node | string)[] {
  const owner = store.state?.processes.find((p) => name.startsWith(`${p.name}.`));
  return owner ? [el("span", { class: "owner" }, `${owner.name}.`), el("span", {}, name.slice(owner.name.length + 1))] : [name];
}

export function drawState(store: Store): void {
  const state = store.state;
  if (!state) return;
  $("state-title").textContent = store.place.at === 0 ? "State at the start" : store.place.row !== null ? `State within step ${store.place.at}` : `State after step ${store.place.at}`;
  const wanted = ($("filter") as HTMLInputElement).value.trim().toLowerCase();
  const failed = new Set((store.place.at === store.run.length ? store.run.ending.reads : []).map((r) => r.full));
  const out: HTMLElement[] = [];
  const { repeat } = store;
  if (repeat && wanted === "") {
    const exchanged = cycles(repeat.renaming);
    out.push(el("p", { class: "again-here" }, "Same state as ", repeat.of === 0 ? null : "after ", stepLink(repeat.of, (s) => void store.go(s)), exchanged ? el("span", {}, ", with ", el("code", {}, exchanged)) : null));
  }
  const changed = state.leaves.filter((l) => l.before !== null);
  if (changed.length > 0 && wanted === "") {
    out.push(el("h3", {}, "Changed in this step"));
    for (const leaf of changed)
      out.push(el("div", { class: "change" }, el("code", {}, leaf.full), el("span", { class: "grow" }), el("s", {}, empty(leaf.before ?? "")), el("span", { class: "dim" }, "→"), el("b", {}, empty(leaf.value.text))));
  }
  const one = (leaf: Leaf, full = false): HTMLElement =>
    el("div", { class: `leaf ${leaf.group.kind === "lock" ? "wide-value" : ""} ${failed.has(leaf.full) ? "hot" : leaf.before !== null ? "changed" : ""} ${leaf.unread ? "unread" : ""}`, "data-full": leaf.full },
      el("button", { class: "name code", title: `${leaf.full}: ${store.pins.has(leaf.full) ? "let it go from" : "keep it at"} the top`, "aria-pressed": String(store.pins.has(leaf.full)), onclick: () => { store.pins.has(leaf.full) ? store.pins.delete(leaf.full) : store.pins.add(leaf.full); drawState(store); } }, ...ownedName(store, full ? leaf.full : leaf.name), leaf.unread ? el("span", { class: "dim" }, " unread") : null),
      el("button", { class: "held", title: `${leaf.full} is ${leaf.value.text}. Where does it come from?`, onclick: () => void store.because(leaf.full) }, empty(leaf.value.text)),
      leaf.group.kind === "lock" ? null : (ticks(store, leaf.full) as unknown as Node),
      leaf.set ? stepLink(leaf.set.step, (s) => void store.go(s)) : el("span", { class: "dim right" }, "start"));
  const pinned = state.leaves.filter((l) => store.pins.has(l.full));
  if (pinned.length > 0 && wanted === "") out.push(el("h3", {}, "Pinned"), ...pinned.map((leaf) => one(leaf, true)));
  const groups = new Map<string, Leaf[]>();
  for (const leaf of state.leaves) {
    if (wanted && !leaf.full.toLowerCase().includes(wanted)) continue;
    const key = groupKey(leaf);
    groups.set(key, [...(groups.get(key) ?? []), leaf]);
  }
  for (const p of state.processes) {
    const key = `process:${p.pid}`;
    if (!groups.has(key) && !wanted) groups.set(key, []);
  }
  const rank = (key: string) => ["global", "channel", "lock", "process", "object"].indexOf(key.split(":")[0]);
  for (const [key, leaves] of [...groups].sort((a, b) => rank(a[0]) - rank(b[0]))) {
    const [kind, rest] = [key.split(":")[0], key.slice(key.indexOf(":") + 1)];
    const process = state.processes.find((p) => kind === "process" && p.pid === Number(rest));
    const title = kind === "global" ? (store.info.program ? "Memory that this run has named" : "Globals") : kind === "channel" ? "Channels" : kind === "lock" ? "Locks" : kind === "object" ? rest : process?.name ?? `process ${rest}`;
    const note = process?.ended ? "has ended" : process && process.line > 0 ? `line ${process.line}` : "";
    out.push(el("h3", {}, process ? badge(process.pid) : null, ` ${title} `, note ? el("span", { class: "dim" }, note) : null));
    if (process && process.stack.length > 0 && !process.ended) out.push(stackOf(store, process.stack));
    out.push(...leaves.map((leaf) => one(leaf)));
  }
  replace($("state"), ...out);
  drawWatches(store);
  drawDebug(store);
}

/** The command that stops a debugger here, for programs. */
function drawDebug(store: Store): void {
  const program = store.info.program;
  const pane = $("debug");
  pane.hidden = !program || store.run.length === 0;
  if (!program || store.run.length === 0) return;
  const line = `${program.again}'${store.path}${program.cells}' --gdb ${Math.min(store.place.at + 1, store.run.length)}${program.behind}`;
  replace(pane, el("span", { class: "dim" }, "in a debugger:"), el("code", { title: line }, line), el("button", { class: "button quiet small", onclick: () => void navigator.clipboard.writeText(line).then(() => store.say("Copied."), () => store.say(line)) }, "Copy"));
}

/** A stack, its outer functions folded. */
function stackOf(store: Store, frames: Frame[]): HTMLElement {
  const frame = (f: Frame) => el("div", { class: "frame" }, el("code", {}, f.function || "?"), " ", f.line > 0 ? el("button", { class: "step", onclick: () => store.reveal(f.line, f.file) }, `${f.file}:${f.line}`) : null);
  const [inner, ...outer] = frames;
  if (!inner) return el("div", { class: "frame dim" }, "outside of the program");
  return el("div", { class: "stack" }, frame(inner), outer.length > 0 ? el("details", {}, el("summary", {}, `called from ${outer[0].function || "?"}`), ...outer.map(frame)) : null);
}

/** Watched expressions, each with its value here and the steps at which it became another. */
export function drawWatches(store: Store): void {
  const one = (watch: Watch): HTMLElement => {
    const history = watch.said?.history ?? [];
    const total = store.run.count;
    const drawing = svg("svg", { class: "ticks", viewBox: "0 0 64 14", "aria-hidden": true });
    drawing.append(svg("line", { x1: 0, x2: 64, y1: 7, y2: 7, class: "axis" }));
    for (const [row] of history.slice(1, 200)) drawing.append(svg("line", { x1: 2 + (60 * row) / Math.max(1, total), x2: 2 + (60 * row) / Math.max(1, total), y1: 2, y2: 12, class: "tall" }));
    const last = [...history].reverse().find(([row]) => row > 0 && row <= (store.state?.row ?? 0));
    return el("div", { class: "leaf watch", "data-watch": watch.text },
      el("code", { class: "name", title: watch.text }, watch.text),
      el("span", { class: `held ${watch.wrong ? "wrong" : ""}` }, watch.wrong ?? watch.said?.value ?? "…"),
      watch.wrong ? null : (drawing as unknown as Node),
      el("span", { class: "right" }, last ? stepLink(store.run.step[last[0] - 1], (s) => void store.go(s)) : null, el("button", { class: "step", "aria-label": `No longer watch ${watch.text}`, onclick: () => store.unwatch(watch.text) }, "✕")));
  };
  replace($("watches"), ...store.watches.map(one));
}

const empty = (text: string): string => (text === "[]" ? "empty" : text);

/** Statements of a step behind its first one that are written out. */
const MOST_SAID = 2;

export function drawNext(store: Store): void {
  const next = store.next;
  if (!next) return;
  const out: HTMLElement[] = [];
  const atEnd = store.place.at === store.run.length;
  const ending = store.run.ending;
  if (!next.known) {
    $("next-note").textContent = "not known";
    return replace($("next"), el("p", { class: "empty" }, "Who can go on here is known when the program has been run to here."), el("button", { class: "button small", onclick: () => void store.stand({ ...store.place }, "replace") }, "Run it to here"));
  }
  $("next-note").textContent = next.over || (atEnd && ending.kind === "end") ? "the run ends here" : next.choices.length === 0 ? "nobody can go on" : "";
  if (next.over && ending.kind === "violation" && !store.info.program) {
    const last = store.run.count - 1;
    const pid = store.run.pid[last];
    const why = ending.failed ? `${ending.failed.values} is false` : (ending.message ?? "it goes wrong").replaceAll("`", "");
    out.push(el("div", { class: "way failed" }, badge(pid, store.run.processes.find((p) => p.pid === pid)?.name), el("code", {}, store.statement(last)?.text ?? ending.failed?.text ?? ""), el("span", { class: "tags" }, el("span", { class: "tag wrong" }, "failed")), el("div", { class: "why" }, `${why}: the run ends here`)));
  }
  next.choices.forEach((choice, index) => {
    const [first, ...more] = choice.statements;
    // What it would do, where the statement does not say it.
    const does = choice.statements.filter((s) => s.events.length > 0 || s.writes.length > 0).map((s) => effect(s)).filter((parts) => parts.length > 0);
    const said = does.map((parts) => parts.map((n) => n.textContent).join(""));
    const shown = said.length > 0 && said.join("; ") !== choice.statements.map((s) => s.text).join("; ");
    // Behind the last step of a lasso comes its first one, again.
    const again = store.cycle > 0 && atEnd && choice.move === store.place.moves[store.run.length - store.cycle];
    out.push(
      el("button", { class: `way can ${choice.taken ? "taken" : ""}`, onclick: () => void store.take(choice.move) },
        badge(choice.pid, choice.process),
        el("code", { title: more.length > MOST_SAID ? choice.statements.map((s) => s.text).join("; ") : undefined }, first?.text ?? "", more.length > 0 ? el("span", { class: "dim" }, `; ${more.slice(0, MOST_SAID).map((s) => s.text).join("; ")}${more.length > MOST_SAID ? ` and ${more.length - MOST_SAID} more statements` : ""}`) : null),
        el("span", { class: "tags" }, choice.violation ? el("span", { class: "tag wrong" }, "goes wrong") : null, choice.explored === false ? el("span", { class: "tag", title: "A check with partial order explores another step first; see Reductions" }, "later") : null, choice.taken ? el("span", { class: "tag" }, "this run") : again ? el("span", { class: "tag" }, "again") : null, index < 9 ? el("kbd", {}, index + 1) : null),
        shown ? el("span", { class: "does code" }, ...does.slice(0, 4).flatMap((parts, i) => [i > 0 ? "; " : "", ...parts]), does.length > 4 ? ` and ${does.length - 4} more` : null) : null,
      ),
    );
  });
  for (const waiting of next.waiting) {
    if (waiting.ended) {
      out.push(el("div", { class: "way" }, badge(waiting.pid, waiting.process), el("span", { class: "dim" }, "has ended"), el("span", {})));
      continue;
    }
    const why = (s: WaitingFor): (Node | string)[] => [s.why, ...(s.since ? ["; taken in ", stepLink(s.since, (n) => void store.go(n))] : []),
      ...s.reads.filter((r) => r.set).slice(0, 3).map((r) => el("span", {}, `; ${r.name} set in `, stepLink((r.set as { step: number }).step, (n) => void store.go(n)), " by ", badge((r.set as { pid: number }).pid)))];
    const tag = el("span", { class: "tags" }, el("span", { class: `tag ${waiting.valid_end ? "" : "amber"}` }, waiting.takes_part ? "takes part" : waiting.valid_end ? "may stay" : "waits"));
    // Each statement with its reason; those with one reason have it once.
    const reasons: { said: string; of: WaitingFor[] }[] = [];
    for (const s of waiting.statements) {
      const known = reasons.find((r) => r.said === s.why && s.reads.length === 0 && !s.since);
      if (known) known.of.push(s);
      else reasons.push({ said: s.why, of: [s] });
    }
    const statements = (of: WaitingFor[]) => el("code", {}, of.map((s) => s.text).join("  or  "));
    const ready = el("p", { class: "why" }, "ready for what another process offers");
    out.push(el("div", { class: "way waits" }, badge(waiting.pid, waiting.process),
      el("div", {}, ...(waiting.takes_part ? [statements(waiting.statements), ready] : reasons.flatMap((r) => [statements(r.of), el("p", { class: "why" }, ...why(r.of[0]))]))), tag));
  }
  const waits = drawWaits(store);
  if (waits) out.unshift(waits);
  if (atEnd && out.length === 0) out.push(el("p", { class: "empty" }, "The run ends here."));
  replace($("next"), ...out);
}

export function drawBecause(store: Store): void {
  const pane = $("because");
  const list = store.origins.for === store.asked ? store.origins.list : [];
  const accesses = store.place.at === store.run.length ? store.run.ending.accesses : [];
  // Under a weak memory model: which write the read of this step saw, and why it may.
  const saw = store.place.at > 0 ? store.statement(firstOf(store.run, store.place.at))?.saw : null;
  pane.hidden = list.length === 0 && accesses.length === 0 && !saw;
  if (pane.hidden) return;
  const older = saw ? [el("h3", {}, "An older write"), el("p", {}, `Step ${store.place.at} ${saw}.`)] : [];
  if (list.length === 0) {
    const side = (a: Accessed) => el("div", { class: "access" }, el("div", { class: "what" }, badge(a.pid, a.process), " ", el("code", {}, a.access || "goes wrong here")), stackOf(store, a.stack));
    return replace(pane, ...older, accesses.length === 0 ? null : el("h3", {}, accesses.length > 1 ? "The two accesses" : "Where"), ...accesses.map(side));
  }
  const go = (step: number) => void store.go(step);
  const tell = (origin: Origin, depth: number): HTMLElement => {
    const said: (Node | string | null)[] = [];
    if (!origin.set) said.push("has been so since the start");
    else {
      const received = origin.sent_by;
      said.push(received ? "received in " : "set in ", stepLink(origin.set.step, go), " by ", badge(origin.set.pid), " ", el("code", {}, origin.set.text));
      if (received) said.push(", sent in ", stepLink(received.step, go), " by ", badge(received.pid));
      const was = origin.write?.before?.text;
      if (was !== undefined && was !== origin.write?.after?.text) said.push(`, when it was ${was}`);
    }
    // A channel's variable names the channel and nothing else.
    const named = (i: Origin) => i.value?.kind === "reference" && i.value.text === i.full;
    const inputs = [...origin.inputs, ...origin.sent.map((s) => ({ ...s, name: s.full }))].filter((i) => depth < 2 && i.full !== origin.full && !named(i));
    return el("div", { class: `origin depth${depth}` },
      el("div", { class: "what" }, el("code", {}, origin.name ?? origin.full), " is ", el("code", {}, origin.value ? empty(origin.value.text) : "?")),
      el("div", {}, ...said),
      ...inputs.map((i) => tell(i, depth + 1)));
  };
  replace(pane, ...older, el("h3", {}, store.place.at === store.origins.at ? "Because" : `Because, at step ${store.origins.at}`), ...list.map((o) => tell(o, 0)));
}

/** What a check has found, in a sentence. */
const found = ({ kind, message, at }: Violation): string =>
  kind === "deadlock" ? "A check has found a run after which nobody can go on" : `A check has found: ${message.replace(/ \(\S+:\d+\)$/, "")}${at ? ` (${shortly(at)})` : ""}`;

export function drawNotice(store: Store): void {
  const notice = $("notice");
  const progress = store.progress;
  const parts: (Node | string)[] = [];
  if (store.message) parts.push(store.message, el("button", { class: "button small", onclick: () => store.say(null) }, "Close"));
  else if (store.changes?.changed) {
    const { wrong, works, step } = store.changes;
    const said = store.info.program ? "The program has changed; this run is that of the program as it was." : wrong ? `The model has changed and cannot be read: ${wrong}` : works ? "The model has changed; this run still works." : `The model has changed; this run stops working at step ${step}.`;
    parts.push(said);
    if (!wrong) parts.push(el("button", { class: "button small", id: "reload", onclick: () => void store.reload() }, "Run again"));
  } else if (progress?.running && store.tab === "check") {
    // The check's own view says it.
  } else if (progress?.running) parts.push(`Checking: ${number(progress.states)} ${store.info.program ? "executions" : "states"}${store.info.program ? "" : `, depth ${number(progress.depth)}`}, ${time(progress.seconds)}; nothing wrong so far`, el("button", { class: "button small", onclick: () => void store.check() }, "Stop"));
  else {
    const other = progress?.violations.find((v) => v.position !== null && !store.isAt(v.position));
    if (other) parts.push(found(other), el("button", { class: "button small", onclick: () => void store.follow(other.position as string, other.cycle) }, "Show it ", el("kbd", {}, "n")));
    // That everything holds, the headline and the line of figures say.
    else if (progress?.asked && progress.verdict !== "violated" && progress.verdict !== "holds") parts.push(`${progress.verdict}: ${progress.message ?? ""}`);
  }
  notice.hidden = parts.length === 0;
  replace(notice, ...parts);
  const program = Boolean(store.info?.program);
  const seconds = progress ? `${progress.seconds.toFixed(progress.seconds < 10 ? 3 : 1)} s` : "";
  const symmetry = !progress?.symmetry ? null : progress.symmetry === "off" ? "no symmetry" : program ? "symmetry on" : progress.symmetry_found.length > 0 ? `symmetry: ${progress.symmetry_found[0]}${progress.symmetry_found.length > 1 ? ` and ${progress.symmetry_found.length - 1} more` : ""}` : "no symmetry found";
  const order = progress?.partial_order && !program ? `partial order ${progress.partial_order}` : null;
  const line = (...parts: (string | null)[]) => parts.filter((p) => p !== null).join(" · ");
  const counts = !progress ? "" : program ? line(counted(progress.states, "execution"), counted(progress.transitions, "step"), `longest ${number(progress.depth)}`) : line(counted(progress.states, "state"), counted(progress.transitions, "transition"), `depth ${number(progress.depth)}`);
  const verdict = progress?.asked && !progress.running && progress.verdict === "holds" ? "holds" : null;
  const statistics = progress?.asked ? [line(verdict, counts), line(seconds, order, symmetry)] : ["not checked"];
  replace($("statistics"), ...statistics.map((s) => el("div", { title: s }, s)));
}
