import { checkNumber } from "../check-options.ts";
import type { Workflow } from "../context.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { waitedForBudget } from "../guards/budget.ts";
import { childId } from "../ids.ts";
import { isEditedSince, isUsed } from "../journal/answers.ts";
import type { EventDraft, JournalEvent, StepStarted, Voided } from "../journal/events.ts";
import { decidedAt, type StepRecord } from "../journal/records.ts";
import { insistOn } from "../journal/row-shape.ts";
import { forChild } from "../journal/wait-reason.ts";
import type { ChildOptions } from "../options.ts";
import { type EffectPolicy, ended, type Waiting } from "../types.ts";
import type { ActiveRun } from "./active-run.ts";
import type { StepPlace } from "./call.ts";
import type { ChildRequest } from "./execution-deps.ts";
import { givenByParent } from "./given.ts";
import { recordedValue, refuseInside } from "./recorded.ts";

/** A question to a person, and how its answer counts. */
interface Question {
  readonly shown?: unknown;
  /** An answer is valid only for exactly what was shown. */
  readonly strict?: boolean;
  /** Why the answer that was given doesn't count. */
  readonly refused?: string | undefined;
}

/** Steps that wait instead of calling: gates, timers, signals and children. Each is opened once and decided once. */
export async function open(
  execution: ActiveRun,
  place: StepPlace,
  meta: Omit<StepStarted, "effect" | "attempt" | "call">,
  question: Question = {},
): Promise<StepRecord> {
  const { shown, strict = false, refused } = question;
  refuseInside(place);
  const known = place.scope.node?.records.get(place.name);
  const isVoid =
    known !== undefined &&
    (refused !== undefined ||
      isVoided(execution, place, known, { args: meta.args, isBlank: isBlank(shown), strict }));
  if (known && !known.reopened && !isVoid) return known;
  const voids = isVoid ? { voids: { ...voided(known), ...defined({ refused }) } } : {};
  const attempt = (known?.attempt ?? 0) + 1;
  const started: StepStarted = { effect: "repeatable", attempt, call: 1, ...meta, ...voids };
  const encoded = shown === undefined ? undefined : execution.deps.values.encode(place.key, shown);
  const event: EventDraft = {
    kind: "step_started",
    step: place.key,
    meta: started,
    ...(encoded ? { data: encoded.data } : {}),
  };
  const isOpened = await execution.intent(event, place.scope.frame, encoded ? { blobs: encoded.blobs } : {});
  if (isOpened) return execution.state.find(place.key) as StepRecord;
  // The question was decided in the meantime: checks again whether that is valid for what is shown now.
  return open(execution, place, meta, { shown, strict });
}

/**
 * True when a question must be asked again: an answer is valid only for what was shown. An approval also expires, and
 * an answer to a gate that shows nothing doesn't survive an edit made before it was used.
 */
function isVoided(
  execution: ActiveRun,
  { key }: StepPlace,
  known: StepRecord,
  {
    args,
    isBlank,
    strict,
  }: { readonly args: string | undefined; readonly isBlank: boolean; readonly strict: boolean },
): boolean {
  if (args === undefined) return false;
  if (strict && isOverdue(execution, known)) return true;
  // A value set for a failed gate was never shown.
  const isOther = known.args !== args && (known.args !== undefined || strict);
  if (isOther) return strict || known.status === "started" || known.status === "completed";
  if (!isBlank || known.args === undefined || known.status !== "completed") return false;
  return isEditedSince(execution.state, known.seq) && !isUsed(execution.state, key, known.seq);
}

const isBlank = (shown: unknown): boolean =>
  typeof shown === "object" && shown !== null && "show" in shown && shown.show === undefined;

const voided = ({ seq, status }: StepRecord): Voided => ({
  seq,
  ...(status === "completed" ? { answered: true } : {}),
});

/** True when it was answered, but its time is up. */
const isOverdue = ({ deps }: ActiveRun, { status, until }: StepRecord): boolean =>
  status === "completed" && until !== undefined && deps.time.now() >= until;

/** Waits for the record to be decided from outside; `overdue` decides it when its time has passed. */
export async function untilDecided(
  execution: ActiveRun,
  place: StepPlace,
  record: StepRecord,
  waiting: Omit<Waiting, "step" | "since" | "until">,
  overdue: () => Promise<void>,
): Promise<StepRecord> {
  const { time } = execution.deps;
  let current = record;
  while (current.status === "started") {
    if (current.until !== undefined && time.now() >= current.until) {
      await overdue();
    } else {
      const until = defined({ until: current.until });
      const wait = { ...waiting, step: place.key, since: current.since, ...until };
      await execution.wait(place.key, wait, place.scope.frame);
    }
    current = execution.state.find(place.key) ?? current;
  }
  execution.memory.met(decidedAt(current));
  return current;
}

