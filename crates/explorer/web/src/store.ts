// Where the page stands, and what it knows of that place. One position, one set of data, one function that is told of changes.

import * as api from "./api";
import { takeOver, written } from "./check";
import { threadsAre } from "./dom";
import { parse, print } from "./position";
import { assemble, type Run } from "./run";
import type { Changed, Evaluated, Info, Next, Origin, Place as Told, Process, Progress, Repeat, State, Statement } from "./types";

/** Runs of up to so many steps are named by their steps. */
const SHORT = 300;
/** Characters of an address, and steps up to which they are looked at. */
const LONGEST_ADDRESS = 2000;
const LONGEST_WRITTEN = 2000;

/** Steps of a run in which states that come again are looked for. */
const MOST_COMPARED = 2000;

/** From so many new steps on the work is divided into several tasks. */
export const MUCH = 20_000;
export const isSame = (one: string[], other: string[]) => one === other || (one.length === other.length && one.every((move, i) => move === other[i]));
export const pause = () => new Promise<void>((done) => setTimeout(done));

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

/** A place to stand at; where the steps are not given, the server tells them; without a step it is the end; a function is asked when the run is there. */
interface Wanted { moves: string[] | null; at: number | null | (() => number); row: number | null }

/** What the centre shows. */
export type Tab = "chart" | "heap" | "graph" | "reductions" | "check";

/** An expression that is watched; `said` is missing until the server has answered. */
export interface Watch { text: string; said: Evaluated | null; wrong: string | null }

export class Store {
  info!: Info;
  tab: Tab = "chart";
  watches: Watch[] = [];
  /** The run that this one is compared with. */
  other: { moves: string[]; ending: string; note: string } | null = null;
  changes: Changed | null = null;
  /** `place.moves` as text, made once. */
  private written: { moves: string[]; text: string } = { moves: [], text: "q1:" };
  run!: Run;
  place: Place = { moves: [], at: 0, row: null };
  state: State | null = null;
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
  /** Values that stay at the top, by name. */
  pins = new Set<string>();
  message: string | null = null;
  /** What is made once for a run before it is drawn; of a long one each in a task of its own. */
  prepare: ((store: Store) => void)[] = [];
  private windows = new Map<string, { first: number; rows: Statement[] }>();
  private fetching = new Set<string>();

  constructor(private changed: (what: "place" | "rows" | "progress" | "message" | "watches" | "tab" | "line" | "repeats") => void | Promise<void>) {}

  get path(): string {
    if (this.written.moves !== this.place.moves) this.written = { moves: this.place.moves, text: print(this.place.moves) };
    return this.written.text;
  }

  /** The run as questions name it: shortly, where the steps are many. */
  get asked(): string {
    return this.place.moves.length > SHORT && this.run?.id ? `~${this.run.id}` : this.path;
  }

  /** Tells one check that has ended from another. */
  get checked(): string {
    const p = this.progress;
    return p === null || p.running || !p.asked ? "" : `${p.seconds} ${p.states} ${p.verdict}`;
  }

  /** The steps that the page was opened with. */
  private openedWith: string[] | null = null;
  get isOpening(): boolean {
    return this.openedWith !== null && (this.openedWith === this.place.moves || isSame(this.openedWith, this.place.moves));
  }

  /** Is this the run of a position? Of a long run that nobody has written out it is not asked. */
  isAt(position: string): boolean {
    const { moves } = this.place;
    return (this.written.moves === moves || moves.length <= LONGEST_WRITTEN) && position.split("@")[0] === this.path;
  }

  say(message: string | null): void {
    this.message = message;
    this.changed("message");
  }

  async start(said: URLSearchParams): Promise<void> {
    this.info = await api.info();
    threadsAre(this.info.program ? "T" : "");
    const [steps, kept] = [said.get("p"), said.get("r")];
    const differs = takeOver(this, said.get("o") ?? "");
    // The address names all steps, or a run that the server keeps, or nothing: then it is the run that the page was opened with.
    const path = steps ?? (kept ? `~${kept}` : "~0");
    const step = said.get("s") ?? this.info.opening.step;
    const stand = (asked: string) => this.stand({ moves: null, at: step === null ? null : Number(step), row: null }, "replace", false, asked);
    if (!(await stand(path)) && kept) {
      await stand("~0");
      this.say("The run of this address is kept no longer; this is the one that the page was opened with.");
    }
    if (differs) this.say(differs);
  }

