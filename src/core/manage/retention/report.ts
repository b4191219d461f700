import { defined } from "../../defined.ts";
import type { Mutable, RunRow } from "../../types.ts";
import type { Item } from "./plan.ts";
import type { Rules } from "./policy.ts";

/** The rules of a policy by which values are dropped. */
export type RetentionReason = "maxAge" | "failedMaxAge" | "keepLast" | "keepPerPhase";

/** A run that lost values. */
export interface RetentionRun {
  readonly runId: string;
  readonly workflow: string;
  readonly why: readonly RetentionReason[];
  /** Checkpoints that were let go: they are not listed any more, and cannot be come back to. */
  readonly checkpoints: number;
  /** Entries whose values were dropped, blobs that were deleted, and the length of both. */
  readonly entries: number;
  readonly blobs: number;
  readonly bytes: number;
  /** Nothing is left but the record of what happened. */
  readonly pruned: boolean;
}

/**
 * A run that was left alone although its time had come. `in use`: its parent has not been told of its end, or can still be resumed and
 * would resume it too; or its children have not ended; or it changed again and again while it was looked at. `unreadable`: its journal
 * is damaged.
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
  /** Of all runs together. */
  readonly checkpoints: number;
  readonly entries: number;
  readonly blobs: number;
  readonly bytes: number;
  /** `false`: it was stopped, or met its limit of runs; there may be more to drop. */
  readonly complete: boolean;
  /** Rules of a preset that mean nothing on this store; left out where there is none. */
  readonly withoutEffect?: readonly "cacheTtl"[];
}

/** A report as it comes about. */
export class ReportDraft {
  complete = true;
  readonly #runs = new Map<string, Mutable<RetentionRun>>();
  /** A run that changed meanwhile was looked at more than once. */
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
    { checkpoints, pruned }: { readonly checkpoints: number; readonly pruned: boolean },
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

/** The rules that ask for old checkpoints of a run to be let go. */
export const trimming = ({ keepLast, keepPerPhase }: Rules): readonly RetentionReason[] => [
  ...(keepLast === undefined ? [] : (["keepLast"] as const)),
  ...(keepPerPhase === undefined ? [] : (["keepPerPhase"] as const)),
];
