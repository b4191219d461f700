import { defined } from "../defined.ts";
import { fingerprint } from "../hash.ts";
import type { EventMeta, Keep } from "../journal/events.ts";
import type { Ports } from "../ports.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";

export interface ClaimSettings {
  /** How many checkpoints of a workflow's runs are kept whenever one is added. */
  readonly keep: (workflow: string) => Keep | undefined;
}

export type Claimable = Pick<RunRow, "workflow" | "recoveries">;

interface Claimer {
  readonly owner: string;
  readonly execution: ExecutionDeps;
  readonly settings: ClaimSettings;
}

/** Proves the ownership of a claim, and tells which process has it. */
export const claimToken = ({ ids, processes }: Pick<Ports, "ids" | "processes">): string =>
  `${ids.token()}.${processes.mark}`;

/** True when the process that had this run is provably gone. */
export const isHolderGone = (
  { claim }: Pick<RunRow, "claim">,
  { processes }: Pick<Ports, "processes">,
): boolean => claim.token !== null && processes.isGone(claim.token);

/** The facts about a lost worker: whether it is provably gone, and when its claim ended, unless that was freed. */
export const lossOf = (
  row: Pick<RunRow, "claim">,
  ports: Pick<Ports, "processes">,
): Pick<EventMeta["run_claimed"], "gone" | "lapsed"> => ({
  ...(isHolderGone(row, ports) ? { gone: true } : {}),
  ...(row.claim.until > 0 ? { lapsed: row.claim.until } : {}),
});

/** The content of a worker's claim: the owner, the store, its length, and how many checkpoints are kept under it. */
export function claimMeta(
  { owner, execution: { identity, settings }, settings: { keep } }: Claimer,
  { workflow, recoveries }: Claimable,
  recovery = recoveries,
): EventMeta["run_claimed"] {
  const kept = keep(workflow);
  const place = { store: fingerprint(identity.incarnation), ms: settings.claimMs };
  return { owner, recovery, ...place, ...defined({ keep: kept }) };
}
