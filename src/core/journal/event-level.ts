import type { LogLevel } from "../log-line.ts";
import type { EventKind, JournalEvent } from "./events.ts";

const INFO: readonly EventKind[] = [
  "run_created",
  "run_forked",
  "run_migrated",
  "run_paused",
  "run_resumed",
  "run_completed",
  "run_waiting",
  "step_completed",
  "step_resolved",
  "step_evidence",
  "gate_answered",
  "child_finished",
  "signal_received",
  "value_edited",
  "decision_made",
  "checkpoint_marked",
  "budget_set",
];
const WARN: readonly EventKind[] = ["pause_requested", "cancel_requested", "run_cancelled", "values_dropped"];

/** The importance of an event. Intents, claims, notes and snapshots are details. */
export function levelOf(event: JournalEvent): LogLevel {
  switch (event.kind) {
    case "run_failed":
    case "step_in_doubt":
      return "error";
    case "step_failed":
      return event.meta.retryAt === undefined ? "error" : "warn";
    case "signals_taken":
      return event.meta.refused === undefined ? "debug" : "warn";
    case "content_checked":
      return event.meta.verdict === "allow" ? "debug" : "warn";
    case "run_claimed":
      return event.meta.recovery > 0 ? "warn" : "debug";
    case "child_finished":
      return event.meta.status === "completed" ? "info" : "error";
    default:
      return WARN.includes(event.kind) ? "warn" : INFO.includes(event.kind) ? "info" : "debug";
  }
}
