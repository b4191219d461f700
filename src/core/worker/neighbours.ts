import type { Clock } from "../clock.ts";
import type { Ports } from "../ports.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import { everyRun } from "../store/query.ts";
import type { RunRow } from "../types.ts";
import { isHolderGone } from "./claim-meta.ts";
import { type Freeing, freeClaim } from "./free-claim.ts";

/** How many held runs are looked at when a process has died, and at the beginning. */
const MOST = 5_000;

/** How many are looked at every few seconds, to learn which processes there are. */
const SAMPLE = 100;
const SAMPLE_MS = 5_000;

interface NeighboursDeps extends Freeing {
  readonly execution: Freeing["execution"] &
    Pick<ExecutionDeps, "store" | "time"> & {
      readonly ports: Pick<Ports, "processes"> & { readonly clock: Clock };
    };
  readonly workflows: { has(name: string): boolean };
  readonly isTaken: (row: RunRow) => boolean;
}

/**
 * Takes the runs of processes that have died on this machine, without waiting for their claims to expire. A claim's
 * token tells which process has it, and the operating system whether that process is alive. Other machines and
 * containers are left to expiry.
 */
export class Neighbours {
  readonly #deps: NeighboursDeps;
  /** A token of each process that was seen to hold a run. */
  readonly #tokens = new Map<string, string>();
  #nextAt = -Infinity;

  constructor(deps: NeighboursDeps) {
    this.#deps = deps;
  }

  async look(): Promise<void> {
    const { ports } = this.#deps.execution;
    const now = ports.clock.monotonic();
    const isFirst = this.#nextAt === -Infinity;
    const isLoss = [...this.#tokens.values()].some((token) => ports.processes.isGone(token));
    if (!isLoss && now < this.#nextAt) return;
    this.#nextAt = now + SAMPLE_MS;
    if (isLoss) this.#tokens.clear();
    try {
      await this.#see(isFirst || isLoss ? MOST : SAMPLE);
    } catch (error) {
      ports.logger.warn("the runs of other processes could not be looked through", { error: String(error) });
    }
  }

  async #see(most: number): Promise<void> {
    const { execution, workflows, isTaken } = this.#deps;
    const { store, time, ports } = execution;
    let seen = 0;
    for await (const row of everyRun(store, { status: ["queued", "running"] })) {
      const { token, until } = row.claim;
      if (++seen > most) return;
      if (token === null || until <= time.now() || row.damage !== undefined) continue;
      if (isTaken(row) || !workflows.has(row.workflow)) continue;
      if (isHolderGone(row, ports))
        await freeClaim(
          this.#deps,
          row,
          { gone: true },
          `${row.claim.owner ?? "A process"} had this run, and its process is gone: it can be taken over`,
        );
      else this.#tokens.set(token.slice(token.indexOf(".")), token);
    }
  }
}
