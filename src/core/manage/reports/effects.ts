import { defined } from "../../defined.ts";
import type { JournalEvent, StepStarted } from "../../journal/events.ts";
import type { StepRecord } from "../../journal/records.ts";
import { isDone, isOpen, type LoggedStep, StepLog, type StepNews } from "../../journal/step-log.ts";
import { baseName, groupOf, isIteration, lastSegment, outerOf, prefixOf } from "../../keys.ts";
import type { Store } from "../../store/contract.ts";
import type { Effect, Mutable, RunRow } from "../../types.ts";
import {
  isWithin,
  Looked,
  type LookedAt,
  linksOf,
  type Period,
  type ReportQuery,
  readPeriod,
  runsIn,
} from "./period.ts";

/**
 * A possible problem with an effect.
 *
 * - `unknown`: it was begun and no outcome is recorded.
 * - `called again`: a second call was made while the outcome of the first was unknown; under the same key if it has
 *   one.
 * - `repeated by a fork`: a fork was told to repeat its source's calls.
 * - `carried out twice`: a person had it run again, and then the first call's result arrived.
 * - `other key`: a second call of the same intent carried another key or other arguments.
 * - `asked for again`: an agent's model asked a second time, with the same arguments, for a `once` call or one that had
 *   returned an error, and a person allowed it.
 * - `after its end`: it was called although its outcome was recorded.
 */
export type EffectConcern =
  | "unknown"
  | "called again"
  | "repeated by a fork"
  | "asked for again"
  | "carried out twice"
  | "other key"
  | "after its end";

/**
 * Where a concern comes from.
 *
 * - `worker lost`: the process died, or lost the run, while the call was under way.
 * - `no answer`: the call ended without saying whether it was carried out: a time-out, a cut connection.
 * - `fork`: somebody forked a run and had its effects repeated.
 * - `model`: an agent's model asked for the same call again.
 * - `person`: a person had it run again while its outcome was unknown.
 * - `arguments`: code or values changed between two calls of the same intent.
 * - `engine`: nothing outside explains it.
 */
export const EFFECT_ROOTS = [
  "worker lost",
  "no answer",
  "fork",
  "model",
  "person",
  "arguments",
  "engine",
] as const;
export type EffectRoot = (typeof EFFECT_ROOTS)[number];

/** The last three break a guarantee; the guarantees exist for the others. */
const VIOLATIONS: readonly EffectConcern[] = ["carried out twice", "other key", "after its end"];

export interface EffectFinding {
  readonly run: string;
  readonly workflow: string;
  /** Empty for a fork as a whole. */
  readonly step: string;
  readonly effect: Effect;
  /** The fingerprint of the idempotency key. */
  readonly key?: string;
  readonly concern: EffectConcern;
  readonly isViolation: boolean;
  readonly at: number;
  readonly seq: number;
  /** The cause according to the journal. */
  readonly cause: string;
  readonly root: EffectRoot;
  /** How an unknown outcome was resolved; absent while it isn't. */
  readonly settled?: {
    readonly how: "done" | "failed" | "rerun" | "known after all";
    readonly at: number;
    readonly actor?: string;
    readonly reason?: string;
  };
}

/** `keyed` and `once` calls of a period: how many, and those that weren't clearly made once. */
export interface EffectReport extends Period, LookedAt {
  /** Steps that were begun. */
  readonly begun: { readonly keyed: number; readonly once: number };
  readonly unknown: number;
  readonly calledAgain: number;
  readonly violations: number;
  readonly findings: readonly EffectFinding[];
}

export async function effectReport(store: Store, query: ReportQuery): Promise<EffectReport> {
  const period = await readPeriod(store, query);
  const begun = { keyed: 0, once: 0 };
  const findings: EffectFinding[] = [];
  const looked = new Looked();
  for await (const row of runsIn(store, query, period, looked))
    await looked.at(row.id, async () => {
      const scan = new EffectScan(row, (effect, at) => {
        if (isWithin(period, at)) begun[effect]++;
      });
      for await (const { events, isCopied } of linksOf(store, row))
        for (const event of events) scan.take(event, isCopied);
      findings.push(...scan.findings.filter(({ at }) => isWithin(period, at)));
    });
  findings.sort((a, b) => a.at - b.at);
  const many = (is: (finding: EffectFinding) => boolean): number => findings.filter(is).length;
  return {
    ...period,
    begun,
    unknown: many(({ concern }) => concern === "unknown"),
    calledAgain: many(({ concern }) => concern === "called again"),
    violations: many(({ isViolation }) => isViolation),
    findings,
    ...looked.told,
  };
}

const TOOL = /^tool:./;

/** The agent and tool that a step calls, without the turn: `clerk/tool:pay` for `clerk[3]/tool:pay#2`. */
function toolCall(step: string): string | undefined {
  const [turn, tool] = [outerOf(step), baseName(lastSegment(step))];
  return isIteration(turn) && TOOL.test(tool) ? prefixOf(groupOf(turn)) + tool : undefined;
}

type Cause = readonly [cause: string, root: EffectRoot];

type Risky = Exclude<Effect, "repeatable">;

/** The knowledge of a call before an event. */
interface Watched {
  readonly step: LoggedStep;
  readonly record: StepRecord;
  readonly isDone: boolean;
  readonly isOpen: boolean;
  /** Its worker, which may be dead by now. */
  readonly owner: string;
}

