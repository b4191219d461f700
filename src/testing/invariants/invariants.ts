import { isDeepStrictEqual } from "node:util";
import type { JournalEvent, StepStarted } from "../../core/journal/events.ts";
import { ChainCheck, parseEntry } from "../../core/journal/journal.ts";
import { newProjection, projectAll } from "../../core/journal/project.ts";
import { isApproval, isUndo } from "../../core/keys.ts";
import type { Entry, Store } from "../../core/store/contract.ts";
import { everyRun } from "../../core/store/query.ts";
import { type RunProjection, type RunRow, terminal } from "../../core/types.ts";
import type { AckedWrite, Violation, WitnessCall } from "../witness/log.ts";
import { type Order, repeatedByForks } from "./fork-check.ts";
import { ownEvents, StepNames } from "./step-names.ts";

/** Observations from outside the store. */
export interface Evidence {
  /** Every call the outside world received. */
  readonly calls: readonly WitnessCall[];
  /** Every write the store acknowledged. */
  readonly acked?: readonly AckedWrite[];
  /** Rows that `ctx.transaction` steps wrote. */
  readonly effectRows?: readonly { readonly runId: string; readonly step: string }[];
  /** True when the faults are over and there was time to recover: every run must have come to rest. */
  readonly healed?: boolean;
  /** Decides which steps call the witness. Default: those that called it at least once, in any run. */
  readonly witnessed?: (step: string) => boolean;
  /** Names what a step does, identically in all versions of the code. Default: its key. */
  readonly deed?: (step: string) => string;
  /** Every write in the order in which the store accepted it. Without it, times are compared. */
  readonly written?: readonly { readonly runId: string; readonly seq: number }[];
}

type Invariant = Violation["invariant"];
type Report = (invariant: Invariant, message: string) => void;

/** One run with everything known about it. */
interface Case {
  readonly row: RunRow;
  readonly entries: readonly Entry[];
  readonly events: readonly JournalEvent[];
  readonly calls: readonly WitnessCall[];
  readonly report: Report;
}

/**
 * Checks the guarantees I1–I8 and I10 for every run, reading only the store and the evidence. Returns one sentence per
 * violation; an empty list means that every guarantee held.
 */
export async function checkInvariants(store: Store, evidence: Evidence): Promise<Violation[]> {
  const violations: Violation[] = [];
  const callsOf = byRun(evidence.calls);
  const ackedOf = byRun(evidence.acked ?? []);
  const rowsOf = byRun(evidence.effectRows ?? []);
  const known = new Set(evidence.calls.map((call) => call.step));
  const witnessed = evidence.witnessed ?? ((step: string) => known.has(step));
  const cases = new Map<string, Case>();
  for await (const row of everyRun(store)) {
    const report: Report = (invariant, message) =>
      void violations.push({ invariant, runId: row.id, message });
    const entries = await allEntries(store, row.id);
    const events = checkChain(row, entries, report);
    const one: Case = { row, entries, events, calls: callsOf.get(row.id) ?? [], report };
    cases.set(row.id, one);
    checkAcked(one, ackedOf.get(row.id) ?? []);
    checkCalls(one);
    checkSteps(one, witnessed);
    if (evidence.effectRows) checkTransactions(one, rowsOf.get(row.id) ?? []);
    checkOrder(one);
    checkProjection(one);
    if (evidence.healed) checkRest(one);
  }
  repeatedByForks(cases, evidence.deed ?? ((step) => step), orderOf(evidence));
  for (const [runId, calls] of callsOf) {
    if (!cases.has(runId))
      violations.push({ invariant: "I3", runId, message: orphan("call", runId, calls.length) });
  }
  for (const [runId, acked] of ackedOf) {
    if (!cases.has(runId))
      violations.push({ invariant: "I2", runId, message: orphan("write", runId, acked.length) });
  }
  return violations;
}

/**
 * An event belongs to the last write at or before its position. Events copied by a fork were written with its first
 * entry.
 */
function orderOf({ written }: Evidence): Order {
  if (!written) return (_, { at }) => at;
  const places = byRun(written.map((one, index) => ({ ...one, index })));
  return (runId, { seq }) => (places.get(runId) ?? []).findLast((one) => one.seq <= seq)?.index ?? 0;
}

