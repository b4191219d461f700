import type { EventDraft } from "../../core/journal/events.ts";

type Words = (step: string) => string;

/** Descriptions of writes for people: the parts that distinguish boundaries. */
const WORDS: Partial<Record<EventDraft["kind"], Words>> = {
  run_created: () => "the run is created",
  run_claimed: () => "the run is claimed",
  run_waiting: () => "the run waits",
  run_released: () => "the run is let go",
  run_resumed: () => "the run is resumed",
  run_completed: () => "the run is completed",
  run_failed: () => "the run fails",
  step_started: (step) => `${step} begins`,
  step_completed: (step) => `${step} done`,
  step_failed: (step) => `${step} failed`,
  step_in_doubt: (step) => `${step} in doubt`,
  step_resolved: (step) => `${step} settled`,
  gate_answered: (step) => `${step} answered`,
  child_finished: (step) => `${step} finished`,
  signal_received: () => "a signal comes",
  loop_advanced: (step) => `${step} continues`,
  snapshot_taken: () => "a snapshot",
  summary_taken: () => "a summary",
  checkpoint_marked: () => "a checkpoint",
  memory_written: () => "memory",
};

const MOST = 3;

/** A short description of a write, and the steps it concerns. */
export function describeWrite(events: readonly Pick<EventDraft, "kind" | "step">[]): {
  readonly label: string;
  readonly steps: readonly string[];
} {
  const words = events.flatMap(({ kind, step }) => WORDS[kind]?.(step) ?? []);
  const said = [...new Set(words.length > 0 ? words : events.map(({ kind }) => kind.replaceAll("_", " ")))];
  const more = said.length > MOST ? ` and ${said.length - MOST} more` : "";
  const steps = events.flatMap(({ kind, step }) => (step !== "" && kind.startsWith("step_") ? [step] : []));
  return { label: said.slice(0, MOST).join(", ") + more || "a transaction", steps: [...new Set(steps)] };
}