  /** Runs the program to where the address says; somebody clicked. */
  async runHere(): Promise<void> {
    await this.stand({ ...this.place, at: this.place.moves.length, row: null }, "replace");
  }

  /** Fetches a run; of one that goes on from this one, what is new. Gives the place `at` where that is asked for. */
  private async fetchRun(asked: string, acted: boolean, known: number, at: number | null): Promise<Told | null> {
    const told = await api.run(asked, acted, known, at);
    const much = told.length - known > MUCH;
    if (much) await pause();
    this.run = assemble(told, this.run ?? null);
    this.windows.clear();
    if (much) await pause();
    this.told = told.path === null ? null : { moves: parse(told.path), text: told.path.split("@")[0] };
    if (!much) return told.place;
    const run = this.run;
    for (const part of this.prepare) {
      await pause();
      // Somebody may have gone to another run in the meantime.
      if (this.run === run) part(this);
    }
    await pause();
    return told.place;
  }
  /** The steps of the run as the server has told them. */
  private told: { moves: string[]; text: string } | null = null;

  /** Stands somewhere; `how` says what becomes of the address, `asked` names the run where it is another one. False where there is no such run. */
  async stand(place: Wanted, how: "push" | "replace" | "keep", acted = true, asked: string | null = null, known = 0): Promise<boolean> {
    try {
      let there: Told | null = null;
      const again = this.run?.ending.kind === "not run" && acted;
      if (asked !== null || again || place.moves !== this.place.moves) {
        const path = asked ?? print(place.moves ?? []);
        if (asked !== null || again || path !== this.path) there = await this.fetchRun(path, acted, known, known > 0 && typeof place.at === "number" ? place.at : null);
      }
      const length = this.run.length;
      const told = this.told;
      // What has not been run keeps its address; a program may have gone further by itself.
      const same = place.moves !== null && (place.moves.length === length || this.run.ending.kind === "not run");
      const moves = same && place.moves ? place.moves : place.moves && length < place.moves.length ? place.moves.slice(0, length) : told?.moves ?? [];
      if (moves === told?.moves) this.written = told;
      if (asked !== null && known === 0) this.cycle = this.run.cycle;
      const asks = typeof place.at === "function" ? place.at() : place.at;
      const wanted = asks ?? (this.run.ending.kind === "more" ? Number.MAX_SAFE_INTEGER : length);
      if (asked === "~0" && this.run.ending.kind !== "more") this.openedWith = moves;
      this.place = { moves, at: Math.max(0, Math.min(wanted, length)), row: place.row };
      if (this.run.id) api.named(`~${this.run.id}`, () => print(moves));
      if (this.run.ending.kind === "more") void this.fetchMore(asked ?? print(place.moves ?? []), wanted).catch((error: Error) => this.say(error.message));
      if (how !== "keep") this.writeAddress(how);
      this.revealed = null;
      const { at, row } = this.place;
      const standing = this.asked;
      const { state, next } = there ?? await api.place(standing, at, row, acted);
      // Somebody may have gone on in the meantime.
      if (standing !== this.asked || at !== this.place.at || row !== this.place.row) return true;
      this.state = state;
      this.next = next;
      this.known = { asked: standing, at, row };
      await this.changed("place");
      for (const what of this.later.splice(0)) what();
      await this.explainEnd();
      await this.askFairness();
      await this.askRepeats();
      await this.watchAll();
      return true;
    } catch (error) {
      this.say((error as Error).message);
      return false;
    }
  }

  /** Follows the rest of a long run, whose beginning is shown, and goes to where it should have been. */
  private async fetchMore(asked: string, wanted: number): Promise<void> {
    const beginning = this.run;
    const stood = this.place.at;
    let told = await api.run(asked, false, beginning.count);
    while (told.ending.kind === "more") told = await api.run(asked, false, beginning.count);
    // Somebody went on from what there is.
    if (this.run !== beginning) return;
    // Who has moved in the meantime stays there, also while the run is fetched.
    const at = () => (this.place.at === stood ? Math.min(wanted, told.length) : this.place.at);
    await this.stand({ moves: null, at, row: null }, "replace", true, asked);
  }