/** Fails a wait for good, unless it is decided first, or `comes` arrives first: a late read must not miss that. */
export async function failWait(
  execution: ActiveRun,
  place: StepPlace,
  error: HoldfastError,
  comes?: (event: JournalEvent) => boolean,
): Promise<void> {
  const { data, blobs } = execution.deps.values.encode(place.key, error);
  await execution.contest({ kind: "step_failed", step: place.key, meta: { attempt: 1 }, data }, blobs, comes);
}

/** Returns the decided wait's value, or throws its failure. */
export async function outcome(execution: ActiveRun, place: StepPlace, record: StepRecord): Promise<unknown> {
  const value = await recordedValue(execution, place.key, record);
  if (record.status === "completed") return value;
  execution.blamed.put(value, [place.key]);
  throw value;
}

export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs !== undefined) checkNumber("timeoutMs", timeoutMs, { least: 0 });
}

export async function sleep(execution: ActiveRun, place: StepPlace, ms: number): Promise<void> {
  checkNumber("ms", ms, { least: 0 });
  await execution.enter();
  const record = await open(execution, place, {
    type: "timer",
    until: execution.deps.time.now() + ms,
  });
  await untilDecided(execution, place, record, { kind: "timer" }, async () => {
    await execution.contest({ kind: "step_completed", step: place.key, meta: {} });
  });
}

interface Offspring<I, O> {
  readonly workflow: Workflow<I, O>;
  readonly input: I;
  readonly options: ChildOptions;
  /** Called when the child exists. */
  readonly begun: () => void;
}

export async function child<I, O>(
  execution: ActiveRun,
  place: StepPlace,
  { workflow, input, options, begun }: Offspring<I, O>,
): Promise<O> {
  const given = givenByParent(execution, workflow as Workflow, input, options);
  await execution.enter();
  const known = place.scope.node?.records.get(place.name);
  // A record from before a fork belongs to the source's child.
  const isOwn = known !== undefined && known.seq > (execution.state.facts.fork?.seq ?? 0);
  const id = (isOwn ? known.child : undefined) ?? childId(execution.runId, freeKey(execution, place.key));
  if (!known) await execution.code?.hold(place);
  if (!known) await waitedForBudget(execution, place);
  const record = await open(execution, place, { type: "child", child: id });
  const isBegun = execution.state.begun.has(id);
  if (record.status === "started" && !isBegun)
    await beginChild(execution, place, { workflow: workflow as Workflow, input, id, given });
  begun();
  const decided = await untilDecided(execution, place, record, forChild(id), async () => undefined);
  return (await outcome(execution, place, decided)) as O;
}

/** A child that has been renamed since may have begun under this key. */
function freeKey(execution: ActiveRun, key: string): string {
  const call = execution.state.freeCall(key);
  return call === 1 ? key : `${key}|${call}`;
}

/**
 * Makes sure that the child exists and continues. Repeated on a replay, unless the journal says that the run has waited
 * for it since.
 */
async function beginChild(
  execution: ActiveRun,
  place: StepPlace,
  { workflow, input, id, given }: Pick<ChildRequest, "workflow" | "input" | "id" | "given">,
): Promise<void> {
  const { engine } = execution.deps;
  const { facts } = execution.state;
  const parent = { runId: execution.runId, step: place.key };
  let effects: EffectPolicy | undefined;
  try {
    if (facts.fork)
      effects = await execution.busy(engine.forkChild({ id, workflow, input, parent, given, facts }));
  } catch (error) {
    if (!HoldfastError.is(error, "HF-1023")) throw error;
    return failWait(execution, place, error);
  }
  const attempt = execution.state.find(place.key)?.attempt ?? 1;
  if (attempt > 1) await execution.busy(engine.resumeChild(id, { step: place.key, attempt }));
  const row = await execution.busy(
    engine.startChild(workflow, id, input, parent, { ...given, effects }).then(insistOn),
  );
  // The child may have ended, and reported that, before this wait was opened again.
  if (ended(row.status)) await execution.busy(engine.notifyParent(row));
}
