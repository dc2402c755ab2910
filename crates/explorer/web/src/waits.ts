// Who waits for whom: processes on a ring, an arrow from each that waits to the one that holds, or last set, what it waits for.

import { badge, called, el, stepLink, svg } from "./dom";
import type { Store } from "./store";

interface Edge { from: number; to: number; said: string; step: number | null }

/** What the reasons prove: a lock has a holder, a false condition reads what somebody set last. */
export function edges(store: Store): Edge[] {
  const out: Edge[] = [];
  for (const waiting of store.next?.waiting ?? []) {
    if (waiting.ended || waiting.takes_part) continue;
    for (const s of waiting.statements) {
      if (s.holder !== null && s.holder !== waiting.pid) out.push({ from: waiting.pid, to: s.holder, said: s.why, step: s.since ?? null });
      for (const read of s.reads) {
        // Its own variables it got from whoever started it; that is not what it waits for.
        if (read.set && read.set.pid !== waiting.pid && !read.full.startsWith(`${waiting.process}.`) && !out.some((e) => e.from === waiting.pid && e.to === read.set?.pid))
          out.push({ from: waiting.pid, to: read.set.pid, said: `${read.full} is ${read.value.text}`, step: read.set.step });
      }
    }
  }
  return out;
}

/** Edges that lie on a cycle. */
function onCycle(edges: Edge[]): Set<Edge> {
  const reaches = (from: number, to: number): boolean => {
    const seen = new Set<number>();
    const open = [from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at === to) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      edges.filter((e) => e.from === at).forEach((e) => open.push(e.to));
    }
    return false;
  };
  return new Set(edges.filter((e) => reaches(e.to, e.from)));
}

/** A drawing with its content as a list; none where nothing is proved. */
export function drawWaits(store: Store): HTMLElement | null {
  const all = edges(store);
  if (all.length === 0 || store.next?.choices.length !== 0 || store.next.over) return null;
  const pids = [...new Set(all.flatMap((e) => [e.from, e.to]))].sort((a, b) => a - b);
  const cycle = onCycle(all);
  const size = pids.length > 6 ? 230 : pids.length > 3 ? 160 : 124;
  const [cx, cy, r] = [150, size / 2, size / 2 - 26];
  const at = (pid: number) => {
    const angle = (2 * Math.PI * pids.indexOf(pid)) / pids.length - Math.PI / 2;
    return { x: cx + r * Math.cos(angle) * 1.35, y: cy + r * Math.sin(angle) };
  };
  const drawing = svg("svg", { class: "waits-for", viewBox: `0 0 300 ${size}`, role: "img", "aria-label": "Who waits for whom" });
  for (const edge of all) {
    const [a, b] = [at(edge.from), at(edge.to)];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [dx, dy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    // Two that wait for each other have two lines.
    const both = all.some((e) => e.from === edge.to && e.to === edge.from) ? 5 : 0;
    const [sx, sy] = [a.x + dx * 15 - dy * both, a.y + dy * 15 + dx * both];
    const [ex, ey] = [b.x - dx * 17 - dy * both, b.y - dy * 17 + dx * both];
    const kind = cycle.has(edge) ? "wrong" : "plain";
    drawing.append(
      svg("line", { class: `wait ${kind}`, x1: sx, y1: sy, x2: ex, y2: ey }),
      svg("path", { class: `tip ${kind}`, d: `M${ex + dx * 3} ${ey + dy * 3}L${ex - dx * 6 - dy * 4} ${ey - dy * 6 + dx * 4}L${ex - dx * 6 + dy * 4} ${ey - dy * 6 - dx * 4}z` }),
    );
  }
  for (const pid of pids) {
    const { x, y } = at(pid);
    const text = svg("text", { class: `node p${pid % 4}`, x, y: y + 4, "text-anchor": "middle" });
    text.textContent = called(pid);
    drawing.append(svg("rect", { class: `node p${pid % 4}`, x: x - 13, y: y - 11, width: 26, height: 22, rx: 5 }), text);
  }
  const name = (pid: number) => store.run.processes.find((p) => p.pid === pid)?.name ?? `process ${pid}`;
  const list = all.map((e) => el("li", { class: cycle.has(e) ? "wrong" : "" }, badge(e.from, name(e.from)), " waits for ", badge(e.to, name(e.to)), `: ${e.said} `, e.step === null ? null : stepLink(e.step, (s) => void store.go(s))));
  return el("div", { class: "who-waits" }, el("h3", {}, cycle.size > 0 ? "They wait for each other" : "Who waits for whom"), drawing as unknown as Node, el("ul", {}, ...list));
}
