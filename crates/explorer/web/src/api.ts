// Questions to the server. The token is in the address once, at the start; it is kept for this tab only.

import type { Info, Next, Origin, Progress, Run, State, Statement } from "./types";

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

async function ask<T>(question: string, body: object = {}): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch("/api/" + question, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Quotient-Token": sessionStorage.getItem(KEY) ?? "" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Gone("The server has ended. This page still shows what it has; start `quotient explore` again to go on.");
  }
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error ?? `The server answered ${answer.status}.`);
  return said as T;
}

export const info = () => ask<Info>("info");
export const run = (path: string) => ask<Run>("run", { path });
export const steps = (path: string, from: number, to: number) => ask<{ rows: Statement[] }>("steps", { path, from, to });
export const state = (path: string, at: number, row: number | null) => ask<State>("state", { path, at, row });
export const next = (path: string, at: number) => ask<Next>("next", { path, at });
export const because = (path: string, full: string, row: number) => ask<Origin>("because", { path, full, row });
export const progress = () => ask<Progress>("progress");
export const check = () => ask<Progress>("check");
export const stop = () => ask<Progress>("stop");
