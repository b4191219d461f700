import { checkKeys, checkNumber, checkText, isRecord } from "../../check-options.ts";
import { HoldfastError } from "../../errors.ts";
import { Kept } from "../../flow/kept.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import { checkNamed } from "../../names.ts";
import { onDemand } from "../../on-demand.ts";
import type { Store } from "../../store/contract.ts";
import type { Documents } from "../../store/documents.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import { shownUsage } from "../../types.ts";
import type { Source } from "./watch.ts";

const costs = onDemand(() => import("../reports/cost-report.ts"));

/** The money that some runs may cost in a month (UTC). */
export interface MonthBudget {
  readonly usd: number;
  /** Only runs with this label: `team=payments`. */
  readonly label?: string;
  readonly workflow?: string;
}

interface BudgetRecord extends MonthBudget {
  readonly by: string | null;
  readonly at: number;
}

/** A budget beside what was spent of it, by runs that were created in this month. */
export interface BudgetStanding extends BudgetRecord {
  readonly name: string;
  /** Such as `2026-11`. */
  readonly month: string;
  /** `null` when nothing that was used has a price. */
  readonly spentUsd: number | null;
  /** Tokens without a known price, which the sum lacks. */
  readonly unpriced: number;
  /** The share that is spent; `null` when that isn't known. */
  readonly share: number | null;
  readonly state: "within" | "warning" | "reached";
}

const WARN_AT = 0.8;
const EVERY_MS = 300_000;
const PREFIX = "budget:month:";

const isBudget = (value: unknown): value is BudgetRecord =>
  isRecord(value) && typeof value["usd"] === "number" && typeof value["at"] === "number";

interface Spent {
  readonly seq: number;
  readonly costUsd: number;
  readonly unpriced: number;
  readonly tokens: number;
}

/** Budgets of a month by label or workflow. They hold nothing back: people are told at 80 % and at 100 %. */
export class MonthBudgets {
  readonly #store: Store;
  readonly #kept: Kept<BudgetRecord>;
  /** The sums of runs, until their journals grow. */
  #known = new Map<string, Spent>();

  constructor(store: Store, documents: () => Documents, newVersion: () => string) {
    this.#store = store;
    this.#kept = new Kept({ documents, newVersion, kind: "month-budget", isValid: isBudget });
  }

  /** All budgets, and what was spent of them this month. */
  async list(): Promise<readonly BudgetStanding[]> {
    const now = await this.#store.now();
    const known = new Map<string, Spent>();
    const standings: BudgetStanding[] = [];
    for (const { key, value } of await this.#kept.all())
      standings.push(await this.#standing(key, value, now, known));
    this.#known = known;
    return standings;
  }

  /** Sets a budget, or changes it. */
  async set(name: string, budget: MonthBudget, act: Act = {}): Promise<MonthBudget> {
    checkNamed("budget", name, 64);
    checkKeys(budget, ["usd", "label", "workflow"]);
    checkAct(act);
    checkNumber("usd", budget.usd);
    if (budget.label !== undefined && !/^[^=]+=/.test(checkText("label", budget.label, 3, 300)))
      throw new HoldfastError("HF-1003", { option: "label", problem: "it must be name=value" });
    const at = await this.#store.now();
    await this.#kept.change(name, () => ({ ...budget, by: act.actor ?? null, at }));
    return budget;
  }

  /** Deletes a budget (HF-6015 if there is none). */
  async delete(name: string, act: Act = {}): Promise<void> {
    checkAct(act);
    if (!(await this.#kept.read(name))) throw new HoldfastError("HF-6015", { what: "budget", name });
    await this.#kept.change(name, () => null);
  }

  /** Where alerts learn of it. */
  get source(): Source {
    return {
      everyMs: EVERY_MS,
      look: async (now) => ({
        causes: (await this.list())
          .filter(({ state }) => state !== "within")
          .map(({ name, month, usd, spentUsd, share, state }) => ({
            key: `${PREFIX}${name}:${month}`,
            kind: "budget",
            severity: state === "reached" ? "P1" : "P2",
            summary: `the budget ${name} of ${month} is ${state === "reached" ? "reached" : "nearly reached"}: $${(spentUsd ?? 0).toFixed(2)} of $${usd.toFixed(2)} (${Math.floor((share ?? 0) * 100)} %)`,
            since: now,
            run: null,
            workflow: null,
          })),
        covers: ({ key }) => key.startsWith(PREFIX),
      }),
    };
  }

  async #standing(
    name: string,
    budget: BudgetRecord,
    now: number,
    known: Map<string, Spent>,
  ): Promise<BudgetStanding> {
    const { label, workflow, usd } = budget;
    const month = new Date(now).toISOString().slice(0, 7);
    const [labelName = "", ...rest] = (label ?? "").split("=");
    const query = {
      createdAfter: Date.parse(`${month}-01T00:00:00Z`),
      ...(workflow === undefined ? {} : { workflow }),
      ...(label === undefined ? {} : { labels: { [labelName]: rest.join("=") } }),
    };
    const sum = { costUsd: 0, unpriced: 0, tokens: 0 };
    for await (const row of everyRun(this.#store, query)) {
      const spent = await this.#spent(row);
      known.set(row.id, spent);
      sum.costUsd += spent.costUsd;
      sum.unpriced += spent.unpriced;
      sum.tokens += spent.tokens;
    }
    const { costUsd: spentUsd, unpriced } = shownUsage(sum);
    const share = spentUsd === null ? null : spentUsd / usd;
    const state = (share ?? 0) >= 1 ? "reached" : (share ?? 0) >= WARN_AT ? "warning" : "within";
    return { ...budget, name, month, spentUsd, unpriced, share, state };
  }

  async #spent(row: RunRow): Promise<Spent> {
    const known = this.#known.get(row.id);
    if (known?.seq === row.seq) return known;
    const { ledgerOf } = await costs();
    const { costUsd, unpriced, tokens } = (await ledgerOf(this.#store, row)).total;
    return { seq: row.seq, costUsd, unpriced, tokens };
  }
}
