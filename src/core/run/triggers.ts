import { badOption, checkKeys, checkNumber } from "../check-options.ts";
import type { AgentState, Decision } from "../context.ts";
import type { Crossed, EventDraft } from "../journal/events.ts";
import { crossedInLabel } from "../journal/older-texts.ts";
import { lastSegment, scopeOf } from "../keys.ts";
import { type CheckpointTrigger, TRIGGERS, type Triggers } from "../options.ts";
import type { ActiveRun } from "./active-run.ts";
import type { TriggerSettings } from "./execution-deps.ts";

export function checkTrigger(trigger: unknown): asserts trigger is CheckpointTrigger {
  if (TRIGGERS.includes(trigger as CheckpointTrigger)) return;
  throw badOption("trigger", `${String(trigger)} is not one of ${TRIGGERS.join(", ")}`);
}

const KEYS: readonly string[] = [
  "confidence",
  "memoryPressure",
  "errors",
  "phases",
  "agents",
  "evaluations",
] satisfies (keyof Triggers)[];
const PRESSURE = 0.85;
const NONE = { confidence: null, errors: false, phases: false, agents: false, evaluations: false } as const;

/** By default only the protection of the process is on, so that nobody gets unexpected marks. */
export function triggerSettings(given: Triggers | false | undefined): TriggerSettings {
  if (given === undefined) return { ...NONE, memoryPressure: PRESSURE };
  if (given === false) return { ...NONE, memoryPressure: null };
  checkKeys(given, KEYS, "triggers");
  return {
    confidence: share("confidence", given.confidence ?? 0.5),
    memoryPressure: share("memoryPressure", given.memoryPressure ?? PRESSURE),
    errors: given.errors ?? true,
    phases: given.phases ?? true,
    agents: given.agents ?? true,
    evaluations: given.evaluations ?? true,
  };
}

const share = (key: string, value: number): number =>
  checkNumber(`triggers.${key}`, value, { above: 0, most: 1 });

/** The settings of a run: its workflow's, or the engine's. */
function settingsOf({ workflow: { triggers }, deps }: ActiveRun): TriggerSettings {
  const { memoryPressure } = deps.settings.triggers;
  if (triggers === undefined) return deps.settings.triggers;
  if (triggers === false) return { ...NONE, memoryPressure: null };
  const { confidence = 0.5, errors = true, phases = true, agents = true, evaluations = true } = triggers;
  return {
    confidence: confidence === false ? null : confidence,
    memoryPressure: triggers.memoryPressure === false ? null : memoryPressure,
    errors,
    phases,
    agents,
    evaluations,
  };
}

const mark = (
  label: string,
  trigger: CheckpointTrigger,
  more: { readonly crossed?: Crossed } = {},
): EventDraft => ({
  kind: "checkpoint_marked",
  step: "",
  meta: { label, trigger, ...more },
});

/** Called when a step has failed: for good, unless the event says when it is retried. */
export function markFailure(execution: ActiveRun, event: EventDraft & { kind: "step_failed" }): void {
  if (!settingsOf(execution).errors || event.meta.retryAt !== undefined) return;
  execution.writer.ride(mark(event.step, "error_encountered"));
}

/** Called when something has ended at this place. */
export function markPhase(execution: ActiveRun, step: string): void {
  if (!settingsOf(execution).phases) return;
  const plan = execution.state.facts.plans.get(scopeOf(step));
  if (plan?.steps?.includes(lastSegment(step))) execution.writer.ride(mark(step, "phase_completed"));
}

/** Status words of agents that are done. */
const FINISHED: readonly string[] = ["done", "completed", "finished"];

export function markFinished(execution: ActiveRun, agent: string, { status }: AgentState): void {
  if (settingsOf(execution).agents && FINISHED.includes(status.toLowerCase()))
    execution.writer.ride(mark(agent, "specialist_finished"));
}

export function markEvaluation(execution: ActiveRun, { type, agent, description }: Decision): void {
  if (settingsOf(execution).evaluations && type === "evaluation")
    execution.writer.ride(mark(agent ?? description.slice(0, LABEL_CHARS), "evaluation_completed"));
}

/** Descriptions may be long, so labels are truncated. */
const LABEL_CHARS = 80;

const CROSSED: CheckpointTrigger = "confidence_threshold_crossed";

/** Called for a new report of an agent, not on a replay. An agent without a report counts as confident. */
export function markConfidence(execution: ActiveRun, agent: string, { confidence }: AgentState): void {
  const limit = settingsOf(execution).confidence;
  if (limit === null || confidence === undefined || Number.isNaN(confidence)) return;
  const to = confidence < limit ? "below" : "above";
  if (to === sideOf(execution, agent)) return;
  execution.writer.ride(mark(`${agent}: ${to} ${limit}`, CROSSED, { crossed: { agent, to } }));
}

/** The marks themselves tell on which side an agent was last, even after a resume. */
function sideOf({ state, writer }: ActiveRun, agent: string): Crossed["to"] {
  const unwritten = writer.unwritten.flatMap(({ event }) =>
    event.kind === "checkpoint_marked" ? [event.meta] : [],
  );
  const crossings = [...state.facts.marks, ...unwritten].map(({ label, trigger, crossed }) =>
    trigger === CROSSED ? (crossed ?? crossedInLabel(label)) : undefined,
  );
  return crossings.findLast((one) => one?.agent === agent)?.to ?? "above";
}

export function markPressure(execution: ActiveRun): void {
  if (settingsOf(execution).memoryPressure === null) return;
  execution.writer.ride(mark("memory pressure", "memory_pressure_high"));
}
