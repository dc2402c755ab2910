// The class of a state: the states that one of them stands for, as small pictures, and who plays whom.

import { badge, called, el, svg } from "./dom";
import type { Store } from "./store";
import type { Class, Member, Process } from "./types";

/** A renaming as cycles: `0→1→2→0`. */
export function cycles(renaming: [number, number][]): string {
  const to = new Map(renaming);
  const seen = new Set<number>();
  const parts: string[] = [];
  for (const [first] of renaming) {
    if (seen.has(first) || to.get(first) === first) continue;
    const part: number[] = [];
    let at: number | undefined = first;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      part.push(at);
      at = to.get(at);
    }
    if (at !== undefined) part.push(at);
    parts.push(part.map(called).join("→"));
  }
  return parts.join("  ");
}

/** A ring of processes; those that have left the place where they began are filled. */
function ring(processes: Process[], member: Member): SVGElement {
  const drawing = svg("svg", { class: "ring-of", viewBox: "0 0 96 96", "aria-hidden": true });
  drawing.append(svg("circle", { class: "round", cx: 48, cy: 48, r: 33 }));
  processes.slice(0, 12).forEach((p, i) => {
    const angle = (2 * Math.PI * i) / Math.min(12, processes.length) - Math.PI / 2;
    const [x, y] = [48 + 33 * Math.cos(angle), 48 + 33 * Math.sin(angle)];
    const moved = member.moved.includes(p.pid);
    const text = svg("text", { class: `who-is ${moved ? "moved" : `p${p.pid % 4}`}`, x, y: y + 3.5, "text-anchor": "middle" });
    text.textContent = String(p.pid);
    drawing.append(svg("circle", { class: `seat p${p.pid % 4} ${moved ? "moved" : ""}`, cx: x, cy: y, r: 9.5 }), text);
  });
  return drawing;
}

export function drawClass(store: Store, said: Class): HTMLElement {
  if (said.why !== null) return el("p", { class: "dim" }, said.why);
  const count = said.more ? `more than ${said.count}` : String(said.count);
  const processes = said.processes ?? [];
  const member = (m: Member): HTMLElement => {
    const renaming = cycles(m.plays);
    const told = m.here ? "here" : renaming || "others exchanged";
    return el("button", { class: `member ${m.here ? "here" : ""}`, "aria-label": m.here ? "this state" : `a state of the same class: ${told}`, disabled: m.here, onclick: () => void store.follow(m.path, 0) },
      ring(processes, m) as unknown as Node, el("span", {}, told));
  };
  // Where any may be exchanged with any, a ring would say too much: a table of who plays whom.
  const moving = processes.filter((p) => said.members.some((m) => m.plays.some(([own, other]) => own === p.pid && other !== own)));
  const table = (): HTMLElement =>
    el("table", { class: "plays" },
      el("tr", {}, el("th", {}, "plays"), ...said.members.map((m, i) => el("th", {}, el("button", { class: `member ${m.here ? "here" : ""}`, "aria-label": m.here ? "this state" : `a state of the same class: ${cycles(m.plays) || "others exchanged"}`, disabled: m.here, onclick: () => void store.follow(m.path, 0) }, m.here ? "here" : String(i + 1))))),
      ...moving.map((p) => el("tr", {}, el("th", {}, badge(p.pid), ` ${p.name.replace(/\(\d+\)$/, "")}`), ...said.members.map((m) => {
        const other = m.plays.find(([own]) => own === p.pid)?.[1];
        return el("td", {}, other === undefined ? "·" : badge(other));
      }))));
  const stored = cycles(said.stored);
  return el("div", {},
    el("p", {}, el("b", {}, said.count === 1 ? "This state stands for itself alone." : `This state stands for ${count}.`), said.count > 1 ? ` They behave alike up to the names of the processes; one of them is stored.${said.ring ? " Filled: who has left the place where it began." : ""}` : ""),
    said.ring || moving.length === 0 ? el("div", { class: "members" }, ...said.members.map(member)) : table(),
    said.count > said.members.length ? el("p", { class: "dim" }, `and ${said.more ? "more" : said.count - said.members.length}`) : null,
    el("p", {}, stored ? el("span", {}, "Renaming to the one that is stored: ", el("code", {}, stored)) : "This one is stored itself."),
    processes.length > 0 ? el("p", { class: "dim" }, ...processes.flatMap((p) => [badge(p.pid), ` ${p.name}  `])) : null);
}
