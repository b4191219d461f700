import { checkNumber } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { EventKind, JournalEvent, Keep } from "../../journal/events.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { onDemand } from "../../on-demand.ts";
import { checkArchiveTable } from "./archives.ts";
import { limitCopies } from "./cache.ts";
import type { RetentionOptions } from "./policy.ts";
import { keepOf, type PolicyRules, type RetentionPolicy, readPolicy } from "./policy.ts";

const passing = onDemand(() => import("./retain.ts"));

const HOUR = 3_600_000;
/** The first pass comes early, so that short-lived processes do their share. */
const FIRST_MS = 10_000;

/** How long the last pass of a short process may take. */
const LAST_MS = 250;

export interface RetentionLoopOptions {
  readonly policy: RetentionPolicy;
  /** The interval between passes. Default 1 h. */
  readonly sweepMs?: number | undefined;
}

/** How long after its end a run is pruned: by then waiting callers have its result. */
const SOON_MS = 1_000;

/** Events after which something in a run may have become dispensable. */
const MOMENTS: readonly EventKind[] = [
  "run_completed",
  "run_failed",
  "run_cancelled",
  "family_told",
  "snapshot_taken",
];

/**
 * Applies a policy in the background: to each run that ends here, or outgrows its limit of checkpoints, a moment later,
 * and to all runs periodically. Several processes may do this at once.
 */
export class RetentionLoop {
  readonly #parts: EngineParts;
  readonly #rules: PolicyRules;
  readonly #sweepMs: number;
  readonly #stop = new AbortController();
  readonly #settled = new Map<string, number>();
  /** Runs to prune soon. */
  readonly #soon = new Set<string>();
  /**
   * The position of each active run when it was last checked: the next check is worthwhile when it has grown by a
   * quarter.
   */
  readonly #looked = new Map<string, number>();
  #cancelSoon: (() => void) | null = null;
  #cancel: (() => void) | null = null;
  #hasPassed = false;
  #passing: Promise<void> = Promise.resolve();

  /** Refuses a policy or an interval that isn't valid (HF-1003), or that the store can't apply (HF-1033, HF-4505). */
  constructor(parts: EngineParts, { policy, sweepMs = HOUR }: RetentionLoopOptions) {
    this.#parts = parts;
    this.#rules = readPolicy(policy);
    checkArchiveTable(parts.store, this.#rules);
    const withoutEffect = limitCopies(parts.store, this.#rules, true);
    if (withoutEffect.length > 0)
      parts.ports.logger.info("rules of the retention preset without effect: the store has no cache", {
        withoutEffect,
      });
    this.#sweepMs = checkNumber("retentionSweepMs", sweepMs, { above: 0, most: Infinity });
  }

  /** How many checkpoints the policy keeps of a workflow's runs whenever one is added. */
  readonly keep = (workflow: string): Keep | undefined => keepOf(this.#rules.of(workflow));

  /** Called with everything that is written to runs here. */
  heard(runId: string, events: readonly JournalEvent[]): void {
    if (!this.#isPrompt || this.#cancel === null) return;
    const event = events.findLast(({ kind }) => MOMENTS.includes(kind));
    if (!event) return;
    const isEarly =
      event.kind === "snapshot_taken" && event.seq < (this.#looked.get(runId) ?? 0) * 1.25 + 200;
    if (isEarly) return;
    if (event.kind === "snapshot_taken") this.#looked.set(runId, event.seq);
    else this.#looked.delete(runId);
    this.#soon.add(runId);
    this.#cancelSoon ??= this.#parts.ports.clock.setTimer(() => this.#takeSoon(), SOON_MS, {
      background: true,
    });
  }

  /** True when the policy may drop something right after a run's end, or while it is active. */
  get #isPrompt(): boolean {
    const isShort = (age = Infinity) => age < this.#sweepMs;
    return this.#rules.every.some(
      (rules) => keepOf(rules) || isShort(rules.maxAge) || isShort(rules.failedMaxAge),
    );
  }

  #takeSoon(): void {
    this.#cancelSoon = null;
    this.#passing = this.#passing.then(() => this.#runs(this.#stop.signal));
  }

  async #runs(signal?: AbortSignal): Promise<void> {
    for (const run of this.#soon) {
      if (signal?.aborted) return;
      this.#soon.delete(run);
      await this.#pass({ run, ...defined({ signal }) });
    }
  }

  /** Starts the loop. Doesn't keep the process alive. */
  start(): void {
    if (this.#cancel === null) this.#later(Math.min(this.#sweepMs, FIRST_MS));
  }

  #later(ms: number): void {
    if (this.#stop.signal.aborted) return;
    const pass = () => {
      this.#hasPassed = true;
      const swept = this.#passing.then(() => this.#pass({ signal: this.#stop.signal }));
      this.#passing = swept.finally(() => this.#later(this.#sweepMs));
    };
    this.#cancel = this.#parts.ports.clock.setTimer(pass, ms, { background: true });
  }

  async #pass(options: Pick<RetentionOptions, "run" | "signal">): Promise<void> {
    const { logger } = this.#parts.ports;
    try {
      const { retain } = await passing();
      const report = await retain(this.#parts, this.#rules, options, true, this.#settled);
      const { runs, entries, blobs, bytes, skipped } = report;
      if (runs.length > 0) logger.info("values dropped", { runs: runs.length, entries, blobs, bytes });
      for (const { runId, why, detail } of skipped)
        if (why === "archive failed" || why === "unreadable")
          logger.warn("values not dropped", { runId, why, detail });
    } catch (error) {
      logger.error("retention failed", { error: String(error) });
    }
  }

  /** Stops the loop. Resolves when nothing more is written. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#cancel?.();
    this.#cancelSoon?.();
    await this.#passing;
  }

  /**
   * Prunes the pending runs now, because nothing else will be written. A process that ends before its first pass makes
   * a short one, so that a store used only by short commands is kept in order too.
   */
  async finish(): Promise<void> {
    await this.#runs();
    if (this.#cancel === null || this.#hasPassed) return;
    const limit = new AbortController();
    const cancel = this.#parts.ports.clock.setTimer(() => limit.abort(), LAST_MS, { background: true });
    await this.#pass({ signal: limit.signal });
    cancel();
  }
}
