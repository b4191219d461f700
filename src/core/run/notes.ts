import { checkKeys, checkNumber, checkObject } from "../check-options.ts";
import type { AgentState, CheckpointOptions, Decision } from "../context.ts";
import { defined } from "../defined.ts";
import { derivedNumber, derivedUuid } from "../ids.ts";
import type { EventMeta, JournalEvent, UsageMeta } from "../journal/events.ts";
import { markWith } from "../journal/placed-records.ts";
import { markNote } from "../keys.ts";
import { checkNamed } from "../names.ts";
import type { CheckpointTrigger } from "../options.ts";
import type { CheckpointRecord } from "../records.ts";
import { unpricedOf } from "../types.ts";
import type { UsageReport } from "../usage.ts";
import type { ActiveRun } from "./active-run.ts";
import { place, placeNote } from "./scope.ts";
import { checkTrigger, markConfidence, markEvaluation, markFinished } from "./triggers.ts";

/**
 * Notes: facts recorded beside the steps. Each has an address, so that a replay finds it and doesn't write it twice.
 */
type NoteKind = "usage_recorded" | "decision_made" | "agent_updated" | "plan_made";

/** Returns true when it is new. */
function note<K extends NoteKind>(
  execution: ActiveRun,
  name: string,
  kind: K,
  meta: EventMeta[K],
  value?: unknown,
): boolean {
  execution.enterNow();
  const scope = execution.scope();
  const at = placeNote(scope, name);
  if (scope.node?.notes.has(at.name)) return false;
  const encoded = value === undefined ? undefined : execution.deps.values.encode(at.key, value);
  const event = { kind, step: at.key, meta, ...(encoded ? { data: encoded.data } : {}) };
  execution.record(event as Parameters<ActiveRun["record"]>[0], encoded?.blobs);
  return true;
}

export function decide(execution: ActiveRun, decision: Decision): void {
  const isNew = note(execution, "decision", "decision_made", {}, decision);
  if (isNew) markEvaluation(execution, decision);
}

export function plan(execution: ActiveRun, steps: readonly string[]): void {
  note(execution, "plan", "plan_made", { steps });
}

export function agent(execution: ActiveRun, name: string, state: AgentState): void {
  const isNew = note(execution, `agent:${name}`, "agent_updated", { agent: name }, state);
  if (!isNew) return;
  markConfidence(execution, name, state);
  markFinished(execution, name, state);
}

export function usage(execution: ActiveRun, report: UsageReport): void {
  if (report.model !== undefined) checkNamed("model", report.model, 200);
  const tokens = amount("tokens", report.tokens);
  const counted = {
    tokens,
    costUsd: amount("costUsd", report.costUsd),
    unpriced: report.costUsd === undefined ? tokens : 0,
    ...defined({ model: report.model }),
  };
  const { frame } = execution.scope();
  if (!frame) return void note(execution, "usage", "usage_recorded", usageMeta(counted));
  const before = frame.usage ?? { tokens: 0, costUsd: 0 };
  frame.usage = usageMeta({
    ...counted,
    tokens: tokens + before.tokens,
    costUsd: counted.costUsd + before.costUsd,
    unpriced: counted.unpriced + unpricedOf(before),
  });
}

/** Says how much has no price only where that doesn't follow from the cost. */
function usageMeta({ unpriced, ...usage }: Required<Omit<UsageMeta, "model">> & UsageMeta): UsageMeta {
  return unpriced === unpricedOf(usage) ? usage : { ...usage, unpriced };
}

const amount = (option: string, value = 0): number => checkNumber(option, value, { least: 0 });

/** Marks a checkpoint and returns its address once it is durable. Its record travels in the same append. */
export async function checkpoint(
  execution: ActiveRun,
  label: string,
  how: CheckpointTrigger | CheckpointOptions,
): Promise<string> {
  const { trigger, record } = marking(how);
  await execution.enter();
  const scope = execution.scope();
  const at = place(scope, markNote(label));
  const known = scope.node?.notes.get(at.name);
  const seq =
    known?.seq ??
    (await new Promise<number>((resolve) => {
      const mark = { kind: "checkpoint_marked", step: at.key, meta: { label, trigger } } as const;
      const onDurable = ({ seq: written }: JournalEvent) => resolve(written);
      execution.writer.record({ ...markWith(mark, record, execution.deps.values), onDurable });
    }));
  return `${execution.runId}@${seq}`;
}

function marking(how: CheckpointTrigger | CheckpointOptions): {
  readonly trigger: CheckpointTrigger;
  readonly record: CheckpointRecord | undefined;
} {
  if (typeof how === "string") {
    checkTrigger(how);
    return { trigger: how, record: undefined };
  }
  checkObject("checkpoint", how, "a trigger, or an object with a trigger and a record");
  checkKeys(how, ["trigger", "record"], "checkpoint");
  const { trigger = "user_requested", record } = how;
  checkTrigger(trigger);
  return { trigger, record };
}

export function now(execution: ActiveRun): number {
  execution.enterNow();
  const scope = execution.scope();
  const at = placeNote(scope, "now");
  const known = scope.node?.notes.get(at.name)?.value;
  if (known !== undefined) return known;
  const value = execution.deps.time.now();
  execution.record({ kind: "value_recorded", step: at.key, meta: { value } });
  return value;
}

/** Derived, not recorded: the same run gets the same answer at the same place. */
function derive<T>(execution: ActiveRun, name: string, from: (text: string) => T): T {
  execution.enterNow();
  const at = place(execution.scope(), name);
  const step = execution.state.firstPlace(at.key);
  const { id, lineage } = execution.writer.row;
  const { seed } = execution.state.facts;
  if (seed === undefined) return from(execution.idempotencyKey(step, 0));
  return from([seed, id, lineage, step].join("|"));
}

export const random = (execution: ActiveRun, name: string): number =>
  derive(execution, `random:${name}`, derivedNumber);
export const uuid = (execution: ActiveRun, name: string): string =>
  derive(execution, `uuid:${name}`, derivedUuid);
