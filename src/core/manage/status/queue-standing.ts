import type { Store } from "../../store/contract.ts";
import { countRuns } from "./count-runs.ts";

/** The runs of a queue: those that are being advanced, and those that stand in line. */
export interface QueueStanding {
  readonly running: number;
  readonly waiting: number;
}

/** The same for one key of the queue; `null`: runs without a key. */
export interface KeyStanding extends QueueStanding {
  readonly key: string | null;
}

export interface QueueKeys {
  /** The key with the most runs first. */
  readonly keys: readonly KeyStanding[];
  /** True when there are more runs than were looked at. */
  readonly moreKeys: boolean;
}

const STATUSES = ["running", "queued"] as const;
/** The most runs of each status that are looked at for their keys. */
const MOST = 1_000;

export async function queueStanding(store: Store, queue: string): Promise<QueueStanding> {
  const { byStatus } = await countRuns(store, { queue, status: STATUSES });
  return { running: byStatus.running, waiting: byStatus.queued };
}

export async function queueKeys(store: Store, queue: string): Promise<QueueKeys> {
  const found = new Map<string | null, { running: number; waiting: number }>();
  let moreKeys = false;
  for (const status of STATUSES) {
    const { runs, cursor } = await store.list({ queue, status: [status], limit: MOST });
    moreKeys ||= cursor !== null;
    for (const { key } of runs) {
      const standing = found.get(key) ?? { running: 0, waiting: 0 };
      found.set(key, standing);
      standing[status === "running" ? "running" : "waiting"]++;
    }
  }
  const keys = [...found].map(([key, standing]) => ({ key, ...standing }));
  return { keys: keys.sort((a, b) => b.running + b.waiting - (a.running + a.waiting)), moreKeys };
}
