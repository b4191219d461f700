import type { JournalEvent, StepStarted } from "../../core/journal/events.ts";
import { approvalOf, isUndo } from "../../core/keys.ts";
import type { EffectPolicy, RunRow } from "../../core/types.ts";
import type { WitnessCall } from "../witness/log.ts";
import { ownEvents } from "./step-names.ts";

/** A run, its calls, and a function to report violations. */
interface Case {
  readonly row: Pick<RunRow, "id" | "origin" | "parent">;
  readonly events: readonly JournalEvent[];
  readonly calls: readonly WitnessCall[];
  readonly report: (invariant: "I3" | "I4", message: string) => void;
}

/** The position of an event in the order of all writes, as far as it is known. */
export type Order = (runId: string, event: JournalEvent) => number;

/** A call that a run has completed. */
interface Done {
  readonly order: number;
  readonly args: string | undefined;
}

type Cases = ReadonlyMap<string, Case>;
type DeedOf = (step: string) => string;

/** I3 and I4: a fork doesn't repeat what its source had done before the fork, unless a person said so. */
export function repeatedByForks(cases: Cases, deed: DeedOf, order: Order): void {
  for (const one of cases.values()) {
    const sources = ancestorsOf(cases, one, deed);
    if (sources.length === 0 || policyOf(cases, one) !== "reuse") continue;
    const own = ownEvents(one.events);
    const allowed = allowedCalls(own, deed);
    const intents = intentsOf(own, deed);
    const past = sources.map((source) => doneIn(source, deed, order));
    const beginning = one.events.findLast((event) => event.kind === "run_forked") ?? one.events[0];
    const made = beginning ? order(one.row.id, beginning) : 0;
    for (const { step, effect, attempt } of one.calls) {
      const what = deed(step);
      if (effect === "repeatable" || isUndo(step) || allowed.has(what)) continue;
      const before = past.map((done) => done.get(what)).find((done) => done !== undefined);
      const args = intents.get(what)?.args;
      if (!before || before.order >= made || before.args !== args) continue;
      const rule = effect === "once" ? "I3" : "I4";
      one.report(
        rule,
        `Step ${step} was called as attempt ${attempt}, though the run it was forked from had done it.`,
      );
    }
  }
}

/** The effect policy of a fork, or of a run below it. */
function policyOf(cases: Cases, { events, row }: Case): EffectPolicy | undefined {
  const forked = events.findLast((event) => event.kind === "run_forked");
  if (forked?.kind === "run_forked") return forked.meta.effects;
  const parent = row.parent && cases.get(row.parent.runId);
  return parent ? policyOf(cases, parent) : undefined;
}

/**
 * The runs that a fork comes from, nearest first. For a child of a fork: the corresponding children of its parent's
 * sources.
 */
function ancestorsOf(cases: Cases, { row }: Case, deed: DeedOf): Case[] {
  const { origin, parent } = row;
  const source = origin && cases.get(origin.runId);
  if (source) return [source, ...ancestorsOf(cases, source, deed)];
  const above = parent && cases.get(parent.runId);
  if (!above) return [];
  const sources = new Set(ancestorsOf(cases, above, deed).map((one) => one.row.id));
  const isInPlace = (one: Case): boolean =>
    sources.has(one.row.parent?.runId ?? "") && deed(one.row.parent?.step ?? "") === deed(parent.step);
  return [...cases.values()].filter(isInPlace);
}

/** The steps that a person let the fork call. */
const allowedCalls = (events: readonly JournalEvent[], deed: DeedOf): ReadonlySet<string> =>
  new Set(
    events.flatMap((event) => {
      if (event.kind !== "gate_answered" || event.meta.choice !== "call") return [];
      const approval = approvalOf(event.step);
      return approval?.isFork ? [deed(approval.step)] : [];
    }),
  );

function intentsOf(events: readonly JournalEvent[], deed: DeedOf): Map<string, StepStarted> {
  const intents = new Map<string, StepStarted>();
  for (const event of events) if (event.kind === "step_started") intents.set(deed(event.step), event.meta);
  return intents;
}

/** When each call was first done, according to the journal. */
function doneIn({ row, events }: Case, deed: DeedOf, order: Order): Map<string, Done> {
  const done = new Map<string, Done>();
  const intents = new Map<string, StepStarted>();
  for (const event of events) {
    const what = deed(event.step);
    if (event.kind === "step_started") intents.set(what, event.meta);
    if (isDone(event) && !done.has(what))
      done.set(what, { order: order(row.id, event), args: intents.get(what)?.args });
  }
  return done;
}

function isDone(event: JournalEvent): boolean {
  if (event.kind === "step_completed") return event.meta.instead !== "simulated";
  return event.kind === "step_resolved" && event.meta.action === "done";
}
