// Every picture as text, for those who do not see it: the same content, line by line.

import * as api from "./api";
import { cycles } from "./class";
import { called } from "./dom";
import { sender } from "./run";
import type { Store } from "./store";

/** Steps of a long run that are told around the place. */
const AROUND = 128;

export async function asText(store: Store): Promise<string[]> {
  const [path, place, run] = [store.asked, store.place, store.run];
  const name = (pid: number) => store.run.processes.find((p) => p.pid === pid)?.name ?? called(pid);
  switch (store.tab) {
    case "chart": {
      const from = Math.max(0, place.at - AROUND);
      const { rows } = await api.steps(path, from, place.at + AROUND);
      const lines = rows.map((s) => {
        const writes = s.writes.filter((w) => w.after).map((w) => `${w.full} ${w.before?.text ?? "none"} → ${w.after?.text}`);
        const from = sender(run, s.row);
        const sent = from === null ? "" : `, sent in step ${run.step[from]} by ${name(run.pid[from])}`;
        return `step ${s.step}, ${name(s.pid)}: ${s.text}${writes.length > 0 ? ` (${writes.join("; ")})` : ""}${sent}${s.failed ? `: ${s.failed.values} is false` : ""}${s.step === place.at ? "  ← here" : ""}`;
      });
      const locks = store.run.locks.map((l) => `${l.object} is held by ${name(l.pid)} from step ${run.step[l.from]} ${l.to === null ? "to the end" : `to step ${run.step[l.to]}`}`);
      return [...lines, ...locks, store.cycle > 0 ? `steps ${store.run.length - store.cycle + 1} to ${store.run.length} repeat for ever` : ""].filter((l) => l !== "");
    }
    case "heap": {
      const heap = await api.heap(path, place.at);
      return heap.nodes.flatMap((n) => [`${n.name}${n.lock ? `, held by ${n.lock.name}` : ""}`, ...n.fields.map((f) => `    ${f.name}: ${f.to ?? f.text}${f.changed ? " (changed)" : ""}`)]);
    }
    case "graph": {
      const graph = await api.graph(path, place.at);
      return graph.nodes.map((n) => `state ${n.id} (class ${n.class}${n.here ? ", here" : ""}, ${n.kind}): ${graph.edges.filter((e) => e.from === n.id).map((e) => `${called(e.pid)} ${e.text} to ${e.to}${e.left_out ? " (later)" : ""}`).join("; ") || "no step"}`);
    }
    case "reductions": {
      const said = await api.classOf(path, place.at);
      return [said.why ?? `This state stands for ${said.count}.`, ...said.members.map((m) => `${m.here ? "here" : cycles(m.plays)}: ${m.path}`)];
    }
    case "check":
      return (store.progress?.points ?? []).map((p) => `${p.seconds.toFixed(2)} s: ${p.states} states, ${p.waiting} waiting, ${p.bytes} bytes`);
  }
}