  /** The options of a check have changed. */
  rewriteAddress(): void {
    if (this.run) this.writeAddress("replace");
  }

  private writeAddress(how: "push" | "replace"): void {
    const path = this.place.moves.length > LONGEST_WRITTEN ? "" : this.path;
    const long = (path === "" || path.length > LONGEST_ADDRESS) && this.run.id !== "";
    const said = new URLSearchParams(long ? { r: this.run.id, s: String(this.place.at) } : { p: path, s: String(this.place.at) });
    const options = written(this);
    if (options !== "") said.set("o", options);
    const address = "#" + said.toString();
    const kept = { path: long ? `~${this.run.id}` : path, at: this.place.at };
    if (how === "push") history.pushState(kept, "", address);
    else history.replaceState(kept, "", address);
  }

  go(at: number, row: number | null = null): Promise<boolean> {
    return this.stand({ moves: this.place.moves, at, row }, "push");
  }

  /** The place that the state and what can happen next are of, and what waits until they are of where the page stands. */
  private known: { asked: string; at: number; row: number | null } | null = null;
  private later: (() => void)[] = [];

  /** Does something with what can happen next here: at once, or when that has come. */
  whenKnown(what: () => void): void {
    const { known, place } = this;
    if (known?.asked === this.asked && known.at === place.at && known.row === place.row) what();
    else this.later = [what];
  }

  /** Takes a step here. Where the run has another one, that future is kept as a branch. */
  take(move: string): Promise<boolean> {
    const { moves, at } = this.place;
    if (moves[at] === move) return this.go(at + 1);
    if (at < moves.length) this.branches.push({ at, moves });
    this.cycle = 0;
    const further = moves.slice(0, at);
    further.push(move);
    const wanted = { moves: further, at: at + 1, row: null };
    // Of a long run only what is new is asked for.
    const { id, first } = this.run;
    if (!id || moves.length <= SHORT) return this.stand(wanted, "push");
    const asked = `~${id}:${at}.${move}`;
    api.named(asked, () => print(wanted.moves));
    return this.stand(wanted, "push", true, asked, first[at]);
  }

  /** Takes up a future that was left; the present one is left instead. */
  async goBackTo(branch: { at: number; moves: string[] }): Promise<void> {
    this.branches = this.branches.filter((b) => b !== branch);
    this.branches.push({ at: branch.at, moves: this.place.moves });
    this.cycle = 0;
    await this.stand({ moves: branch.moves, at: branch.at, row: null }, "push");
  }

  /** Goes over to another run. */
  async follow(path: string, cycle: number): Promise<void> {
    const moves = parse(path);
    if (this.place.moves.length > 0) this.branches.push({ at: 0, moves: this.place.moves });
    this.cycle = cycle;
    await this.stand({ moves, at: moves.length, row: null }, "push");
  }

  /** Where the browser went back to. */
  async back(kept: { path: string; at: number }): Promise<void> {
    if (kept.path === `~${this.run.id}` || kept.path === this.path) await this.stand({ moves: this.place.moves, at: kept.at, row: null }, "keep");
    else if (kept.path.startsWith("~")) await this.stand({ moves: null, at: kept.at, row: null }, "keep", true, kept.path);
    else await this.stand({ moves: parse(kept.path), at: kept.at, row: null }, "keep");
  }

