import type { Clock } from "../clock.ts";
import type { Workflow } from "../context.ts";
import type { Act } from "../journal/act.ts";
import type { Logger } from "../logger.ts";
import type { Probe } from "../ports.ts";
import type { Store } from "../store/contract.ts";
import type { Documents } from "../store/documents.ts";
import type { ScheduleDefinition } from "./schedule-types.ts";

/** What schedules, limits and queues need of the engine. */
export interface FlowDeps {
  readonly store: Store;
  /** Throws HF-5107 when the store can't keep documents. */
  readonly documents: () => Documents;
  readonly hasDocuments: boolean;
  readonly mindsSchedules: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly probe: Probe;
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** The store's time, asked for now. */
  readonly now: () => Promise<number>;
  /** The same, as known here. */
  readonly timeNow: () => number;
  readonly newVersion: () => string;
  readonly newRunId: () => string;
  readonly register: (workflow: Workflow<never, unknown>) => void;
  /** Refuses an act without actor and reason, where the engine requires them (HF-4365). */
  readonly checkReason: (act: Act) => void;
  /** Starts a schedule's run, or finds that it exists. Returns why it can't be started at all. */
  readonly start: (
    workflow: Workflow,
    runId: string,
    schedule: string,
    definition: ScheduleDefinition,
    tick: number,
  ) => Promise<string | undefined>;
  /** Cancels a run and those it started, unless it has ended. */
  readonly cancel: (runId: string, reason: string) => Promise<void>;
}
