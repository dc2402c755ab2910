// Questions to the server. The token is in the address once, at the start; it is kept for this tab only.

import type { Changed, Class, Drawn, Evaluated, Found, Graph, Heap, Info, Origin, Passing, Place, Progress, Reductions, Reloaded, Run, Same, Starved, Steps, Walked } from "./types";

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

/** A question without an answer. */
export class Unanswered extends Error {}

/** The server works on a question for 2 seconds at most; on a busy machine that takes longer. */
const LONGEST = 20_000;

/** Short names of runs, with how to write them out: the server keeps a few runs, and asks for all steps when it has forgotten one. */
const names = new Map<string, () => string>();
export function named(name: string, path: () => string): void {
  names.set(name, path);
  if (names.size > 16) names.delete(names.keys().next().value as string);
}

/** How often a question is asked that the server is too busy for. */
const MOST_ASKED = 50;

async function ask<T>(question: string, body: { path?: string } = {}, asked = 1): Promise<T> {
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
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") throw new Unanswered(`The server has not answered for ${LONGEST / 1000} s. This page still shows what it has.`);
    throw new Unanswered("The server has ended. This page still shows what it has; start `quotient explore` again to go on.");
  }
  // The server is busy with others.
  if (answer.status === 503 && asked < MOST_ASKED) {
    await new Promise((done) => setTimeout(done, 100));
    return ask(question, body, asked + 1);
  }
  const whole = body.path === undefined ? undefined : names.get(body.path);
  if (answer.status === 410 && whole) return ask(question, { ...body, path: whole() });
  if (!answer.ok) throw new Unanswered(said.error ?? `The server answered ${answer.status}.`);
  return said as T;
}

export const info = () => ask<Info>("info");
/** With `run` a C program is run, if it has to be: somebody clicked, or pressed a key. An address that is opened runs nothing. Of the statements, those from `known` on are told; with `at` also that place. */
export const run = (path: string, run = false, known = 0, at: number | null = null) => ask<Run>("run", { path, run, known, at } as object);
export const steps = (path: string, from: number, to: number) => ask<Steps>("steps", { path, from, to } as object);
export const place = (path: string, at: number, row: number | null, run = false) => ask<Place>("place", { path, at, row, run } as object);
export const because = (path: string, full: string, row: number) => ask<Origin>("because", { path, full, row } as object);
export const progress = () => ask<Progress>("progress");
export const check = (options: object) => ask<Progress>("check", options);
export const stop = () => ask<Progress>("stop");
export const find = (path: string, text: string, row: number, back: boolean) => ask<Found>("find", { path, text, row, back } as object);
export const evaluate = (path: string, at: number, expr: string) => ask<Evaluated>("eval", { path, at, expr } as object);
export const walk = (path: string, at: number, steps: number) => ask<Walked>("walk", { path, at, steps, seed: Math.floor(Math.random() * 2 ** 31) } as object);
export const passing = (path: string) => ask<Passing>("passing", { path });
export const heap = (path: string, at: number, all = false) => ask<Heap>("heap", { path, at, all } as object);
export const same = (path: string) => ask<Same>("same", { path });
export const trace = (path: string, cycle: number) => ask<Drawn>("trace", { path, cycle } as object);
export const graph = (path: string, at: number) => ask<Graph>("graph", { path, at } as object);
export const reductions = (path: string, at: number) => ask<Reductions>("reductions", { path, at } as object);
export const classOf = (path: string, at: number) => ask<Class>("class", { path, at } as object);
export const starved = (path: string, cycle: number) => ask<Starved>("starved", { path, cycle } as object);
export const changed = (path: string) => ask<Changed>("changed", { path });
export const drawn = (path: string, format: "svg" | "mermaid") => ask<Drawn>("draw", { path, format } as object);
export const reload = () => ask<Reloaded>("reload");
