import { defined } from "../../defined.ts";
import type { JournalEvent, StepStarted } from "../../journal/events.ts";
import { rekey, renamedKey } from "../../journal/rename.ts";
import type { Store } from "../../store/contract.ts";
import type { Effect, Mutable, RunRow } from "../../types.ts";
import { isWithin, linksOf, type Period, type ReportQuery, readPeriod, runsIn } from "./period.ts";

/**
 * What may have gone wrong with an effect.
 *
 * - `unknown`: it was begun and no outcome is recorded.
 * - `called again`: a second call was made while the outcome of the first was unknown; under the same key where it has one.
 * - `repeated by a fork`: a fork was told to make its source's calls again.
 * - `carried out twice`: somebody had it run again, and then the first call's result arrived.
 * - `other key`: a second call of the same intent carried another key or other arguments.
 * - `asked for again`: an agent's model asked for a `once` call, or one that had answered with an error, a second time with the same
 *   arguments, and a person allowed it.
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

/** The last three break a promise; the others are what the promise is made for. */
const VIOLATIONS: readonly EffectConcern[] = ["carried out twice", "other key", "after its end"];

export interface EffectFinding {
  readonly run: string;
  readonly workflow: string;
  /** Empty for a fork as a whole. */
  readonly step: string;
  readonly effect: Effect;
  /** Fingerprint of the idempotency key. */
  readonly key?: string;
  readonly concern: EffectConcern;
  readonly isViolation: boolean;
  readonly at: number;
  readonly seq: number;
  /** What the journal shows as the cause. */
  readonly cause: string;
  /** How an unknown outcome was settled; absent while it is not. */
  readonly settled?: {
    readonly how: "done" | "failed" | "rerun" | "known after all";
    readonly at: number;
    readonly actor?: string;
    readonly reason?: string;
  };
}

/** `keyed` and `once` calls of a period: how many, and those that were not plainly once. */
export interface EffectReport extends Period {
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
  for await (const row of runsIn(store, query, period)) {
    const scan = new EffectScan(row, (effect, at) => {
      if (isWithin(period, at)) begun[effect]++;
    });
    for await (const { events, isCopied } of linksOf(store, row))
      for (const event of events) scan.take(event, isCopied);
    findings.push(...scan.findings.filter(({ at }) => isWithin(period, at)));
  }
  findings.sort((a, b) => a.at - b.at);
  const many = (is: (finding: EffectFinding) => boolean): number => findings.filter(is).length;
  return {
    ...period,
    begun,
    unknown: many(({ concern }) => concern === "unknown"),
    calledAgain: many(({ concern }) => concern === "called again"),
    violations: many(({ isViolation }) => isViolation),
    findings,
  };
}

