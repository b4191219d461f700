import { HoldfastError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { EngineEventType } from "./emitter.ts";

/** Every type of event there is: the compiler sees to it that none is missing. */
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
  family_told: true,
  step_started: true,
  step_completed: true,
  step_failed: true,
  step_in_doubt: true,
  step_resolved: true,
  step_evidence: true,
  gate_answered: true,
  child_finished: true,
  signal_received: true,
  signals_taken: true,
  value_edited: true,
  content_checked: true,
  plan_made: true,
  value_recorded: true,
  memory_written: true,
  usage_recorded: true,
  decision_made: true,
  agent_updated: true,
  checkpoint_marked: true,
  checkpoint_tagged: true,
  key_wrapped: true,
  values_dropped: true,
  loop_advanced: true,
  snapshot_taken: true,
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
  const meant = typeof type === "string" ? `. Did you mean ${nearest(type, known)}?` : "";
  throw new HoldfastError("HF-1003", { option: "type", problem: `there is no event of this name${meant}` });
}
