import type { Acts } from "../journal/acts.ts";
import type { EventMeta } from "../journal/events.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";

export interface Freeing {
  readonly execution: Pick<ExecutionDeps, "engine"> & {
    readonly ports: Pick<ExecutionDeps["ports"], "logger">;
  };
  readonly acts: Acts;
  readonly claimed: (row: RunRow) => EventMeta["run_claimed"];
}

/**
 * Takes a run from its dead owner. The next sweep finds it, and counts a dead worker. It names no store: only a worker that continues a run may
 * say that it knows of a restore.
 */
export async function freeClaim(
  { acts, claimed, execution: { ports, engine } }: Freeing,
  row: RunRow,
  proof: { readonly gone?: true },
  why: string,
): Promise<void> {
  const { store: _store, ...meta } = claimed(row);
  const event =
    row.status === "running"
      ? ({ kind: "run_claimed", step: "", meta: { ...meta, ...proof } } as const)
      : ({ kind: "run_released", step: "", meta: {} } as const);
  const acted = await acts.write(row, { events: [event], claim: { kind: "revoke" } });
  if (!acted) return;
  ports.logger.warn(why, { runId: row.id });
  engine.durable(acted.row, acted.events);
}
