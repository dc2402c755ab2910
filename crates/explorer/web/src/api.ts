// Questions to the server. The token is in the address once, at the start; it is kept for this tab only.

import type { Changed, Class, Evaluated, Graph, Heap, Info, Next, Origin, Process, Progress, Reductions, Run, State, Statement } from "./types";

const KEY = "quotient-token";

/** Takes the token out of the address and gives what else is in it. */
export function takeToken(): URLSearchParams {
  const said = new URLSearchParams(location.hash.slice(1));
  const token = said.get("k");
  if (token) {
    sessionStorage.setItem(KEY, token);
    said.delete("k");
    history.replaceState(history.state, "", "#" + said.toString());
  }
  return said;
}

export class Gone extends Error {}

/** The server works on a question for 2 seconds at most; one that is silent for longer than this has ended, or is stuck. */
const LONGEST = 10_000;

async function ask<T>(question: string, body: object = {}): Promise<T> {
  let answer: Response;
  let said: { error?: string };
  try {
    answer = await fetch("/api/" + question, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Quotient-Token": sessionStorage.getItem(KEY) ?? "" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LONGEST),
    });
    said = await answer.json();
  } catch {
    throw new Gone("The server has ended. This page still shows what it has; start `quotient explore` again to go on.");
  }
  if (!answer.ok) throw new Error(said.error ?? `The server answered ${answer.status}.`);
  return said as T;
}

export const info = () => ask<Info>("info");
/** With `run` a C program is run, if it has to be: somebody clicked, or pressed a key. An address that is opened runs nothing. */
export const run = (path: string, run = false) => ask<Run>("run", { path, run });
export const steps = (path: string, from: number, to: number) => ask<{ rows: Statement[] }>("steps", { path, from, to });
export const state = (path: string, at: number, row: number | null) => ask<State>("state", { path, at, row });
export const next = (path: string, at: number, run = false) => ask<Next>("next", { path, at, run });
export const because = (path: string, full: string, row: number) => ask<Origin>("because", { path, full, row });
export const progress = () => ask<Progress>("progress");
export const check = (options: object) => ask<Progress>("check", options);
export const stop = () => ask<Progress>("stop");
export const find = (path: string, text: string, row: number, back: boolean) => ask<{ step: number | null }>("find", { path, text, row, back });
export const evaluate = (path: string, at: number, expr: string) => ask<Evaluated>("eval", { path, at, expr });
export const walk = (path: string, at: number, steps: number) => ask<{ path: string }>("walk", { path, at, steps, seed: Math.floor(Math.random() * 2 ** 31) });
export const passing = (path: string) => ask<{ path: string | null; step: number | null }>("passing", { path });
export const heap = (path: string, at: number) => ask<Heap>("heap", { path, at });
export const graph = (path: string, at: number) => ask<Graph>("graph", { path, at });
export const reductions = (path: string, at: number) => ask<Reductions>("reductions", { path, at });
export const classOf = (path: string, at: number) => ask<Class>("class", { path, at });
export const starved = (path: string, cycle: number) => ask<{ starved: Process[] | null }>("starved", { path, cycle });
export const changed = (path: string) => ask<Changed>("changed", { path });
export const drawn = (path: string, format: "svg" | "mermaid") => ask<{ text: string }>("draw", { path, format });
export const reload = () => ask<object>("reload");
