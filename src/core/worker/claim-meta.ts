import { defined } from "../defined.ts";
import { fingerprint } from "../hash.ts";
import type { EventMeta, Keep } from "../journal/events.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";

export interface ClaimSettings {
  /** How many checkpoints are left of a workflow's runs whenever one is added. */
  readonly keep: (workflow: string) => Keep | undefined;
}

export type Claimable = Pick<RunRow, "workflow" | "recoveries">;

interface Claimer {
  readonly owner: string;
  readonly execution: ExecutionDeps;
  readonly settings: ClaimSettings;
}

/** What a worker's claim says: whose it is, on which store, for how long, and how many checkpoints are kept under it. */
export function claimMeta(
  { owner, execution: { identity, settings }, settings: { keep } }: Claimer,
  { workflow, recoveries }: Claimable,
  recovery = recoveries,
): EventMeta["run_claimed"] {
  const kept = keep(workflow);
  const place = { store: fingerprint(identity.incarnation), ms: settings.claimMs };
  return { owner, recovery, ...place, ...defined({ keep: kept }) };
}
