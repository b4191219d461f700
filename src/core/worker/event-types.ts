import { badOption } from "../check-options.ts";
import type { EventKind } from "../journal/events.ts";
import { didYouMean } from "../nearest.ts";

interface JournaledEvent<K extends EventKind> {
  readonly type: K;
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly step: string;
  readonly actor?: string;
}

/** Events for listeners. Sent only after the append behind them is durable. */
export type EngineEvent =
  | { [K in EventKind]: JournaledEvent<K> }[EventKind]
  | {
      readonly type: "checkpoint_saved";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly step: string;
      readonly checkpointId: string;
    }
  | {
      readonly type: "recovered";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly recovery: number;
    }
  /**
   * A run keeps losing its worker: this is takeover number `recovery` without progress; after `limit` it waits for
   * review.
   */
  | {
      readonly type: "recovery_alarm";
      readonly runId: string;
      readonly at: number;
      readonly recovery: number;
      readonly limit: number;
    }
  | {
      readonly type: "in_doubt";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly step: string;
    }
  | {
      readonly type: "gate_waiting";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly step: string;
      readonly digest: string;
    }
  | {
      readonly type: "checkpoint_failed";
      readonly runId: string;
      readonly at: number;
      readonly error: unknown;
      readonly sinceMs: number;
    }
  | EngineStateEvent;

/** Events about the engine itself, not about one of its runs. */
type EngineStateEvent =
  /** Writes fail. Runs wait at their next step; starts and acts are refused (HF-3002) until the store is back. */
  | { readonly type: "store_failing"; readonly at: number; readonly error: unknown }
  | { readonly type: "store_recovered"; readonly at: number; readonly sinceMs: number }
  /** Sent to one reader of `engine.events()` that is too slow: this many events before the next one were dropped. */
  | { readonly type: "events_missed"; readonly at: number; readonly count: number }
  /** `high`: no more runs are taken; `false` when memory is back to normal. `used`: the share of the heap in use. */
  | { readonly type: "memory_pressure"; readonly at: number; readonly used: number; readonly high: boolean };

/** The names of the engine's events. */
export type EngineEventType = EngineEvent["type"];
export type EngineEventOf<T extends EngineEventType> = Extract<EngineEvent, { type: T }>;
/** Every event type: the compiler makes sure that none is missing. */
const TYPES: Readonly<Record<EngineEventType, true>> = {
  run_created: true,
  run_forked: true,
  run_imported: true,
  import_accepted: true,
  run_migrated: true,
  run_claimed: true,
  run_waiting: true,
  run_released: true,
  run_paused: true,
  budget_set: true,
  run_resumed: true,
  run_completed: true,
  run_failed: true,
  run_cancelled: true,
  pause_requested: true,
  cancel_requested: true,
  act_noted: true,
  values_read: true,
  family_told: true,
  step_started: true,
  step_completed: true,
  step_failed: true,
  step_in_doubt: true,
  step_resolved: true,
  step_evidence: true,
  gate_answered: true,
  answer_fitted: true,
  child_finished: true,
  signal_received: true,
  signals_taken: true,
  value_edited: true,
  content_checked: true,
  plan_made: true,
  value_recorded: true,
  memory_written: true,
  stream_written: true,
  usage_recorded: true,
  decision_made: true,
  agent_updated: true,
  checkpoint_marked: true,
  checkpoint_tagged: true,
  key_wrapped: true,
  values_dropped: true,
  runs_deleted: true,
  loop_advanced: true,
  snapshot_taken: true,
  summary_taken: true,
  checkpoint_saved: true,
  recovered: true,
  recovery_alarm: true,
  in_doubt: true,
  gate_waiting: true,
  checkpoint_failed: true,
  store_failing: true,
  store_recovered: true,
  memory_pressure: true,
  events_missed: true,
};

/** Refuses a listener that would never be called. */
export function checkEventType(type: unknown): void {
  const known = Object.keys(TYPES);
  if (typeof type === "string" && known.includes(type)) return;
  const meant = typeof type === "string" ? didYouMean(type, known, ". Did you mean ") : "";
  throw badOption("type", `there is no event of this name${meant}`);
}