const orphan = (what: string, runId: string, count: number): string =>
  `The store holds no run ${runId}, but ${count} ${what}(s) of it were ${what === "call" ? "received" : "acknowledged"}.`;

function byRun<T extends { readonly runId: string }>(list: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(one.runId);
    if (group) group.push(one);
    else groups.set(one.runId, [one]);
  }
  return groups;
}

const PAGE = 500;

async function allEntries(store: Store, runId: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let from = 1; ; ) {
    const page = await store.entries(runId, { from, limit: PAGE });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return all;
    from = Math.max(from + 1, last.seq + last.count);
  }
}

/** I1. Continues after a break in the chain, to find other problems too. */
function checkChain(row: RunRow, entries: readonly Entry[], report: Report): JournalEvent[] {
  const events: JournalEvent[] = [];
  const chain = new ChainCheck(row.id, 1, "");
  let whole = true;
  let epoch = 0;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (whole)
        report("I1", `${String((error as Error).message)} ${(error as { why?: string }).why ?? ""}`.trim());
      whole = false;
    }
  };
  for (const entry of entries) {
    const before = events.length;
    if (whole) attempt(() => events.push(...chain.take(entry).events));
    if (!whole) attempt(() => events.push(...parseEntry(row.id, entry).events));
    // Events copied from another run have that run's epochs.
    if (events.slice(before).some(({ kind }) => kind === "run_forked")) epoch = 0;
    const now = events.at(-1)?.epoch ?? epoch;
    if (now < epoch)
      report("I1", `The entry at #${entry.seq} has epoch ${now}, but one before it has epoch ${epoch}.`);
    epoch = Math.max(epoch, now);
  }
  if (whole) attempt(() => chain.end(row.seq, row.head));
  if (row.claim.epoch < epoch)
    report("I1", `The run's epoch is ${row.claim.epoch}, but its journal reached ${epoch}.`);
  return events;
}

/** I2. */
function checkAcked({ entries, report }: Case, acked: readonly AckedWrite[]): void {
  const heads = new Map(entries.map((entry) => [entry.seq, entry.head]));
  for (const { seq, head } of acked) {
    const stored = heads.get(seq);
    if (stored === head) continue;
    const found = stored === undefined ? "nothing is there" : "something else is there";
    report("I2", `The write at #${seq} was acknowledged, but ${found}.`);
  }
}

const attemptOf = (step: string, attempt: number): string => `${step}|${attempt}`;

/** The intents announced in the run itself, by name and attempt, with the original key of the step. */
function intentsOf(events: readonly JournalEvent[]): Map<string, StepStarted & { readonly first: string }> {
  const names = new StepNames();
  const intents = new Map<string, StepStarted & { readonly first: string }>();
  for (const event of events) {
    names.see(event);
    if (event.kind === "run_forked") intents.clear();
    if (event.step === "") continue;
    const first = names.of(event.step);
    if (event.kind === "step_started")
      intents.set(attemptOf(event.step, event.meta.attempt), { ...event.meta, first });
  }
  return intents;
}

/** I3 and I4: compares the calls that the outside world saw with the announced intents. */
function checkCalls({ events, calls, report }: Case): void {
  const intents = intentsOf(events);
  const once = new Set<string>();
  const first = new Map<string, WitnessCall>();
  for (const call of calls) {
    const { step, attempt } = call;
    const intent = intents.get(attemptOf(step, attempt));
    if (!intent) {
      report(
        "I3",
        `Step ${step} called the outside world as attempt ${attempt}, which the journal never announced.`,
      );
      continue;
    }
    if (intent.effect === "once" || call.effect === "once") {
      const before = once.has(attemptOf(step, attempt));
      once.add(attemptOf(step, attempt));
      if (before) report("I3", `Step ${step} may be called once, but attempt ${attempt} called twice.`);
    }
    if (intent.effect !== "keyed") continue;
    if (intent.key !== undefined && intent.key !== call.key) {
      report(
        "I4",
        `Attempt ${attempt} of step ${step} carried a key other than the one its intent announced.`,
      );
    }
    const group = `${intent.first}|${intent.call}`;
    const other = first.get(group) ?? call;
    first.set(group, other);
    if (other.key !== call.key)
      report("I4", `Attempts ${other.attempt} and ${attempt} of step ${step} carried different keys.`);
    if (other.args !== call.args) {
      report(
        "I4",
        `Attempts ${other.attempt} and ${attempt} of step ${step} carried different arguments under one key.`,
      );
    }
  }
}

