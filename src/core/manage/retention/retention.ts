import { checkId } from "../../ids.ts";
import type { Act } from "../../journal/act.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { onDemand } from "../../on-demand.ts";
import type { Run } from "../../types.ts";
import type { Tombstone } from "./erase.ts";
import { type RetentionOptions, type RetentionPolicy, readPolicy } from "./policy.ts";
import type { RetentionReport } from "./report.ts";

const passing = onDemand(() => import("./passing.ts"));

/**
 * Drops values that a policy doesn't keep. Each write is an act on one run, on condition that the run is unchanged
 * since it was read, and is recorded in its journal (`values_dropped`). Heads stay, so the record of what happened
 * still verifies. It may be interrupted anywhere: whatever should be kept is there, and the next call continues.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const engine = createEngine({ store: await openSqliteStore() });
 * const { bytes } = await engine.retention.preview("default");
 * if (bytes > 1_000_000_000) await engine.retention.prune("default", { reason: "disk space" });
 * await engine.close();
 * ```
 */
export class Retention {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Predicts what `prune` would do now. Changes nothing. */
  async preview(policy: RetentionPolicy, options: RetentionOptions = {}): Promise<RetentionReport> {
    return (await passing()).retain(this.#parts, readPolicy(policy), options, false);
  }

  /** Drops what the policy does not keep. */
  async prune(policy: RetentionPolicy, options: RetentionOptions = {}): Promise<RetentionReport> {
    return (await passing()).retain(this.#parts, readPolicy(policy), options, true);
  }

  /** The deletions on record, oldest first: those for which a tombstone was left. */
  async *deleted(): AsyncGenerator<Tombstone, void, undefined> {
    yield* (await passing()).tombstones(this.#parts);
  }

  /** Keeps all values of a run and of the runs below it, for all checkpoints, regardless of any policy. */
  async pin(runId: string, act: Act = {}): Promise<Run> {
    checkId(runId);
    return (await passing()).pinRun(this.#parts, runId, true, act);
  }

  /** Makes the run subject to policies again. Individually pinned checkpoints stay pinned. */
  async unpin(runId: string, act: Act = {}): Promise<Run> {
    checkId(runId);
    return (await passing()).pinRun(this.#parts, runId, false, act);
  }
}
