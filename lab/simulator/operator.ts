import type { Engine } from "../../src/core/engine/engine.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import { isCheckpoint } from "../../src/core/journal/address.ts";
import type { JournalEvent } from "../../src/core/journal/events.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import { isAbout } from "../../src/core/journal/wait-reason.ts";
import { approvalOf } from "../../src/core/keys.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { type RunRow, terminal } from "../../src/core/types.ts";
import { moved } from "../../src/testing/invariants/step-names.ts";
import { valueOf } from "./outside.ts";
import type { SimulatedWorker, World } from "./world.ts";

/** A step that needs a decision from outside. */
interface OpenStep {
  readonly step: string;
  readonly kind: "gate" | "signal" | "decision";
}

const MOST_FORKS = 4;

/**
 * Simulates the people around the runs: they start, pause, answer, resolve, fork, prune, cancel and send messages,
 * sometimes twice and at bad moments.
 */
export class Operator {
  readonly #world: World;
  readonly #desk: SimulatedWorker;
  readonly #open = new Map<string, { readonly head: string; readonly steps: readonly OpenStep[] }>();
  /** Acts that failed in a way that no act may fail. */
  readonly broken: { readonly runId: string; readonly message: string }[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#desk = world.desk();
  }

  async runs(): Promise<readonly RunRow[]> {
    return (await this.#world.store.list({ limit: 1_000 })).runs;
  }

  /** One random act on one random run, through any process. */
  async actAtRandom(cancels: boolean): Promise<void> {
    const { random, living } = this.#world;
    const all = await this.runs();
    const runs = all.filter((row) => !terminal(row.status));
    const { engine } = random.chance(0.5) || living.length === 0 ? this.#desk : random.pick(living);
    const dice = random.next();
    if (dice < 0.1) return this.#fork(all, engine);
    if (dice < 0.2) return this.#prune(engine);
    if (runs.length === 0) return;
    const row = random.pick(runs);
    if (dice < 0.34) this.#pause(row.id, engine);
    else if (dice < 0.5) this.#resume(row, engine);
    else if (dice < 0.55) this.#inject(row, engine);
    else if (dice < 0.62 && cancels && row.parent === null) this.#cancel(row.id, engine);
    else if (dice < 0.66) this.startAgain();
    else await this.#decide(row, engine, 0.6);
  }

  #pause(runId: string, engine: Engine): void {
    const children = this.#world.random.chance(0.4);
    this.#world.count(children ? "pause with children" : "pause");
    this.#do(runId, () => engine.pause(runId, { reason: "a pause", children }));
  }