/** Which tool of which agent a step calls, without the turn: `clerk/tool:pay` of `clerk[3]/tool:pay#2`. */
function toolCall(step: string): string | undefined {
  const found = /^(.*)\[\d+\]\/(tool:[^/#]+)(#\d+)?$/.exec(step);
  return found ? `${found[1]}/${found[2]}` : undefined;
}

type Risky = Exclude<Effect, "repeatable">;

interface Watched {
  meta: StepStarted;
  /** An intent without an outcome. */
  isOpen: boolean;
  isDone: boolean;
  /** Its worker, which may be lost by now. */
  owner: string;
  doubt?: Mutable<EffectFinding>;
}

/** Follows the effects of one run. */
class EffectScan {
  readonly findings: Mutable<EffectFinding>[] = [];
  readonly #row: RunRow;
  readonly #begun: (effect: Risky, at: number) => void;
  readonly #steps = new Map<string, Watched>();
  /** The first call of each agent's tool with the same arguments. */
  readonly #asked = new Map<string, string>();
  #owner = "";

  constructor(row: RunRow, begun: (effect: Risky, at: number) => void) {
    this.#row = row;
    this.#begun = begun;
  }

  take(event: JournalEvent, isCopied: boolean): void {
    switch (event.kind) {
      case "run_claimed":
        this.#owner = event.meta.owner;
        return;
      case "run_migrated":
        return rekey(this.#steps, (step) => renamedKey(step, event.meta));
      case "run_forked":
        return this.#forked(event);
      case "step_started":
        if (event.meta.type === "call" && event.meta.effect !== "repeatable")
          this.#started(event, event.meta, isCopied);
        return;
      default:
        if (!isCopied) this.#outcome(event);
        else if (event.kind === "step_completed") this.#end(event.step, true);
    }
  }

  #forked(event: JournalEvent & { kind: "run_forked" }): void {
    // What the source had under way is as if it had never begun.
    for (const [step, { isDone }] of this.#steps) if (!isDone) this.#steps.delete(step);
    if (event.meta.effects !== "allow") return;
    const { runId, seq } = event.meta.from;
    const cause = `${event.actor ?? "somebody"} forked ${runId}@${seq} with effects allowed`;
    this.findings.push({ ...this.#finding(event, "repeated by a fork", cause), effect: "once" });
  }

  #started(event: JournalEvent, meta: StepStarted, isCopied: boolean): void {
    const before = this.#steps.get(event.step);
    if (!isCopied) {
      if (!before) this.#begun(meta.effect as Risky, event.at);
      else if (before.isDone)
        this.#add(event, "after its end", "its outcome was recorded before this call", meta);
      else if (before.isOpen) this.#again(event, meta, before);
    }
    if (meta.effect === "once") this.#askedAgain(event, meta, isCopied);
    this.#steps.set(event.step, { meta, isOpen: true, isDone: false, owner: this.#owner });
  }

  /** Calls of a tool are steps of their own; only their arguments tell that one repeats another. */
  #askedAgain(event: JournalEvent, meta: StepStarted, isCopied: boolean): void {
    const call = toolCall(event.step);
    if (call === undefined || meta.args === undefined) return;
    const asked = `${call} ${meta.args}`;
    const first = this.#asked.get(asked) ?? event.step;
    this.#asked.set(asked, first);
    if (isCopied || first === event.step || this.#steps.has(event.step)) return;
    this.#add(event, "asked for again", `${first} was called with the same arguments`, meta);
  }

  #again(event: JournalEvent, meta: StepStarted, before: Watched): void {
    const isSameCall = meta.call === before.meta.call;
    const differs = meta.key !== before.meta.key || meta.args !== before.meta.args;
    const cause = this.#lossOf(before);
    if (isSameCall && differs && meta.effect === "keyed") this.#add(event, "other key", cause, meta);
    else this.#add(event, "called again", cause, meta);
  }

  /** Why no outcome was recorded. */
  #lossOf({ owner }: Watched): string {
    return owner === this.#owner
      ? "the call gave no definite answer"
      : `${owner} was lost while it was under way`;
  }

  #outcome(event: JournalEvent): void {
    const step = this.#steps.get(event.step);
    if (!step) return;
    switch (event.kind) {
      case "step_in_doubt":
        step.doubt = this.#add(event, "unknown", this.#lossOf(step), step.meta);
        return;
      case "step_resolved": {
        const { action: how, reason } = event.meta;
        this.#settle(step, event, how, reason);
        // A call that somebody ordered is not one that was made on the quiet.
        return this.#end(event.step, how === "done");
      }
      case "step_evidence":
        return this.#evidence(event, event.meta.attempt, step);
      case "step_completed":
      case "step_failed":
        this.#settle(step, event, "known after all");
        return this.#end(event.step, event.kind === "step_completed");
      default:
    }
  }

  /** A late result: it says what became of its call, and where another one was made meanwhile, that there were two. */
  #evidence(event: JournalEvent, attempt: number, step: Watched): void {
    if (attempt < step.meta.attempt) {
      this.#add(
        event,
        "carried out twice",
        "it was called again, and the first call had succeeded",
        step.meta,
      );
      return;
    }
    this.#settle(step, event, "known after all");
    this.#end(event.step, true);
  }

  #settle(
    { doubt }: Watched,
    { at, actor }: JournalEvent,
    how: NonNullable<EffectFinding["settled"]>["how"],
    reason?: string,
  ): void {
    if (!doubt || doubt.settled) return;
    const by = defined({ actor, reason });
    doubt.settled = { how, at, ...by };
  }

  #end(name: string, isDone: boolean): void {
    const step = this.#steps.get(name);
    if (step) Object.assign(step, { isOpen: false, isDone });
  }

  #add(
    event: JournalEvent,
    concern: EffectConcern,
    cause: string,
    { effect, key }: StepStarted,
  ): Mutable<EffectFinding> {
    const named = defined({ key });
    const finding = { ...this.#finding(event, concern, cause), effect, ...named };
    this.findings.push(finding);
    return finding;
  }

  #finding({ step, at, seq }: JournalEvent, concern: EffectConcern, cause: string) {
    const { id: run, workflow } = this.#row;
    return { run, workflow, step, concern, isViolation: VIOLATIONS.includes(concern), at, seq, cause };
  }
}
