import { detached } from "../detached.ts";
import type { FlowDeps } from "./flow-deps.ts";
import type { Kept } from "./kept.ts";
import type { ScheduleDefinition, ScheduleRecord } from "./schedule-types.ts";
import { type Schedules, schedulesKept } from "./schedules.ts";
import { minds } from "./tick.ts";

/** How often to look for changes made by other processes. */
const POLL_MS = 5_000;

/** The first look comes a moment later, so that short-lived processes are spared it. */
const FIRST_MS = 250;

/** Looks again this soon after the store didn't answer. */
const AFTER_FAILURE_MS = 1_000;

/** A schedule that code declares. */
export interface DeclaredSchedule {
  readonly name: string;
  readonly definition: ScheduleDefinition;
}

/**
 * Minds the schedules of a store in the background, beside the worker: with a timer to the next tick, and a look every
 * few seconds for what others have changed. Several processes may do this at once.
 */
export class Ticker {
  readonly #deps: FlowDeps;
  readonly #kept: Kept<ScheduleRecord>;
  readonly #schedules: Schedules;
  readonly #declared: DeclaredSchedule[] = [];
  #cancel: (() => void) | null = null;
  #isStarted = false;
  #stopped = false;
  #isBackground = true;
  #passing: Promise<void> | null = null;
  #again = false;
  /** Runs whose end lets a waiting tick start. */
  #awaited = new Set<string>();

  constructor(deps: FlowDeps, schedules: Schedules) {
    this.#deps = deps;
    this.#kept = schedulesKept(deps);
    this.#schedules = schedules;
    schedules.onChange(() => this.#soon());
  }

  /** Declares a schedule in the next pass. */
  declare(declared: DeclaredSchedule): void {
    this.#declared.push(declared);
    this.#soon();
  }

  /** `background`: doesn't keep the process alive. */
  start(background: boolean): void {
    const isSame = this.#isStarted && (background || !this.#isBackground);
    if (this.#stopped || isSame) return;
    this.#isStarted = true;
    this.#isBackground = background;
    this.#later(this.#declared.length > 0 ? 0 : FIRST_MS);
  }

  /** Called when a run has ended here. */
  ended(runId: string): void {
    if (this.#awaited.has(runId)) this.#soon();
  }

  #soon(): void {
    if (!this.#isStarted || this.#stopped) return;
    if (this.#passing) this.#again = true;
    else this.#later(0);
  }

  #later(ms: number): void {
    this.#cancel?.();
    if (this.#stopped) return;
    const pass = () => {
      this.#passing = this.#pass();
      detached(this.#passing, this.#deps.logger, "minding schedules");
    };
    this.#cancel = this.#deps.clock.setTimer(pass, ms, { background: this.#isBackground });
  }

  async #pass(): Promise<void> {
    let waitMs = AFTER_FAILURE_MS;
    try {
      waitMs = await this.#mindAll();
    } catch (error) {
      this.#deps.logger.warn("schedules could not be read", { error: String(error) });
    }
    this.#passing = null;
    const isAgain = this.#again;
    this.#again = false;
    this.#later(isAgain ? 0 : waitMs);
  }

  /** Returns how long to wait before the next pass. */
  async #mindAll(): Promise<number> {
    await this.#declareAll();
    const all = await this.#kept.all();
    if (all.length === 0) return POLL_MS;
    const now = await this.#deps.now();
    this.#awaited = new Set();
    let next = now + POLL_MS;
    for (const held of all) {
      if (this.#stopped) break;
      try {
        const { nextAt, awaits } = await minds(this.#deps, this.#kept, held, now);
        if (nextAt !== null) next = Math.min(next, nextAt);
        if (awaits !== null) this.#awaited.add(awaits);
      } catch (error) {
        next = Math.min(next, now + AFTER_FAILURE_MS);
        this.#deps.logger.error("a schedule failed", { schedule: held.key, error: String(error) });
      }
    }
    return Math.max(0, next - now);
  }

  async #declareAll(): Promise<void> {
    for (let next = this.#declared[0]; next; next = this.#declared[0]) {
      await this.#schedules.declare(next.name, next.definition);
      this.#declared.shift();
    }
  }

  /** Stops. Resolves when nothing more is written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#passing;
  }
}
