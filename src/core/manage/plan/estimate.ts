import type { Store } from "../../store/contract.ts";
import { type Run, shownUsage } from "../../types.ts";

/** The remaining work of a run, estimated from the newest runs of its workflow that were completed. */
export interface Estimate {
  readonly ms: number;
  /** `null` when the price of none of them is known. */
  readonly costUsd: number | null;
  /** The number of runs that it is the median of. */
  readonly runs: number;
}

const RUNS = 20;

/** `undefined` when no run of the workflow was completed yet. */
export async function estimateRest(
  store: Pick<Store, "list">,
  { workflow, activeMs, usage }: Pick<Run, "workflow" | "activeMs" | "usage">,
): Promise<Estimate | undefined> {
  const { runs } = await store.list({ workflow, status: ["completed"], limit: RUNS });
  if (runs.length === 0) return undefined;
  const costs = runs.flatMap((one) => shownUsage(one.usage).costUsd ?? []);
  return {
    ms: Math.max(0, median(runs.map((one) => one.activeMs)) - activeMs),
    costUsd: costs.length === 0 ? null : Math.max(0, median(costs) - usage.costUsd),
    runs: runs.length,
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
