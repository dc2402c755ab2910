// Where the page stands, and what it knows of that place. One position, one set of data, one function that is told of changes.

import * as api from "./api";
import { threadsAre } from "./dom";
import { parse, print } from "./position";
import type { Changed, Evaluated, Info, Next, Origin, Process, Progress, Run, State, Statement } from "./types";

/** Steps that are fetched together. */
const WINDOW = 256;
const WINDOWS_KEPT = 6;

export interface Place {
  /** The steps of the run. */
  moves: string[];
  /** How many of them have been made where the page stands. */
  at: number;
  /** Standing inside a step: statements of the whole run before here. */
  row: number | null;
}

/** What the centre shows. */
export type Tab = "chart" | "heap" | "graph" | "reductions" | "check";

/** An expression that is watched; `said` is missing until the server has answered. */
export interface Watch { text: string; said: Evaluated | null; wrong: string | null }

export class Store {
  info!: Info;
  tab: Tab = "chart";
  watches: Watch[] = [];
  /** The run that this one is compared with. */
  other: { moves: string[]; run: Run; note: string } | null = null;
  changes: Changed | null = null;
  /** `place.moves` as text, made once. */
  private written: { moves: string[]; text: string } = { moves: [], text: "q1:" };
  run!: Run;
  place: Place = { moves: [], at: 0, row: null };
  state: State | null = null;
  /** The state one step before, to show what changed. */
  before: State | null = null;
  next: Next | null = null;
  /** Where values come from: of which run and step. */
  origins: { for: string; at: number; list: Origin[] } = { for: "", at: 0, list: [] };
  progress: Progress | null = null;
  /** How many steps at the end of the run are repeated for ever. */
  cycle = 0;
  /** Who could always move in the cycle and never does; not known before the server has answered. */
  starved: Process[] | null = null;
  /** Futures left behind when another step was taken. */
  branches: { at: number; moves: string[] }[] = [];
  bookmarks = new Set<number>();
  message: string | null = null;
  private windows = new Map<string, Statement[]>();
  private fetching = new Set<string>();

  constructor(private changed: (what: "place" | "rows" | "progress" | "message" | "watches" | "tab" | "line") => void) {}

  get path(): string {
    if (this.written.moves !== this.place.moves) this.written = { moves: this.place.moves, text: print(this.place.moves) };
    return this.written.text;
  }

  say(message: string | null): void {
    this.message = message;
    this.changed("message");
  }

  async start(said: URLSearchParams): Promise<void> {
    this.info = await api.info();
    threadsAre(this.info.program ? "T" : "");
    const opening = this.info.opening;
    const path = said.get("p") ?? opening.position;
    const moves = parse(path);
    this.cycle = path === opening.position ? opening.cycle : 0;
    const asked = said.get("s") ?? opening.step;
    await this.stand({ moves, at: asked === null ? moves.length : Number(asked), row: null }, "replace", false);
  }

  /** Runs the program to where the address says; somebody clicked. */
  async runHere(): Promise<void> {
    await this.stand({ ...this.place, at: this.place.moves.length, row: null }, "replace");
  }

