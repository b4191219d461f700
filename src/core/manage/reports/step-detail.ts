import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import type { JournalEvent, Raw } from "../../journal/events.ts";
import { parseEntry } from "../../journal/journal.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import { entryAt } from "../../journal/read.ts";
import { type LoggedStep, StepLog } from "../../journal/step-log.ts";
import { isKeyAway, isUnreadable } from "../../journal/unreadable.ts";
import type { Preview } from "../../journal/values.ts";
import { isInside, outerOf } from "../../keys.ts";
import { nearest } from "../../nearest.ts";
import type { RunRow } from "../../types.ts";
import type { DecisionMade } from "../checkpoints/checkpoint-view.ts";
import { crashMeaning } from "../status/crash-meaning.ts";
import type { OutlineStep } from "./outline.ts";
import { type Attempt, journalOf, storyOf } from "./stories.ts";

/** What went wrong in an attempt. In an encrypted store, only what kind of error it was. */
export interface AttemptError {
  readonly name: string;
  readonly message?: string;
  readonly code?: string | number;
}

/** An attempt and how it went wrong. */
export interface AttemptDetail extends Attempt {
  readonly error?: AttemptError;
  /** The time between the end of this attempt and the next one. */
  readonly waitMs?: number;
  /** The worker that made it. */
  readonly owner: string;
}

/** One step of a run, without its values. */
export interface StepDetail extends Omit<OutlineStep, "attempts"> {
  readonly run: string;
  readonly attempts: readonly AttemptDetail[];
  /** The version of the workflow that began it. */
  readonly version: string;
  /** What a crash here would mean. */
  readonly crash: string;
  /** The positions of the decisions that were made in it. */
  readonly decisions: readonly { readonly seq: number; readonly at: number; readonly step: string }[];
}

/** The values of a step, each cut to its beginning. */
export interface StepValues {
  readonly run: string;
  readonly step: string;
  /** What a gate shows, or what a wait was given; `null` when nothing is recorded: a call keeps only a digest. */
  readonly given: Preview | null;
  readonly output: Preview | null;
  /** The errors of failed attempts, by attempt. */
  readonly errors: readonly { readonly attempt: number; readonly seq: number; readonly error: Preview }[];
  readonly decisions: readonly DecisionMade[];
  /** True when retention has dropped some of it. */
  readonly isDropped: boolean;
}

const MOST_PREVIEW = 65_536;
const MOST_ERRORS = 20;
const MOST_DECISIONS = 50;
const MOST_MESSAGE = 500;

export async function readStep(parts: EngineParts, runId: string, step: string): Promise<StepDetail> {
  const { row, logged, version, decisions } = await find(parts, runId, step);
  const { attempts, ...story } = storyOf(logged);
  const details = logged.attempts.map(async ({ owner, outcome, seq }, index): Promise<AttemptDetail> => {
    const attempt = attempts[index] as Attempt;
    const next = attempts[index + 1]?.startedAt ?? attempt.retryAt;
    const waitMs = next === undefined || attempt.endedAt === undefined ? undefined : next - attempt.endedAt;
    const isRead = outcome === "failed" && seq !== undefined && index >= attempts.length - MOST_ERRORS;
    const error = isRead ? await errorAt(parts, row, seq) : undefined;
    return { ...attempt, owner, ...defined({ error, waitMs }) };
  });
  return {
    run: row.id,
    ...story,
    attempts: await Promise.all(details),
    within: outerOf(logged.step),
    ...defined({ instead: logged.instead }),
    version,
    crash: crashMeaning(story.type, story.effect, story.state),
    decisions,
  };
}

/** The values of a step. Record the reading first. */
export async function readStepValues(parts: EngineParts, runId: string, step: string): Promise<StepValues> {
  const { row, logged, decisions } = await find(parts, runId, step);
  let isDropped = false;
  const preview = async (seq: number | undefined): Promise<Preview | null> => {
    const event = seq === undefined ? undefined : await eventAt(parts, row, seq);
    if (event?.dropped) isDropped = true;
    return event?.dropped ? null : parts.values.preview(row.id, event?.data, MOST_PREVIEW);
  };
  const failed = logged.attempts.filter(({ outcome }) => outcome === "failed").slice(-MOST_ERRORS);
  const errors: StepValues["errors"][number][] = [];
  for (const { attempt, seq = 0 } of failed) {
    const error = await preview(seq);
    if (error) errors.push({ attempt, seq, error });
  }
  const made: DecisionMade[] = [];
  for (const place of decisions.slice(-MOST_DECISIONS)) {
    const event = await eventAt(parts, row, place.seq);
    if (event?.dropped) isDropped = true;
    else made.push({ ...((await parts.values.decode(row.id, event?.data)) as DecisionMade), ...place });
  }
  const isDone = logged.record.status === "completed";
  return {
    run: row.id,
    step: logged.step,
    given: await preview(logged.attempts.at(-1)?.begun),
    output: isDone ? await preview(logged.record.seq) : null,
    errors,
    decisions: made,
    isDropped,
  };
}

interface Found {
  readonly row: RunRow;
  readonly logged: LoggedStep;
  readonly version: string;
  readonly decisions: StepDetail["decisions"];
}

async function find({ store }: EngineParts, runId: string, step: string): Promise<Found> {
  const row = await readRow(store, runId);
  const log = new StepLog();
  const decisions: { seq: number; at: number; step: string }[] = [];
  let version = "";
  let begunWith: string | undefined;
  for await (const event of journalOf(store, row)) {
    log.take(event);
    if (event.kind === "run_created") ({ version } = event.meta);
    if (event.kind === "run_migrated") version = event.meta.to;
    if (event.kind === "step_started" && event.step === step) begunWith = version;
    if (event.kind === "decision_made" && isWithin(event, step)) {
      const { seq, at } = event;
      decisions.push({ seq, at, step: event.step });
    }
  }
  const logged = log.find(step);
  if (logged) return { row, logged, version: begunWith ?? version, decisions };
  const known = Array.from(log.steps(), (one) => one.step);
  const [why, fix] =
    known.length === 0
      ? ["No step of the run has started.", runId]
      : [`The closest name is ${nearest(step, known)}.`, `${runId}:${nearest(step, known)}`];
  throw new HoldfastError("HF-4350", { run: runId, step, why, fix });
}

const isWithin = (event: JournalEvent, step: string): boolean =>
  event.step === step || isInside(event.step, step);

interface Stored {
  readonly data?: Raw | undefined;
  readonly dropped?: boolean;
}

async function eventAt({ store }: EngineParts, row: RunRow, seq: number): Promise<Stored | undefined> {
  const entry = await entryAt(store, row.id, seq);
  return entry && parseEntry(row.id, entry).events.find((event) => event.seq === seq);
}

async function errorAt(parts: EngineParts, row: RunRow, seq: number): Promise<AttemptError | undefined> {
  try {
    const event = await eventAt(parts, row, seq);
    const error: unknown = event?.dropped ? undefined : await parts.values.decode(row.id, event?.data);
    if (!(error instanceof Error)) return undefined;
    const { code } = error as { readonly code?: unknown };
    const known = typeof code === "string" || typeof code === "number" ? code : undefined;
    const message = parts.values.sealed ? undefined : error.message.slice(0, MOST_MESSAGE);
    return { name: error.name, ...defined({ message, code: known }) };
  } catch (error) {
    if (isUnreadable(error) || isKeyAway(error)) return undefined;
    throw error;
  }
}
