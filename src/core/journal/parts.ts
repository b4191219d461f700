import type { AnswerSchemas } from "../answer-schemas.ts";
import type { Workflow } from "../context.ts";
import type { Ports } from "../ports.ts";
import type { Store } from "../store/contract.ts";
import type { StoreTime } from "../store/time.ts";
import type { RunRow } from "../types.ts";
import type { Acts, Decide } from "./acts.ts";
import type { JournalEvent } from "./events.ts";
import type { Folds } from "./folds.ts";
import type { JustRead } from "./just-read.ts";
import type { Observer } from "./observer.ts";
import type { RunLogs } from "./run-logs.ts";
import type { Values } from "./values.ts";

/** The parts of an engine that work on stored runs from outside. */
export interface EngineParts {
  readonly store: Store;
  readonly acts: Acts;
  readonly values: Values;
  readonly folds: Folds;
  /** The run that was read in order to continue it, for this process's worker. */
  readonly justRead: JustRead;
  readonly ports: Ports;
  readonly time: StoreTime;
  /** The schemas of gates that runs of this process wait at. */
  readonly answerSchemas: AnswerSchemas;
  /** The workflows that this process has code for. */
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** The lines that workflows write with `ctx.log`. */
  readonly logs: RunLogs;
  /** Watches what this engine does, if anything does. */
  readonly observer?: Observer | undefined;
  /** Called with the events written to a run, once they are durable. */
  written(row: RunRow, events: readonly JournalEvent[]): void;
}

/** Acts on a run from outside and notifies all waiters; returns the run's new row. */
export async function actOn(parts: EngineParts, runId: string, decide: Decide): Promise<RunRow> {
  const { row, events } = await parts.acts.act(runId, decide);
  if (events.length > 0) parts.written(row, events);
  return row;
}
