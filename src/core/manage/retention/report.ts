import { defined } from "../../defined.ts";
import type { Mutable, RunRow } from "../../types.ts";
import type { Item } from "./plan.ts";
import type { Rules } from "./policy.ts";

/** The rules that cause values to be dropped. */
export type RetentionReason = "maxAge" | "failedMaxAge" | "keepLast" | "keepPerPhase" | "checkpointMaxAge";

/** A run that lost values. */
export interface RetentionRun {
  readonly runId: string;
  readonly workflow: string;
  readonly why: readonly RetentionReason[];
  /** Dropped checkpoints: they are no longer listed, and can't be restored. */
  readonly checkpoints: number;
  /** Entries whose values were dropped, deleted blobs, and the length of both. */
  readonly entries: number;
  readonly blobs: number;
  readonly bytes: number;
  /** True when nothing is left but the record of what happened, or not even that. */
  readonly pruned: boolean;
  /** Present when the run is gone. */
  readonly deleted?: true;
}

/**
 * A due run that was left alone. `in use`: its parent hasn't been told of its end, or can still be resumed and would
 * resume it too; or its children haven't ended; or it kept changing while it was examined. `unreadable`: its journal is
 * damaged.
 */
export interface RetentionSkip {
  readonly runId: string;
  readonly workflow: string;
  readonly why: "pinned" | "keepSuccessful" | "in use" | "archive failed" | "unreadable";
  readonly detail?: string;
}

/** What was dropped, or would be. */
export interface RetentionReport {
  readonly runs: readonly RetentionRun[];
  readonly skipped: readonly RetentionSkip[];
  /** For all runs together. */
  readonly checkpoints: number;
  readonly entries: number;
  readonly blobs: number;
  readonly bytes: number;
  /** `false`: it was stopped, or reached its limit of runs; there may be more to drop. */
  readonly complete: boolean;
  /** Rules of a preset that have no effect on this store; omitted when there are none. */
  readonly withoutEffect?: readonly "cacheTtl"[];
}

/** A report in progress. */
export class ReportDraft {
  complete = true;
  readonly #runs = new Map<string, Mutable<RetentionRun>>();
  /** A run that changed in the meantime was examined more than once. */
  readonly #skipped = new Map<string, RetentionSkip>();
  readonly #withoutEffect: NonNullable<RetentionReport["withoutEffect"]>;

  constructor(withoutEffect: NonNullable<RetentionReport["withoutEffect"]>) {
    this.#withoutEffect = withoutEffect;
  }

  /** How many runs lost values. */
  get touched(): number {
    return this.#runs.size;
  }

  add(
    { id, workflow }: RunRow,
    why: readonly RetentionReason[],
    items: readonly Item[],
    { checkpoints, pruned, deleted }: Pick<RetentionRun, "checkpoints" | "pruned" | "deleted">,
  ): void {
    const known = this.#runs.get(id);
    const run = known ?? { runId: id, workflow, why, checkpoints: 0, entries: 0, blobs: 0, bytes: 0, pruned };
    this.#runs.set(id, run);
    for (const item of items) {
      run["entry" in item ? "entries" : "blobs"] += 1;
      run.bytes += item.bytes;
    }
    run.checkpoints += checkpoints;
    run.pruned = pruned;
    if (deleted) run.deleted = true;
  }

  skip({ id, workflow }: RunRow, why: RetentionSkip["why"], detail?: string): void {
    const skipped = { runId: id, workflow, why, ...defined({ detail }) };
    this.#skipped.set(`${id} ${why}`, skipped);
  }

  finish(): RetentionReport {
    const runs = [...this.#runs.values()];
    const sum = (key: "checkpoints" | "entries" | "blobs" | "bytes") =>
      runs.reduce((total, run) => total + run[key], 0);
    return {
      runs,
      skipped: [...this.#skipped.values()],
      checkpoints: sum("checkpoints"),
      entries: sum("entries"),
      blobs: sum("blobs"),
      bytes: sum("bytes"),
      complete: this.complete,
      ...(this.#withoutEffect.length === 0 ? {} : { withoutEffect: this.#withoutEffect }),
    };
  }
}

/** The rules that drop old checkpoints of a run. */
export const trimming = ({ keepLast, keepPerPhase, checkpointMaxAge }: Rules): readonly RetentionReason[] => [
  ...(checkpointMaxAge === undefined ? [] : (["checkpointMaxAge"] as const)),
  ...(keepLast === undefined ? [] : (["keepLast"] as const)),
  ...(keepPerPhase === undefined ? [] : (["keepPerPhase"] as const)),
];