  /** A statement, if it is known; otherwise it is fetched and the page is told. */
  statement(row: number): Statement | null {
    const step = this.run.step[row];
    if (step === undefined) return null;
    const window = Math.floor((step - 1) / WINDOW);
    const key = `${this.asked}|${window}`;
    const known = this.windows.get(key);
    if (known) return known.rows[row - known.first] ?? null;
    if (!this.fetching.has(key)) {
      this.fetching.add(key);
      void api.steps(this.asked, window * WINDOW, (window + 1) * WINDOW).then(
        ({ rows }) => {
          this.fetching.delete(key);
          if (this.windows.size >= WINDOWS_KEPT) this.windows.delete(this.windows.keys().next().value as string);
          this.windows.set(key, { first: rows[0]?.row ?? 0, rows });
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

  /** States that this run comes to again, by step. */
  repeats: { for: string; by: Map<number, Repeat> } = { for: "", by: new Map() };
  private async askRepeats(): Promise<void> {
    const key = this.asked;
    if (this.info.program || this.repeats.for === key || this.run.length > MOST_COMPARED) return;
    const { repeats } = await api.same(key);
    this.repeats = { for: key, by: new Map(repeats.map((r) => [r.step, r])) };
    if (key === this.asked && this.repeats.by.has(this.place.at)) this.changed("repeats");
  }

  /** The earlier state that the one here is the same as. */
  get repeat(): Repeat | null {
    return this.place.row === null && this.repeats.for === this.asked ? this.repeats.by.get(this.place.at) ?? null : null;
  }

  /** What weak fairness would say of a run that goes on for ever. */
  private fairOf = "";
  private async askFairness(): Promise<void> {
    const key = `${this.asked}|${this.cycle}`;
    if (this.cycle === 0 || this.fairOf === key) return;
    const { starved } = await api.starved(this.asked, this.cycle);
    [this.fairOf, this.starved] = [key, starved];
    this.changed("message");
  }

  /** Where the values of a failed expression come from. */
  private async explainEnd(): Promise<void> {
    const ending = this.run.ending;
    const key = this.asked;
    if (this.origins.for === key) return;
    const { reads } = ending;
    const row = this.run.count - 1;
    const list = await Promise.all(
      reads.map(async (read) => ({ ...(await api.because(this.asked, read.full, row)), name: read.name, value: read.value })),
    );
    if (key !== this.asked) return;
    this.origins = { for: key, at: this.run.length, list };
    this.changed("rows");
  }

  async because(full: string): Promise<void> {
    const row = this.state?.row ?? this.run.count;
    const origin = await api.because(this.asked, full, row);
    const leaf = this.state?.leaves.find((l) => l.full === full);
    this.origins = { for: this.asked, at: this.place.at, list: [{ ...origin, name: leaf?.name ?? full, value: leaf?.value ?? null }] };
    this.changed("rows");
  }

  /** Asks for the values of all watched expressions here. */
  async watchAll(): Promise<void> {
    const [standing, at] = [this.asked, this.place.at];
    for (const watch of this.watches) {
      try {
        const said = await api.evaluate(standing, at, watch.text);
        if (standing !== this.asked || at !== this.place.at) return;
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
    const { step } = await api.find(this.asked, text, back ? here - 1 : here, back);
    if (step === null) this.say(back ? `“${text}” is not found before here.` : `“${text}” is not found after here in this run.`);
    else await this.go(step);
  }

  async randomWalk(): Promise<void> {
    const { moves, at } = this.place;
    const walked = parse((await api.walk(this.asked, at, 100)).path);
    if (walked.length === at) return this.say("Nobody can go on.");
    // By chance it may be what this run does as well.
    if (isSame(walked, moves)) return void (await this.go(moves.length));
    if (at < moves.length) this.branches.push({ at, moves });
    this.cycle = 0;
    await this.stand({ moves: walked, at: walked.length, row: null }, "push");
  }

  /** Compares this run with another one. */
  async compare(moves: string[], note: string): Promise<void> {
    this.other = { moves, ending: (await api.run(print(moves), true)).ending.kind, note };
    this.changed("place");
  }

  async comparePassing(): Promise<void> {
    this.say("Looking for the nearest run that passes…");
    const found = await api.passing(this.asked);
    if (found.path === null) return this.say(found.why);
    this.message = null;
    await this.compare(parse(found.path), `a run that passes: another choice in step ${found.step}`);
  }

  endCompare(): void {
    this.other = null;
    this.changed("place");
  }

  /** Has the model been edited? Nothing is loaded again by itself. */
  async lookForEdits(): Promise<void> {
    const changes = await api.changed(this.asked).catch(() => null);
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
      await this.stand({ ...this.place, row: null }, "replace", true, this.path);
      await this.poll();
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  /** A line of the source that was asked for, until the page stands elsewhere. */
  revealed: { line: number; file: number } | null = null;
  reveal(line: number, name: string): void {
    const short = (path: string) => path.replace(/^.*\//, "");
    const { sources } = this.info;
    const file = sources.findIndex((s) => s.name === name) >= 0 ? sources.findIndex((s) => s.name === name) : sources.findIndex((s) => short(s.name) === short(name));
    if (file < 0) return this.say(`${name} is not one of the files that are shown.`);
    this.revealed = { line, file };
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