/** I5. */
function checkTransactions({ events, report }: Case, rows: readonly { readonly step: string }[]): void {
  const typed = new Set(
    events.flatMap((event) =>
      event.kind === "step_started" && event.meta.type === "transaction" ? [event.step] : [],
    ),
  );
  const completed = new Set(
    ownEvents(events).flatMap((event) =>
      event.kind === "step_completed" && !event.meta.instead && typed.has(event.step) ? [event.step] : [],
    ),
  );
  const written = new Map<string, number>();
  for (const { step } of rows) written.set(step, (written.get(step) ?? 0) + 1);
  for (const [step, count] of written) {
    if (!completed.has(step))
      report("I5", `Transaction ${step} left a row, but the journal does not say that it happened.`);
    if (count > 1) report("I5", `Transaction ${step} left ${count} rows instead of one.`);
  }
  for (const step of completed) {
    if (!written.has(step))
      report("I5", `Transaction ${step} is recorded as done, but its row is not there.`);
  }
}

/** The state of a step according to the journal. */
interface Standing {
  /** Its name when it was last begun. */
  readonly step: string;
  readonly args: string | undefined;
  attempt: number;
  type: string;
  settled: "done" | "open";
  intents: number;
  /** True when the caller itself recorded an outcome, so the outside world must have been called. */
  called: boolean;
}

