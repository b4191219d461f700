import { HoldfastError } from "../../core/errors.ts";
import { readShown } from "../../core/journal/door.ts";
import type { JournalEvent } from "../../core/journal/events.ts";
import { entryPages, headEvents } from "../../core/journal/read.ts";
import { usageOf } from "../../core/journal/spent.ts";
import { RunState } from "../../core/journal/state.ts";
import { type LoggedStep, StepLog } from "../../core/journal/step-log.ts";
import type { Values } from "../../core/journal/values.ts";
import { isInside } from "../../core/keys.ts";
import {
  measure,
  type Progress,
  type StepUnderWay,
  underWay,
} from "../../core/manage/checkpoints/progress.ts";
import { OwnTime } from "../../core/manage/plan/own-time.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { namesIn } from "./units.ts";

/** Recorded work, and its cost. */
export interface Work {
  steps: number;
  ms: number;
  tokens: number;
  costUsd: number;
}

/** A run as somebody sees it who reads its journal as it grows, whoever writes it. Values are never read. */
export class RunView {
  readonly state = new RunState();
  readonly log = new StepLog();
  readonly runId: string;
  readonly #store: Store;
  #row: RunRow | undefined;
  #seq = 0;
  readonly #time = new OwnTime();
  /** The positions of steps' results. */
  readonly #results = new Set<number>();
  readonly #work: Work = { steps: 0, ms: 0, tokens: 0, costUsd: 0 };
  /** When each agent, member or step began, and what it has used. */
  readonly #units = new Map<string, { readonly since: number; tokens: number; costUsd: number }>();
  /** The displayed name of a step. */
  readonly nameOf: (step: string) => string;

  /** `everyStep`: includes the inner steps of agents. */
  constructor(store: Store, runId: string, everyStep = false) {
    this.#store = store;
    this.runId = runId;
    this.nameOf = namesIn(this.state, everyStep);
  }

  /** The record of an agent, a member or a step by its name. */
  unit(
    name: string,
  ): { readonly since: number; readonly tokens: number; readonly costUsd: number } | undefined {
    return this.#units.get(name);
  }

  /** Reads and returns what was written since. */
  async catchUp(): Promise<readonly JournalEvent[]> {
    const row = await readShown(this.#store, this.runId);
    if (!row) throw new HoldfastError("HF-1001", { run: this.runId });
    const news: JournalEvent[] = [];
    if (row.seq > this.#seq && row.damage === undefined)
      for await (const page of entryPages(this.#store, this.runId, this.#seq + 1, row.seq))
        for (const event of page.flatMap((entry) => headEvents(this.runId, entry)))
          if (event.seq > this.#seq) news.push(this.#apply(event));
    this.#row = row;
    return news;
  }

  #apply(event: JournalEvent): JournalEvent {
    this.state.apply(event);
    this.#seq = event.seq;
    const used = usageOf(event);
    this.#count(event, used);
    this.#work.tokens += used?.tokens ?? 0;
    this.#work.costUsd += used?.costUsd ?? 0;
    const news = this.log.take(event);
    if (news?.isDone) this.#finished(event.seq, news.step);
    return event;
  }

  #finished(seq: number, { step, attempts }: LoggedStep): void {
    this.#results.add(seq);
    this.#work.steps++;
    this.#work.ms += this.#time.of(step, attempts.at(-1)?.ms ?? 0);
  }

  /** True when a step got its result with this event. */
  isResult({ seq }: JournalEvent): boolean {
    return this.#results.has(seq);
  }

  #count(event: JournalEvent, used: { tokens: number; costUsd: number } | undefined): void {
    if (event.step === "") return;
    const name = this.nameOf(event.step);
    const unit = this.#units.get(name) ?? { since: event.at, tokens: 0, costUsd: 0 };
    unit.tokens += used?.tokens ?? 0;
    unit.costUsd += used?.costUsd ?? 0;
    this.#units.set(name, unit);
  }

  get row(): RunRow {
    if (!this.#row) throw new HoldfastError("HF-1001", { run: this.runId });
    return this.#row;
  }

  get seq(): number {
    return this.#seq;
  }

  /** The known choices at open gates; see {@link learnChoices}. */
  readonly choices = new Map<string, readonly string[]>();

  /** Reads the choices of the open gates. */
  async learnChoices(values: Values): Promise<void> {
    for (const { step, type } of this.open) {
      const record = this.state.find(step);
      if (type !== "gate" || !record || this.choices.has(step)) continue;
      const shown = (await values.at(this.runId, record.seq)) as
        | { readonly choices?: readonly string[] }
        | undefined;
      this.choices.set(step, shown?.choices ?? []);
    }
  }

  /** Finished work so far. */
  get work(): Readonly<Work> {
    return { ...this.#work };
  }

  get progress(): Progress {
    return measure(this.state, this.row.stepsDone, this.row.status).progress;
  }

  /** Planned steps that haven't begun. */
  get pending(): readonly string[] {
    const begun = new Set([...this.state.steps()].map(([step]) => this.nameOf(step)));
    return measure(this.state, this.row.stepsDone, this.row.status).pending.filter(
      (step) => !begun.has(step),
    );
  }

  /** Steps that have begun, innermost only: those around them are in progress because of them. */
  get open(): readonly StepUnderWay[] {
    const all = underWay(this.state);
    const inner = all.filter(({ step }) => !all.some((other) => isInside(other.step, step)));
    const named = new Map<string, StepUnderWay>();
    for (const one of inner) {
      // Steps that a person must decide about keep their exact names.
      const step = one.status === "in_doubt" || one.type === "gate" ? one.step : this.nameOf(one.step);
      if (!named.has(step)) named.set(step, { ...one, step });
    }
    return [...named.values()];
  }
}
