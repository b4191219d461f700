import type { EngineParts } from "../../parts.ts";
import { limitCopies } from "./cache.ts";
import { invalid, type PolicyRules, type RetentionPolicy, readPolicy } from "./policy.ts";
import { retain } from "./retention.ts";

const HOUR = 3_600_000;
/** The first time comes early, so that processes that live shortly do their share. */
const FIRST_MS = 10_000;

export interface RetentionLoopOptions {
  readonly policy: RetentionPolicy;
  /** How long to wait from one time to the next. Default 1 h. */
  readonly sweepMs?: number | undefined;
}

/** Applies a policy again and again, in the background. Several processes may do so at once. */
export class RetentionLoop {
  readonly #parts: EngineParts;
  readonly #rules: PolicyRules;
  readonly #sweepMs: number;
  readonly #stop = new AbortController();
  readonly #settled = new Map<string, number>();
  #cancel: (() => void) | null = null;
  #passing: Promise<void> = Promise.resolve();

  /** Refuses a policy or a time that is not valid (HF-1003), or that the store can do nothing with (HF-1033). */
  constructor(parts: EngineParts, { policy, sweepMs = HOUR }: RetentionLoopOptions) {
    this.#parts = parts;
    this.#rules = readPolicy(policy);
    const withoutEffect = limitCopies(parts.store, this.#rules, true);
    if (withoutEffect.length > 0)
      parts.ports.logger.info("rules of the retention preset without effect: the store has no cache", {
        withoutEffect,
      });
    this.#sweepMs = sweepMs;
    if (!(this.#sweepMs > 0)) throw invalid("retentionSweepMs", "it must be a number above 0");
  }

  /** Begins. Does not keep the process alive. */
  start(): void {
    if (this.#cancel === null) this.#later(Math.min(this.#sweepMs, FIRST_MS));
  }

  #later(ms: number): void {
    if (this.#stop.signal.aborted) return;
    const pass = () => {
      this.#passing = this.#pass().finally(() => this.#later(this.#sweepMs));
    };
    this.#cancel = this.#parts.ports.clock.setTimer(pass, ms, { background: true });
  }

  async #pass(): Promise<void> {
    const { logger } = this.#parts.ports;
    try {
      const { signal } = this.#stop;
      const report = await retain(this.#parts, this.#rules, { signal }, true, this.#settled);
      const { runs, entries, blobs, bytes, skipped } = report;
      if (runs.length > 0) logger.info("values dropped", { runs: runs.length, entries, blobs, bytes });
      for (const { runId, why, detail } of skipped)
        if (why === "archive failed" || why === "unreadable")
          logger.warn("values not dropped", { runId, why, detail });
    } catch (error) {
      logger.error("retention failed", { error: String(error) });
    }
  }

  /** Ends it. Answers when nothing more is written. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#cancel?.();
    await this.#passing;
  }
}