  /** Stands somewhere; `how` says what becomes of the address. */
  async stand(place: Place, how: "push" | "replace" | "keep", acted = true): Promise<void> {
    try {
      const again = this.run?.ending.kind === "not run" && acted;
      if (!this.run || place.moves !== this.place.moves || again) {
        const path = print(place.moves);
        if (!this.run || path !== this.path || again) {
          this.run = await api.run(path, acted);
          this.windows.clear();
        }
      }
      if (this.run.ending.kind === "more") void this.fetchMore(place).catch((error: Error) => this.say(error.message));
      const length = this.run.length;
      // What has not been run keeps its address; a program may have gone further by itself.
      const same = place.moves.length === length || this.run.ending.kind === "not run";
      const moves = same ? place.moves : length < place.moves.length ? place.moves.slice(0, length) : parse(this.run.path);
      this.place = { moves, at: Math.max(0, Math.min(place.at, length)), row: place.row };
      if (how !== "keep") this.writeAddress(how);
      this.revealed = null;
      const { at, row } = this.place;
      const standing = this.path;
      const [state, before, next] = await Promise.all([
        api.state(standing, at, row),
        at > 0 ? api.state(standing, at - 1, null) : null,
        api.next(standing, at, acted),
      ]);
      // Somebody may have gone on in the meantime.
      if (standing !== this.path || at !== this.place.at || row !== this.place.row) return;
      this.state = state;
      this.before = before;
      this.next = next;
      this.changed("place");
      await this.explainEnd();
      await this.askFairness();
      await this.watchAll();
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  /** Follows the rest of a long run, whose beginning is shown, and goes to where it should have been. */
  private async fetchMore(wanted: Place): Promise<void> {
    const beginning = this.run;
    for (let run = beginning; run.ending.kind === "more"; ) {
      run = await api.run(print(wanted.moves));
      // Somebody went on from what there is.
      if (this.run !== beginning) return;
    }
    // Who has moved in the meantime stays there.
    const moved = this.place.at !== Math.min(wanted.at, beginning.length);
    await this.stand({ ...wanted, at: moved ? this.place.at : wanted.at }, "replace");
  }

  private writeAddress(how: "push" | "replace"): void {
    const path = this.path;
    const said = new URLSearchParams({ p: path, s: String(this.place.at) });
    const address = "#" + (path.length > 2000 ? `s=${this.place.at}` : said.toString());
    const kept = { path: path.length > 2000 ? null : path, at: this.place.at };
    if (how === "push") history.pushState(kept, "", address);
    else history.replaceState(kept, "", address);
  }

  go(at: number, row: number | null = null): Promise<void> {
    return this.stand({ moves: this.place.moves, at, row }, "push");
  }

  /** Takes a step here. Where the run has another one, that future is kept as a branch. */
  take(move: string): Promise<void> {
    const { moves, at } = this.place;
    if (moves[at] === move) return this.go(at + 1);
    if (at < moves.length) this.branches.push({ at, moves });
    this.cycle = 0;
    return this.stand({ moves: [...moves.slice(0, at), move], at: at + 1, row: null }, "push");
  }

  /** Goes over to another run. */
  follow(path: string, cycle: number): Promise<void> {
    const moves = parse(path);
    if (this.place.moves.length > 0) this.branches.push({ at: 0, moves: this.place.moves });
    this.cycle = cycle;
    return this.stand({ moves, at: moves.length, row: null }, "push");
  }

  /** A statement, if it is known; otherwise it is fetched and the page is told. */
  statement(row: number): Statement | null {
    const step = this.run.rows.step[row];
    if (step === undefined) return null;
    const window = Math.floor((step - 1) / WINDOW);
    const key = `${this.path}|${window}`;
    const known = this.windows.get(key);
    if (known) return known.find((s) => s.row === row) ?? null;
    if (!this.fetching.has(key)) {
      this.fetching.add(key);
      void api.steps(this.path, window * WINDOW, (window + 1) * WINDOW).then(
        ({ rows }) => {
          this.fetching.delete(key);
          if (this.windows.size >= WINDOWS_KEPT) this.windows.delete(this.windows.keys().next().value as string);
          this.windows.set(key, rows);
          this.changed("rows");
        },
        (error: Error) => {
          this.fetching.delete(key);
          this.say(error.message);
        },
      );
    }
    return null;
  }

  /** What weak fairness would say of a run that goes on for ever. */
  private fairOf = "";
  private async askFairness(): Promise<void> {
    const key = `${this.path}|${this.cycle}`;
    if (this.cycle === 0 || this.fairOf === key) return;
    const { starved } = await api.starved(this.path, this.cycle);
    [this.fairOf, this.starved] = [key, starved];
    this.changed("message");
  }

  /** Where the values of a failed expression come from. */
  private async explainEnd(): Promise<void> {
    const ending = this.run.ending;
    const key = this.path;
    if (this.origins.for === key) return;
    const reads = ending.failed?.reads ?? [];
    const row = this.run.rows.step.length - 1;
    const list = await Promise.all(
      reads.map(async (read) => ({ ...(await api.because(this.path, read.full, row)), name: read.name, value: read.value })),
    );
    if (key !== this.path) return;
    this.origins = { for: key, at: this.run.length, list };
    this.changed("rows");
  }

  async because(full: string): Promise<void> {
    const row = this.state?.row ?? this.run.rows.step.length;
    const origin = await api.because(this.path, full, row);
    const leaf = this.state?.leaves.find((l) => l.full === full);
    this.origins = { for: this.path, at: this.place.at, list: [{ ...origin, name: leaf?.name ?? full, value: leaf?.value }] };
    this.changed("rows");
  }

  /** Asks for the values of all watched expressions here. */
  async watchAll(): Promise<void> {
    const [standing, at] = [this.path, this.place.at];
    for (const watch of this.watches) {
      try {
        const said = await api.evaluate(standing, at, watch.text);
        if (standing !== this.path || at !== this.place.at) return;
        [watch.said, watch.wrong] = said.wrong === null ? [said, null] : [null, said.wrong];
      } catch (error) {
        [watch.said, watch.wrong] = [null, (error as Error).message];
      }
    }
    if (this.watches.length > 0) this.changed("watches");
  }

  async watch(text: string): Promise<void> {
    if (text.trim() === "" || this.watches.some((w) => w.text === text)) return;
    this.watches.push({ text, said: null, wrong: null });
    await this.watchAll();
  }

  unwatch(text: string): void {
    this.watches = this.watches.filter((w) => w.text !== text);
    this.changed("watches");
  }

  /** Goes to the next statement, or the one before, that a text is found in. */
  async find(text: string, back: boolean): Promise<void> {
    const here = this.state?.row ?? 0;
    const { step } = await api.find(this.path, text, back ? here - 1 : here, back);
    if (step === null) this.say(back ? `“${text}” is not found before here.` : `“${text}” is not found after here in this run.`);
    else await this.go(step);
  }

  async randomWalk(): Promise<void> {
    const { moves, at } = this.place;
    const walked = parse((await api.walk(this.path, at, 100)).path);
    if (walked.length === at) return this.say("Nobody can go on.");
    if (at < moves.length) this.branches.push({ at, moves });
    this.cycle = 0;
    await this.stand({ moves: walked, at: walked.length, row: null }, "push");
  }

  /** Compares this run with another one. */
  async compare(moves: string[], note: string): Promise<void> {
    this.other = { moves, run: await api.run(print(moves), true), note };
    this.changed("place");
  }

  async comparePassing(): Promise<void> {
    this.say("Looking for the nearest run that passes…");
    const found = await api.passing(this.path);
    if (found.path === null) return this.say("No run found that passes (looked 1 s).");
    this.message = null;
    await this.compare(parse(found.path), `a run that passes: another choice in step ${found.step}`);
  }

  endCompare(): void {
    this.other = null;
    this.changed("place");
  }

  /** Has the model been edited? Nothing is loaded again by itself. */
  async lookForEdits(): Promise<void> {
    const changes = await api.changed(this.path).catch(() => null);
    if (changes && JSON.stringify(changes) !== JSON.stringify(this.changes)) {
      this.changes = changes;
      this.changed("message");
    }
  }

  async reload(): Promise<void> {
    try {
      await api.reload();
      this.changes = null;
      this.info = await api.info();
      this.origins = { for: "", at: 0, list: [] };
      this.run = await api.run(this.path, true);
      this.windows.clear();
      await this.stand({ ...this.place, row: null }, "replace");
      await this.poll();
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  /** A line of the source that was asked for, until the page stands elsewhere. */
  revealed: number | null = null;
  reveal(line: number): void {
    this.revealed = line;
    this.changed("line");
  }

  show(tab: Tab): void {
    this.tab = tab;
    this.changed("tab");
  }

  async poll(): Promise<void> {
    try {
      this.progress = await api.progress();
      this.changed("progress");
      if (this.progress.running) setTimeout(() => void this.poll(), 250);
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  async check(options: object = {}): Promise<void> {
    try {
      await (this.progress?.running ? api.stop() : api.check(options));
    } catch (error) {
      this.say((error as Error).message);
    }
    await this.poll();
  }
}
