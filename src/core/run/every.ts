import { HoldfastError } from "../errors.ts";
import { hasActed, type ScopeNode } from "../journal/records.ts";

/**
 * How often a loop saves its state: every so many iterations, or `adaptive`: after an iteration that began a `keyed` or `once` step, and
 * else when a second has passed since, or 100 iterations have. Effects never depend on it: what is saved before them is.
 */
export type SaveEvery = number | "adaptive";

/** How runs are saved, where a loop does not say it itself. */
export interface CheckpointStrategy {
  readonly every?: SaveEvery;
}

const LONGEST_MS = 1_000;
const MOST = 100;

export function checkEvery(every: SaveEvery, option = "every"): SaveEvery {
  if (every === "adaptive" || (Number.isInteger(every) && every >= 1)) return every;
  throw new HoldfastError("HF-1003", {
    option,
    problem: 'it must be a whole number of 1 or more, or "adaptive"',
  });
}

export function checkStrategy(given: CheckpointStrategy | undefined): CheckpointStrategy | undefined {
  for (const key of Object.keys(given ?? {}))
    if (key !== "every")
      throw new HoldfastError("HF-1003", { option: `checkpoint.${key}`, problem: "there is no such option" });
  if (given?.every !== undefined) checkEvery(given.every, "checkpoint.every");
  return given;
}

/** Whether the iterations that are not saved yet must be. */
export function isDue(
  every: SaveEvery,
  { count, ms, node }: { readonly count: number; readonly ms: number; readonly node: ScopeNode | undefined },
): boolean {
  if (every !== "adaptive") return count >= every;
  return count >= MOST || ms >= LONGEST_MS || hasActed(node);
}
