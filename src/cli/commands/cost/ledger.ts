import type { JournalEvent, UsageMeta } from "../../../core/journal/events.ts";
import { plainPath } from "../../../core/journal/rename.ts";
import { isDone } from "../../view/run-view.ts";
import type { Spent } from "../../view/spending.ts";
import { isRest } from "../../view/stories.ts";

export interface Account extends Spent {
  /** Used by attempts that failed. */
  readonly wasted: Spent;
  /** What would have been used again, had a resume or a takeover started from the beginning. */
  readonly saved: Spent & { steps: number; ms: number };
  runs: number;
  steps: number;
}

const nothing = (): Spent => ({ tokens: 0, costUsd: 0, unpriced: 0 });

export const newAccount = (): Account => ({
  ...nothing(),
  wasted: nothing(),
  saved: { ...nothing(), steps: 0, ms: 0 },
  runs: 0,
  steps: 0,
});

export function add(to: Spent, { tokens, costUsd }: UsageMeta): void {
  to.tokens += tokens;
  to.costUsd += costUsd;
  if (costUsd === 0) to.unpriced += tokens;
}

export function merge(to: Spent, more: Spent): void {
  to.tokens += more.tokens;
  to.costUsd += more.costUsd;
  to.unpriced += more.unpriced;
}

export function mergeAccount(to: Account, more: Account): void {
  merge(to, more);
  merge(to.wasted, more.wasted);
  merge(to.saved, more.saved);
  to.saved.steps += more.saved.steps;
  to.saved.ms += more.saved.ms;
  to.runs += more.runs;
  to.steps += more.steps;
}

/** The books of one run, kept from the headers of its journal. */
export class Ledger {
  readonly total = newAccount();
  readonly bySteps = new Map<string, Account>();
  readonly byModels = new Map<string, Account>();
  /** What the runs it started have reported: theirs, and part of what it cost to get its result. */
  readonly children = nothing();
  readonly #done = { ...nothing(), steps: 0, ms: 0 };
  #isRunning = false;

  take(event: JournalEvent): void {
    switch (event.kind) {
      case "run_forked":
        // What the source used up is on the source's bill.
        this.#forget();
        return;
      case "run_claimed":
        if (this.#isRunning) this.#saved();
        this.#isRunning = true;
        return;
      case "run_resumed":
        this.#saved();
        return;
      case "child_finished":
        if (event.meta.usage) add(this.children, event.meta.usage);
        return;
      case "usage_recorded":
        this.#used(
          event.step.includes("/") ? event.step.slice(0, event.step.lastIndexOf("/")) : "",
          event.meta,
          false,
        );
        return;
      case "step_failed":
        if (event.meta.usage) this.#used(event.step, event.meta.usage, true);
        return;
      default:
        if (isRest(event)) this.#isRunning = false;
        if (isDone(event)) this.#finished(event);
    }
  }

  #finished(event: JournalEvent): void {
    this.total.steps++;
    this.#done.steps++;
    if (event.kind !== "step_completed") return;
    this.#done.ms += event.meta.ms ?? 0;
    this.#of(this.bySteps, plainPath(event.step)).steps++;
    if (event.meta.usage) this.#used(event.step, event.meta.usage, false);
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
    merge(this.total.saved, this.#done);
    this.total.saved.steps += this.#done.steps;
    this.total.saved.ms += this.#done.ms;
  }

  #forget(): void {
    Object.assign(this.total, nothing());
    Object.assign(this.total.wasted, nothing());
    Object.assign(this.total.saved, { ...nothing(), steps: 0, ms: 0 });
    Object.assign(this.children, nothing());
    this.bySteps.clear();
    this.byModels.clear();
    this.total.steps = 0;
    this.#isRunning = false;
  }

  #of(accounts: Map<string, Account>, name: string): Account {
    const account = accounts.get(name) ?? newAccount();
    accounts.set(name, account);
    return account;
  }
}