/** I6. */
function checkSteps({ events, calls, report }: Case, witnessed: (step: string) => boolean): void {
  const steps = new Map<string, Standing>();
  const names = new StepNames();
  for (const event of events) {
    names.see(event);
    if (event.kind === "run_forked") forkSteps(steps);
    if (event.step === "") continue;
    const first = names.of(event.step);
    const standing = steps.get(first);
    if (event.kind === "step_started") {
      if (standing?.settled === "done" && !isAskedAnew(event, standing))
        report("I6", `Step ${event.step} was started again at #${event.seq} after it was done.`);
      const { attempt, type, args } = event.meta;
      steps.set(first, {
        step: event.step,
        attempt,
        type,
        args,
        settled: "open",
        intents: (standing?.intents ?? 0) + 1,
        called: false,
      });
    } else if (standing) {
      settle(standing, event, report);
    }
  }
  const announced = intentsOf(events);
  const counts = new Map<string, number>();
  for (const { step, attempt } of calls) {
    const first = announced.get(attemptOf(step, attempt))?.first ?? step;
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  for (const [first, { step, intents, called, type }] of steps) {
    const count = counts.get(first) ?? 0;
    if (count > intents)
      report("I6", `Step ${step} was announced ${intents} time(s) but called ${count} times.`);
    if (called && count === 0 && type === "call" && calls.length > 0 && witnessed(step)) {
      report("I6", `Step ${step} is recorded as completed, but the outside world never saw it.`);
    }
  }
}

/** An approval is valid only for exactly what was shown; after a change it is requested again. */
const isAskedAnew = ({ step, meta }: JournalEvent & { kind: "step_started" }, before: Standing): boolean =>
  meta.type === "gate" && isApproval(step) && meta.args !== before.args;

/** The calls behind a copied outcome were made by the source run; calls in progress there count as never begun. */
function forkSteps(steps: Map<string, Standing>): void {
  for (const [step, standing] of steps) {
    standing.called = false;
    if (standing.settled === "open") steps.delete(step);
  }
}

function settle(standing: Standing, event: JournalEvent, report: Report): void {
  const done = (): void => {
    if (standing.settled === "done")
      report("I6", `Step ${event.step} was decided a second time at #${event.seq}.`);
    standing.settled = "done";
  };
  switch (event.kind) {
    case "step_completed":
      // A fork may replace a call with another value.
      standing.called = event.meta.instead === undefined;
      return done();
    case "gate_answered":
      return done();
    case "step_resolved":
      if (event.meta.action === "done") done();
      return;
    case "child_finished":
      if (event.meta.status === "completed") done();
      return;
    case "step_evidence":
      if (event.meta.attempt === standing.attempt && standing.settled === "open") standing.settled = "done";
      return;
    default:
  }
}

const AFTER_COMPLETION = new Set([
  "step_evidence",
  "family_told",
  "checkpoint_tagged",
  "values_dropped",
  "run_imported",
  "import_accepted",
  "key_wrapped",
]);

/** I7: checks what may follow a pause, a cancel and an end. */
function checkOrder({ events, report }: Case): void {
  let stop: { kind: "pause_requested" | "run_failed"; seq: number } | undefined;
  let undoing = 0;
  let ended: JournalEvent | undefined;
  for (const event of ownEvents(events)) {
    if (ended?.kind === "run_completed" && !AFTER_COMPLETION.has(event.kind)) {
      report("I7", `${event.kind} at #${event.seq} came after the run was completed at #${ended.seq}.`);
    }
    if (event.kind === "pause_requested" || event.kind === "run_failed")
      stop = { kind: event.kind, seq: event.seq };
    else if (event.kind === "run_resumed") stop = undefined;
    else if (event.kind === "cancel_requested") undoing = event.seq;
    else if (event.kind === "run_cancelled" || event.kind === "run_completed") ended = event;
    if (event.kind !== "step_started") continue;
    const undo = undoing > 0 && isUndo(event.step);
    if (ended?.kind === "run_cancelled")
      report(
        "I7",
        `Step ${event.step} was started at #${event.seq} after the run was cancelled at #${ended.seq}.`,
      );
    else if (undoing > 0 && !undo)
      report(
        "I7",
        `Step ${event.step} was started at #${event.seq} after a cancel was accepted at #${undoing}.`,
      );
    else if (stop && !undo) {
      const what = stop.kind === "run_failed" ? "the run failed" : "a pause was accepted";
      report("I7", `Step ${event.step} was started at #${event.seq} after ${what} at #${stop.seq}.`);
    }
  }
}

const PROJECTED = [
  "version",
  "schema",
  "status",
  "control",
  "waiting",
  "wakeAt",
  "recoveries",
  "stepsDone",
  "usage",
  "turns",
  "activeMs",
  "budget",
  "openChildren",
  "pinned",
  "prunedAt",
  "error",
  "finishedAt",
  "snapshotSeq",
] as const satisfies readonly (keyof RunProjection)[];

/** I8: the row matches its journal exactly. */
function checkProjection({ row, entries, events, report }: Case): void {
  const created = events.find((event) => event.kind === "run_created")?.meta;
  let run = newProjection(row.createdAt, created?.version ?? row.version, created?.schema ?? 1);
  let next = 0;
  checkVersions(created?.version ?? row.version, events, report);
  for (const { seq, count } of entries) {
    const from = next;
    while (next < events.length && (events[next]?.seq ?? 0) < seq + count) next++;
    run = projectAll(run, events.slice(from, next), row.parent !== null);
  }
  for (const field of PROJECTED) {
    if (isDeepStrictEqual(run[field], row[field])) continue;
    const [says, is] = [JSON.stringify(run[field]), JSON.stringify(row[field])];
    report("I8", `The run's ${field} is ${is}, but its journal says ${says}.`);
  }
  const last = events.at(-1)?.seq ?? 0;
  if (last !== row.seq) report("I8", `The run stands at #${row.seq}, but its journal ends at #${last}.`);
}

/** Each migration begins at the version where the previous one ended: none is missing and none appears twice. */
function checkVersions(first: string, events: readonly JournalEvent[], report: Report): void {
  let version = first;
  for (const event of events) {
    if (event.kind !== "run_migrated") continue;
    const { from, to } = event.meta;
    if (from !== version)
      report("I8", `It was migrated from version ${from} at #${event.seq}, but was of version ${version}.`);
    version = to;
  }
}

/** I10. */
function checkRest({ row, report }: Case): void {
  const { status, waiting } = row;
  if (terminal(status) || status === "failed" || status === "paused") return;
  if (status === "waiting" && waiting.length > 0) return;
  const what = status === "waiting" ? "waiting without saying for what" : `still ${status}`;
  report("I10", `The faults are over, but the run is ${what}.`);
}