  /** Messages and edits change no result. */
  #resume({ id, seq }: RunRow, engine: Engine): void {
    const { random, without } = this.#world;
    const isPlain = without.has("injections") || random.chance(0.5);
    const changes = isPlain ? {} : { inject: `at #${seq}`, set: { memory: { remark: seq } } };
    const click = { id: `resume-${seq}`, children: random.chance(0.3) };
    this.#do(id, () => engine.resume(id, { ...changes, ...click }));
    if (random.chance(0.3)) this.#do(id, () => engine.resume(id, { ...changes, ...click }));
  }

  #inject({ id, seq }: RunRow, engine: Engine): void {
    if (this.#world.without.has("injections")) return;
    this.#world.count("injection");
    this.#do(id, () => engine.inject(id, `said at #${seq}`, { id: `word-${seq}` }));
  }

  /** The id is derived from the place, so the same fork may be created twice. */
  async #fork(runs: readonly RunRow[], engine: Engine): Promise<void> {
    const { random, store, without } = this.#world;
    const roots = runs.filter(({ parent }) => parent === null);
    const forks = roots.filter(({ origin }) => origin !== null).length;
    if (without.has("forks") || roots.length === 0 || forks >= MOST_FORKS) return;
    const source = random.pick(roots);
    const events = (await journal(store, source.id)).filter(isCheckpoint);
    if (events.length === 0) return;
    const { seq } = random.pick(events);
    this.#world.count("fork");
    const id = `${source.id}-f${seq}`;
    this.#do(id, () => engine.fork(`${source.id}@${seq}`, { id, effects: "reuse" }));
  }

  #prune(engine: Engine): void {
    const { random, without } = this.#world;
    if (without.has("prunes")) return;
    this.#world.count("prune");
    const rules = { keepLast: random.int(1, 3) };
    const batch = random.pick([1, 3, 500]);
    this.#do("", () => engine.retention.prune(rules, { batch }));
  }

  #cancel(runId: string, engine: Engine): void {
    const compensate = this.#world.random.chance(0.6);
    this.#world.count(compensate ? "cancel with undo" : "cancel");
    this.#do(runId, () => engine.cancel(runId, { compensate, reason: "not needed" }));
  }

  /** Starts every wanted run again: existing ones stay as they are. */
  startAgain(): void {
    for (const [id, input] of this.#world.wanted) {
      this.#do(id, () => this.#desk.engine.start(this.#desk.program, input, { id }));
    }
  }

  /** Resolves everything that waits for people, without mistakes. */
  async tidyUp(): Promise<void> {
    const { engine } = this.#desk;
    const runs = await this.runs();
    if (this.#world.random.chance(0.1)) this.#prune(engine);
    for (const row of runs) {
      if (terminal(row.status)) continue;
      const review = row.waiting.some((wait) => wait.kind === "review");
      // Only the run itself is resumed: its children must follow.
      const failed = row.parent === null && stumbled(row, runs);
      // The run named what couldn't be undone; a person takes note and ends it.
      const told = row.waiting.some((wait) => isAbout(wait, "HF-2113"));
      if (told) this.#do(row.id, () => engine.cancel(row.id));
      else if (row.status === "paused" || review || failed) this.#do(row.id, () => engine.resume(row.id));
      else await this.#decide(row, engine, 0);
    }
  }

  async #decide(row: RunRow, engine: Engine, carelessness: number): Promise<void> {
    const { random, clock } = this.#world;
    for (const { step, kind } of await this.#openSteps(row)) {
      if (random.chance(carelessness)) continue;
      if (kind === "gate" && approvalOf(step)?.isFork) {
        this.#world.count("fork asks");
        this.#do(row.id, () => engine.answer(row.id, step, { choice: "call", actor: "Ada" }));
      } else if (kind === "gate") {
        this.#do(row.id, () => engine.answer(row.id, step, { choice: "yes", actor: "Ada" }));
        if (random.chance(carelessness))
          this.#do(row.id, () => engine.answer(row.id, step, { choice: "no", actor: "Ben" }));
      } else if (kind === "signal") {
        const id = random.chance(0.5) ? { id: `delivery-${clock.monotonic()}` } : {};
        this.#do(row.id, () => engine.signal(row.id, "go", { step }, id));
        if ("id" in id) this.#do(row.id, () => engine.signal(row.id, "go", { step }, id));
      } else {
        this.#resolve(row.id, step, engine);
      }
    }
  }

  /** The decisions that a run waits for; read again only when the run has moved. */
  async #openSteps({ id, head }: RunRow): Promise<readonly OpenStep[]> {
    const known = this.#open.get(id);
    if (known?.head === head) return known.steps;
    const steps = openSteps(await journal(this.#world.store, id));
    this.#open.set(id, { head, steps });
    return steps;
  }

  #resolve(runId: string, step: string, engine: Engine): void {
    const { outside, random } = this.#world;
    if (outside.saw(runId, step))
      this.#do(runId, () => engine.resolve(runId, step, { action: "done", value: valueOf(step) }));
    else
      this.#do(runId, () => engine.resolve(runId, step, { action: random.chance(0.5) ? "rerun" : "failed" }));
  }

  /** The result isn't awaited, because the acting process may die first. */
  #do(runId: string, act: () => Promise<unknown>): void {
    act().catch((error: unknown) => {
      if (HoldfastError.is(error)) return;
      this.broken.push({ runId, message: `An act from outside failed: ${String(error)}` });
    });
  }
}

/**
 * True when the run failed because one of its steps, or one in a run below it, was meant to fail. A fork may have
 * inherited its source's failure.
 */
const stumbled = (row: RunRow, runs: readonly RunRow[]): boolean =>
  row.status === "failed" &&
  (row.error?.startsWith("planned failure") === true ||
    (row.origin !== null && row.error?.startsWith("Child run") === true) ||
    runs.some(
      (child) => child.parent?.runId === row.id && (child.status === "completed" || stumbled(child, runs)),
    ));

export async function journal(store: Store, runId: string): Promise<JournalEvent[]> {
  const entries = await store.entries(runId, { from: 1, limit: 1_000_000 });
  return entries.flatMap((entry) => parseEntry(runId, entry).events);
}

function openSteps(events: readonly JournalEvent[]): OpenStep[] {
  const open = new Map<string, OpenStep>();
  let unread = 0;
  for (const event of events) {
    const { kind, step } = event;
    if (kind === "run_migrated") {
      const entries = [...open.values()].map((one) => ({ ...one, step: moved(one.step, event.meta) }));
      open.clear();
      for (const one of entries) open.set(one.step, one);
    }
    // Calls in progress at the fork haven't begun in it.
    if (kind === "run_forked") open.clear();
    if (kind === "signal_received") unread += event.meta.name === "go" ? 1 : 0;
    else if (kind === "step_started") {
      const { type } = event.meta;
      if (type === "gate" || type === "signal") open.set(step, { step, kind: type });
      else open.delete(step);
    } else if (kind === "step_in_doubt") open.set(step, { step, kind: "decision" });
    else if (kind.startsWith("step_") || kind === "gate_answered") {
      if (kind === "step_completed" && event.meta.took !== undefined) unread--;
      open.delete(step);
    }
  }
  // Each unread signal satisfies one of the waits.
  return [...open.values()].filter(({ kind }) => kind !== "signal" || unread-- <= 0);
}
