import type { Engine } from "../../src/core/engine/engine.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { seededIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { type RunRow, terminal } from "../../src/core/types.ts";
import { expected } from "../../src/testing/expected.ts";
import type { PlannedControl } from "./config.ts";

/** Errors for positions that don't exist or weren't kept, and for missing runs. */
const BESIDES: readonly ErrorCode[] = ["HF-1001", "HF-1022", "HF-1023"];

const ACT_CHANCE = 0.5;
const RESUME_CHANCE = 0.4;
/** The maximum number of forks per run; a fork can be forked again. */
const MOST_FORKS = 3;
const MOST_RUNS = 14;
const CHECKPOINTS = 60;
const MARK = "-f";

/** A fork's id is derived from its source and position, so repeating it after a kill gives the same fork. */
const forkId = (runId: string, seq: number): string => `${runId}${MARK}${seq}`;

const depth = (runId: string): number => runId.split(MARK).length - 1;

/**
 * Simulates people who interfere: they pause and resume runs, inject messages, edit values that no result depends on,
 * fork runs at any checkpoint, and drop values that only older checkpoints need.
 */
export class Controller {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #random: () => number;
  #left: number;

  constructor(engine: Engine, store: Store, { seed, acts }: PlannedControl) {
    const ids = seededIds(seed);
    this.#engine = engine;
    this.#store = store;
    this.#random = () => ids.random();
    this.#left = acts;
  }

  /** One round: possibly one act, and sooner or later paused runs are resumed. Returns the new forks. */
  async round(): Promise<readonly string[]> {
    const { runs } = await this.#store.list({ limit: 200 });
    for (const row of runs)
      if (row.status === "paused" && this.#chance(RESUME_CHANCE)) await this.#resume(row);
    if (this.#left === 0 || !this.#chance(ACT_CHANCE)) return [];
    this.#left--;
    const dice = this.#random();
    if (dice < 0.4) return this.#pause(runs);
    if (dice < 0.75) return this.#fork(runs);
    return this.#prune();
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }

  async #pause(runs: readonly RunRow[]): Promise<readonly string[]> {
    const row = this.#pick(runs.filter(({ status }) => !terminal(status)));
    const children = this.#chance(0.5);
    if (row) await expected(this.#engine.pause(row.id, { actor: "tester", children }));
    return [];
  }

  /** No result depends on the injected and edited values. */
  async #resume({ id, seq }: RunRow): Promise<void> {
    const inject = this.#chance(0.5) ? { inject: `said at #${seq}` } : {};
    const set = this.#chance(0.5) ? { set: { memory: { remark: `made at #${seq}` } } } : {};
    const act = { actor: "tester", id: `resume-${seq}`, children: true };
    await expected(this.#engine.resume(id, { ...act, ...inject, ...set }));
  }

  async #fork(runs: readonly RunRow[]): Promise<readonly string[]> {
    const roots = runs.filter(({ parent }) => parent === null);
    const forksOf = (id: string): number => roots.filter(({ origin }) => origin?.runId === id).length;
    const source = this.#pick(roots.filter(({ id }) => depth(id) < 2 && forksOf(id) < MOST_FORKS));
    if (!source || roots.length >= MOST_RUNS) return [];
    const checkpoints = await this.#engine.checkpoints.list(source.id, { limit: CHECKPOINTS, all: true });
    const checkpoint = this.#pick(checkpoints);
    if (!checkpoint) return [];
    const id = forkId(source.id, checkpoint.seq);
    await expected(this.#engine.fork(checkpoint.id, { id, effects: "reuse", actor: "tester" }), BESIDES);
    return (await this.#store.read(id)) ? [id] : [];
  }

  async #prune(): Promise<readonly string[]> {
    const keepLast = 1 + Math.floor(this.#random() * 3);
    const batch = this.#pick([1, 4, 500]) ?? 500;
    await this.#engine.retention.prune({ keepLast }, { batch, actor: "tester" });
    return [];
  }
}
