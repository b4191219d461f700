import { type Act, command } from "../../acts/act.ts";
import { type AnswerOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";

export type Budget = AnswerOf<"listBudgets">["budgets"][number];
export type Price = AnswerOf<"listPrices">["prices"][number];

export const MANAGE_COST = "admin";

/** An amount in US dollars, or `null` for something else. */
export function readAmount(text: string, least = 0): number | null {
  if (text.trim() === "") return null;
  const amount = Number(text);
  return Number.isFinite(amount) && amount >= least ? amount : null;
}

interface Words {
  readonly title: (name: string) => string;
  readonly effect: string;
  readonly verb: string;
  readonly reasons: readonly string[];
}

const removal = (noun: "budgets" | "prices", name: string, text: Words, perform: Act["perform"]): Act => ({
  title: text.title(name),
  effect: text.effect,
  verb: text.verb,
  reasons: text.reasons,
  cli: (reason) => command([noun, "delete", name], reason),
  permission: MANAGE_COST,
  isDangerous: true,
  perform,
});

export const deleteBudget = ({ name }: Budget): Act =>
  removal("budgets", name, TEXT.budgets.remove, (reason) => client.deleteBudget({ name, reason }));

export const deletePrice = ({ model }: Price): Act =>
  removal("prices", model, TEXT.prices.remove, (reason) => client.deletePrice({ model, reason }));
