import type { Workflow } from "../context.ts";
import type { Ports } from "../ports.ts";
import type { Store } from "../store/contract.ts";
import type { StoreTime } from "../store/time.ts";
import type { RunRow } from "../types.ts";
import type { Acts, Decide } from "./acts.ts";
import type { JournalEvent } from "./events.ts";
import type { Folds } from "./folds.ts";
import type { Values } from "./values.ts";

/** What an engine is made of, for those who work on stored runs from outside. */
export interface EngineParts {
  readonly store: Store;
  readonly acts: Acts;
  readonly values: Values;
  readonly folds: Folds;
  readonly ports: Ports;
  readonly time: StoreTime;
  /** The workflows whose code this process has. */
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** Called with what was written to a run, once it is durable. */
  written(row: RunRow, events: readonly JournalEvent[]): void;
}

/** Acts on a run from outside, and lets everybody know who waits for it; answers the run as it then stands. */
export async function actOn(parts: EngineParts, runId: string, decide: Decide): Promise<RunRow> {
  const { row, events } = await parts.acts.act(runId, decide);
  if (events.length > 0) parts.written(row, events);
  return row;
}
