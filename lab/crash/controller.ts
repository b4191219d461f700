import type { Engine } from "../../src/core/engine.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { seededIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { type RunRow, terminal } from "../../src/core/types.ts";
import { expected } from "../../src/testing/expected.ts";
import type { PlannedControl } from "./config.ts";

/** Positions that are not there or not kept any more, and runs that are not there any more. */
const BESIDES: readonly ErrorCode[] = ["HF-1001", "HF-1022", "HF-1023"];

const ACT_CHANCE = 0.5;
const RESUME_CHANCE = 0.4;
/** Forks of one run; what is forked once more is the fork of a fork. */
const MOST_FORKS = 3;
const MOST_RUNS = 14;
const CHECKPOINTS = 60;
const MARK = "-f";

/** The id of a fork follows from its source and position: made again after a kill, it is the same. */
const forkId = (runId: string, seq: number): string => `${runId}${MARK}${seq}`;

const depth = (runId: string): number => runId.split(MARK).length - 1;

/**
 * People who interfere: they pause and resume runs, saying something to them and editing what no result depends on, fork runs at
 * any checkpoint, and drop values that only older checkpoints need.
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

  /** One round: perhaps an act; and paused runs go on sooner or later. Answers the forks that were made. */
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

  /** What is injected and edited is read by nobody whose result counts. */
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
