import { hostname } from "node:os";
import type { Engine } from "../core/engine/engine.ts";
import type { Store } from "../core/store/contract.ts";
import { BEAT_MS, servedBy } from "../core/worker/registry.ts";
import { ownerName } from "./owner.ts";

/** The runs that a command advances at once, unless it is told otherwise. */
export const RUNS_AT_ONCE = 1_000;

/** A worker in the list of workers, as long as it is there. */
export interface Presence {
  readonly owner: string;
  /** Says that it takes no more runs. */
  stopping(): Promise<void>;
  /** Takes it off the list. */
  end(): Promise<void>;
}

/** Says that this process advances runs, now and again until it ends. */
export async function appear(engine: Engine, store: Store, concurrency: number): Promise<Presence> {
  const told = {
    owner: ownerName(),
    host: hostname(),
    pid: process.pid,
    workflows: [...engine.workflows.values()].map(servedBy),
    concurrency,
    since: await store.now(),
  };
  let isStopping = false;
  const beat = async (): Promise<void> => {
    const { running } = engine.health().worker;
    // Only a display: a worker whose beat can't be written goes on.
    await engine.workers.beat({ ...told, running, isStopping }).catch(() => undefined);
  };
  await beat();
  const beats = setInterval(() => void beat(), BEAT_MS);
  return {
    owner: told.owner,
    async stopping() {
      isStopping = true;
      await beat();
    },
    async end() {
      clearInterval(beats);
      await engine.workers.remove(told.owner).catch(() => undefined);
    },
  };
}
