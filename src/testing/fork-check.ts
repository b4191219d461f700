import type { JournalEvent, StepStarted } from "../core/events.ts";
import type { RunRow } from "../core/types.ts";
import { ownEvents } from "./step-names.ts";
import type { WitnessCall } from "./witness-log.ts";

/** A run, what it called, and where to say what is wrong with it. */
interface Case {
  readonly row: Pick<RunRow, "origin">;
  readonly events: readonly JournalEvent[];
  readonly calls: readonly WitnessCall[];
  readonly report: (invariant: "I3" | "I4", message: string) => void;
}

/** A call that a run is done with. */
interface Done {
  readonly at: number;
  readonly args: string | undefined;
}

type Cases = ReadonlyMap<string, Case>;
type DeedOf = (step: string) => string;

/** I3 and I4: what the source of a fork had done before the fork was made is not done again, unless a person said so. */
export function repeatedByForks(cases: Cases, deed: DeedOf): void {
  for (const one of cases.values()) {
    const forked = one.events.findLast((event) => event.kind === "run_forked");
    if (forked?.kind !== "run_forked" || forked.meta.effects !== "reuse") continue;
    const own = ownEvents(one.events);
    const allowed = allowedCalls(own, deed);
    const intents = intentsOf(own, deed);
    const past = ancestorsOf(cases, one).map((source) => doneIn(source.events, deed));
    for (const { step, effect, attempt } of one.calls) {
      const what = deed(step);
      if (effect === "repeatable" || step.startsWith("compensate/") || allowed.has(what)) continue;
      const before = past.map((done) => done.get(what)).find((done) => done !== undefined);
      const args = intents.get(what)?.args;
      if (!before || before.at >= forked.at || before.args !== args) continue;
      const rule = effect === "once" ? "I3" : "I4";
      one.report(rule, `Step ${step} was called as attempt ${attempt}, though the run it was forked from had done it.`);
    }
  }
}

/** The runs that a fork comes from, the nearest first. */
function ancestorsOf(cases: Cases, { row }: Case): Case[] {
  const found: Case[] = [];
  for (let { origin } = row; origin; ) {
    const source = cases.get(origin.runId);
    if (!source) break;
    found.push(source);
    origin = source.row.origin;
  }
  return found;
}

const APPROVAL = /(^|\/)approve:([^/]+)#fork$/;

/** The steps that a person let the fork call. */
const allowedCalls = (events: readonly JournalEvent[], deed: DeedOf): ReadonlySet<string> =>
  new Set(
    events.flatMap((event) =>
      event.kind === "gate_answered" && event.meta.choice === "call" && APPROVAL.test(event.step)
        ? [deed(event.step.replace(APPROVAL, "$1$2"))]
        : [],
    ),
  );

function intentsOf(events: readonly JournalEvent[], deed: DeedOf): Map<string, StepStarted> {
  const intents = new Map<string, StepStarted>();
  for (const event of events) if (event.kind === "step_started") intents.set(deed(event.step), event.meta);
  return intents;
}

/** When each call was done for the first time, as the journal tells it. */
function doneIn(events: readonly JournalEvent[], deed: DeedOf): Map<string, Done> {
  const done = new Map<string, Done>();
  const intents = new Map<string, StepStarted>();
  for (const event of events) {
    const what = deed(event.step);
    if (event.kind === "step_started") intents.set(what, event.meta);
    if (isDone(event) && !done.has(what)) done.set(what, { at: event.at, args: intents.get(what)?.args });
  }
  return done;
}

function isDone(event: JournalEvent): boolean {
  if (event.kind === "step_completed") return event.meta.instead !== "simulated";
  return event.kind === "step_resolved" && event.meta.action === "done";
}