/** Tracks the effects of one run. */
class EffectScan {
  readonly findings: Mutable<EffectFinding>[] = [];
  readonly #row: RunRow;
  readonly #begun: (effect: Risky, at: number) => void;
  readonly #log = new StepLog();
  readonly #doubts = new WeakMap<LoggedStep, Mutable<EffectFinding>>();
  /** The first call of each agent's tool with the same arguments. */
  readonly #asked = new Map<string, string>();

  constructor(row: RunRow, begun: (effect: Risky, at: number) => void) {
    this.#row = row;
    this.#begun = begun;
  }

  take(event: JournalEvent, isCopied: boolean): void {
    const before = this.#watched(event.step);
    const news = this.#log.take(event);
    if (event.kind === "run_forked") this.#forked(event);
    else if (event.kind === "step_started") {
      if (event.meta.type === "call" && event.meta.effect !== "repeatable")
        this.#started(event, event.meta, before, isCopied);
    } else if (before && !isCopied) this.#told(event, before, news);
  }

  /** The knowledge of a call so far. The source's attempts count as never begun. */
  #watched(key: string): Watched | undefined {
    const step = this.#log.find(key);
    const last = step?.attempts.at(-1);
    if (!step || !last || step.isDropped || (step.isCopied && !isDone(step))) return undefined;
    const { record } = step;
    if (record.type !== "call" || record.effect === "repeatable") return undefined;
    return { step, record, isDone: isDone(step), isOpen: isOpen(step), owner: last.owner };
  }

  #forked(event: JournalEvent & { kind: "run_forked" }): void {
    if (event.meta.effects !== "allow") return;
    const { runId, seq } = event.meta.from;
    const cause = `${event.actor ?? "somebody"} forked ${runId}@${seq} with effects allowed`;
    this.findings.push({ ...this.#finding(event, "repeated by a fork", cause, "fork"), effect: "once" });
  }

  #started(event: JournalEvent, meta: StepStarted, before: Watched | undefined, isCopied: boolean): void {
    if (!isCopied) {
      if (!before) this.#begun(meta.effect as Risky, event.at);
      else if (before.isDone)
        this.#add(event, "after its end", ["its outcome was recorded before this call", "engine"], meta);
      else if (before.isOpen) this.#again(event, meta, before);
    }
    if (meta.effect === "once") this.#askedAgain(event, meta, isCopied || before !== undefined);
  }

  /** Each tool call is its own step; only equal arguments show that one repeats another. */
  #askedAgain(event: JournalEvent, meta: StepStarted, isKnown: boolean): void {
    const call = toolCall(event.step);
    if (call === undefined || meta.args === undefined) return;
    const asked = `${call} ${meta.args}`;
    const first = this.#asked.get(asked) ?? event.step;
    this.#asked.set(asked, first);
    if (isKnown || first === event.step) return;
    this.#add(event, "asked for again", [`${first} was called with the same arguments`, "model"], meta);
  }

  #again(event: JournalEvent, meta: StepStarted, before: Watched): void {
    const { call, key, args } = before.record;
    const differs = meta.key !== key || meta.args !== args;
    const loss = this.#lossOf(before);
    if (meta.call === call && differs && meta.effect === "keyed")
      this.#add(event, "other key", [loss[0], "arguments"], meta);
    else this.#add(event, "called again", loss, meta);
  }

  /** Why no outcome was recorded. */
  #lossOf({ owner }: Watched): Cause {
    return owner === (this.#log.owner ?? "")
      ? ["the call gave no definite answer", "no answer"]
      : [`${owner} was lost while it was under way`, "worker lost"];
  }

  #told(event: JournalEvent, before: Watched, news: StepNews | undefined): void {
    const { step, record } = before;
    if (event.kind === "step_in_doubt")
      this.#doubts.set(step, this.#add(event, "unknown", this.#lossOf(before), record));
    else if (event.kind === "step_resolved") this.#settle(step, event, event.meta.action, event.meta.reason);
    // A late result of a call that was made again meanwhile: there were two.
    else if (event.kind === "step_evidence" && event.meta.attempt < record.attempt) {
      const cause = "it was called again, and the first call had succeeded";
      this.#add(
        event,
        "carried out twice",
        [cause, record.effect === "once" ? "person" : "worker lost"],
        record,
      );
    } else if (news) this.#settle(step, event, "known after all");
  }

  #settle(
    step: LoggedStep,
    { at, actor }: JournalEvent,
    how: NonNullable<EffectFinding["settled"]>["how"],
    reason?: string,
  ): void {
    const doubt = this.#doubts.get(step);
    if (!doubt || doubt.settled) return;
    const by = defined({ actor, reason });
    doubt.settled = { how, at, ...by };
  }

  #add(
    event: JournalEvent,
    concern: EffectConcern,
    [cause, root]: Cause,
    { effect, key }: Pick<StepRecord, "effect" | "key">,
  ): Mutable<EffectFinding> {
    const named = defined({ key });
    const finding = { ...this.#finding(event, concern, cause, root), effect, ...named };
    this.findings.push(finding);
    return finding;
  }

  #finding({ step, at, seq }: JournalEvent, concern: EffectConcern, cause: string, root: EffectRoot) {
    const { id: run, workflow } = this.#row;
    const isViolation = VIOLATIONS.includes(concern);
    return { run, workflow, step, concern, isViolation, at, seq, cause, root };
  }
}
