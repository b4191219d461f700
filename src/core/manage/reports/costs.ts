import type { EventKind, JournalEvent, UsageMeta } from "../../journal/events.ts";
import { isProgress } from "../../journal/project.ts";
import { usageOf } from "../../journal/spent.ts";
import type { LoggedStep, StepNews } from "../../journal/step-log.ts";
import { outerOf, plainPath } from "../../keys.ts";
import { shownUsage, unpricedOf } from "../../types.ts";
import { OwnTime } from "../plan/own-time.ts";

/** A sum while it is added up; `costUsd` is what is known of it. */
interface Sum {
  tokens: number;
  costUsd: number;
  unpriced: number;
}

/** The books while they are kept. */
export interface Books extends Sum {
  readonly wasted: Sum;
  readonly saved: Sum & { steps: number; ms: number };
  runs: number;
  /** Of the runs, those that were taken over or resumed. */
  interrupted: number;
  steps: number;
}

/** Tokens and money. */
export interface Cost {
  readonly tokens: number;
  /** `null` when nothing of it has a known price; else what has one, and `unpriced` is missing in it. */
  readonly costUsd: number | null;
  /** The tokens without a known price. They aren't free. */
  readonly unpriced: number;
}

export interface Account extends Cost {
  /** The usage of failed attempts. */
  readonly wasted: Cost;
  /** What would have been spent again if each resume or takeover had started from the beginning. */
  readonly saved: Cost & { readonly steps: number; readonly ms: number };
  readonly runs: number;
  /** Of the runs, those that were taken over from a lost worker or resumed. */
  readonly interrupted: number;
  readonly steps: number;
}

/** A sum as it is shown: an unknown cost is never 0. */
export const costOf = <T extends Sum>(sum: T): Omit<T, "costUsd"> & Cost => shownUsage(sum);

/** The books as they are shown. */
export const accountOf = (books: Books): Account => ({
  ...costOf(books),
  wasted: costOf(books.wasted),
  saved: costOf(books.saved),
});

const nothing = (): Sum => ({ tokens: 0, costUsd: 0, unpriced: 0 });

export const newBooks = (): Books => ({
  ...nothing(),
  wasted: nothing(),
  saved: { ...nothing(), steps: 0, ms: 0 },
  runs: 0,
  interrupted: 0,
  steps: 0,
});

function add(to: Sum, usage: UsageMeta): void {
  merge(to, { ...usage, unpriced: unpricedOf(usage) });
}

function merge(to: Sum, more: Sum): void {
  to.tokens += more.tokens;
  to.costUsd += more.costUsd;
  to.unpriced += more.unpriced;
}

function mergeWork(to: Books["saved"], more: Books["saved"]): void {
  merge(to, more);
  to.steps += more.steps;
  to.ms += more.ms;
}

export function mergeBooks(to: Books, more: Books): void {
  merge(to, more);
  merge(to.wasted, more.wasted);
  mergeWork(to.saved, more.saved);
  to.runs += more.runs;
  to.interrupted += more.interrupted;
  to.steps += more.steps;
}

/** After these no worker has the run, so a following claim isn't a takeover. */
const RESTS: readonly EventKind[] = [
  "run_waiting",
  "run_released",
  "run_paused",
  "run_completed",
  "run_failed",
  "run_cancelled",
];

/** The books of one run, kept from the headers of its journal. */
export class Ledger {
  readonly total = newBooks();
  readonly bySteps = new Map<string, Books>();
  readonly byModels = new Map<string, Books>();
  /** The usage reported by the runs it started: theirs, and part of the cost of its result. */
  readonly children = nothing();
  /** Takeovers from a lost worker, and resumes by people. */
  takeovers = 0;
  resumes = 0;
  readonly #done = { ...nothing(), steps: 0, ms: 0 };
  readonly #time = new OwnTime();
  #isRunning = false;
  /** The number of takeovers in a row without progress. */
  #recovery = 0;

  /** `news`: the step log's interpretation of the event. */
  take(event: JournalEvent, news: StepNews | undefined): void {
    switch (event.kind) {
      case "run_forked":
        return this.#forget();
      case "run_claimed":
        // One that only frees the claim of a dead process counts no death: the takeover follows.
        if (this.#isRunning && event.meta.recovery > this.#recovery) this.#takenOver();
        this.#isRunning = true;
        this.#recovery = event.meta.recovery;
        return;
      case "run_resumed":
        this.resumes++;
        return this.#saved();
      default:
        if (RESTS.includes(event.kind)) this.#isRunning = false;
        if (isProgress(event)) this.#recovery = 0;
        if (news?.isDone) this.#finished(news.step);
        this.#pay(event, usageOf(event));
    }
  }

  #takenOver(): void {
    this.takeovers++;
    this.#saved();
  }

  #finished({ step, record: { type }, attempts }: LoggedStep): void {
    this.total.steps++;
    this.#done.steps++;
    this.#done.ms += this.#time.of(step, attempts.at(-1)?.ms ?? 0);
    // People and other runs did the rest.
    if (type !== "gate" && type !== "child") this.#of(this.bySteps, plainPath(step)).steps++;
  }

  #pay(event: JournalEvent, usage: UsageMeta | undefined): void {
    if (!usage) return;
    if (event.kind === "child_finished") return add(this.children, usage);
    // A note is named after the step it was made in.
    const isNote = event.kind === "usage_recorded";
    const step = isNote ? outerOf(event.step) : event.step;
    this.#used(step, usage, event.kind === "step_failed");
  }

  #used(step: string, usage: UsageMeta, isWasted: boolean): void {
    const accounts = [
      this.total,
      this.#of(this.bySteps, step === "" ? "(the run itself)" : plainPath(step)),
      this.#of(this.byModels, usage.model ?? "(no model named)"),
    ];
    for (const account of accounts) {
      add(account, usage);
      if (isWasted) add(account.wasted, usage);
    }
    if (!isWasted) add(this.#done, usage);
  }

  #saved(): void {
    mergeWork(this.total.saved, this.#done);
  }

  /** The source's usage stays with the source. */
  #forget(): void {
    Object.assign(this.total, nothing());
    Object.assign(this.total.wasted, nothing());
    Object.assign(this.total.saved, { ...nothing(), steps: 0, ms: 0 });
    Object.assign(this.children, nothing());
    this.bySteps.clear();
    this.byModels.clear();
    this.total.steps = 0;
    this.takeovers = this.resumes = 0;
    this.#isRunning = false;
  }

  #of(accounts: Map<string, Books>, name: string): Books {
    const account = accounts.get(name) ?? newBooks();
    accounts.set(name, account);
    return account;
  }
}
