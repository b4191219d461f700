import { type Spent, savedSpent } from "../journal/spent.ts";
import type { Store } from "../store/contract.ts";
import type { Budget, RunRow } from "../types.ts";
import { ALL_LIMITS } from "../types.ts";
import { Families } from "./families.ts";

/** The remainder of each limit. Nothing left is a limit of 0, which holds back at once. */
function left(budget: Budget | null, spent: Spent): Budget | undefined {
  if (!budget) return undefined;
  const limits = ALL_LIMITS.flatMap((limit) => {
    const most = budget[limit];
    return most === undefined ? [] : [[limit, Math.max(0, most - spent[limit])] as const];
  });
  return Object.fromEntries(limits);
}

/** What the run's limits leave for a continuation from this row. */
export const leftOf = (row: RunRow): Budget | undefined => left(row.budget, savedSpent(row));

/** What the runs above leave for a run below them now: the minimum of each limit. */
export async function leftAbove(store: Store, row: RunRow): Promise<Budget | undefined> {
  const families = Families.of(store);
  const above = (await families.above(row)).filter(({ budget }) => budget !== null);
  const totals = await Promise.all(above.map(({ id }) => families.total(id)));
  return totals
    .map((total) => (total ? left(total.row.budget, total.spent) : undefined))
    .reduce(tighter, undefined);
}

/** The smaller of each limit. */
export function tighter(one: Budget | undefined, other: Budget | undefined): Budget | undefined {
  if (!one || !other) return one ?? other;
  const limits = ALL_LIMITS.flatMap((limit) => {
    const most = Math.min(one[limit] ?? Infinity, other[limit] ?? Infinity);
    return most === Infinity ? [] : [[limit, most] as const];
  });
  return Object.fromEntries(limits);
}
