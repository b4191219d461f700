import type { ArgsOf } from "../../api/client.ts";
import { checkJson } from "../check-json.ts";

/** What a resume may bring along, as it is typed. */
export interface Changes {
  readonly retryFailed: boolean;
  readonly now: boolean;
  readonly budgetUsd: string;
  readonly inject: string;
  readonly set: string;
}

export const NO_CHANGES: Changes = { retryFailed: false, now: false, budgetUsd: "", inject: "", set: "" };

type Sent = Omit<ArgsOf<"planResume">, "run">;

/** What is sent, or `null` while something isn't filled in right. */
export function sentOf({ retryFailed, now, budgetUsd, inject, set }: Changes): Sent | null {
  const amount = Number(budgetUsd);
  if (budgetUsd.trim() !== "" && !(amount > 0)) return null;
  const edits = set.trim() === "" ? null : checkJson(set);
  if (edits && !(edits.isValid && isObject(edits.value))) return null;
  return {
    ...(retryFailed ? { retryFailed } : {}),
    ...(now ? { now } : {}),
    ...(budgetUsd.trim() === "" ? {} : { budget: { costUsd: amount } }),
    ...(inject.trim() === "" ? {} : { inject }),
    ...(edits?.isValid ? { set: edits.value as NonNullable<Sent["set"]> } : {}),
  };
}

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same as options of `holdfast resume`. */
export function flagsOf({ retryFailed, now, budgetUsd, inject, set }: Changes): string[] {
  const edits = set.trim() === "" ? null : checkJson(set);
  return [
    ...(retryFailed ? ["--retry-failed"] : []),
    ...(now ? ["--now"] : []),
    ...(budgetUsd.trim() === "" ? [] : ["--budget-usd", budgetUsd.trim()]),
    ...(inject.trim() === "" ? [] : ["--inject", inject]),
    ...(edits?.isValid ? setFlags(edits.value) : []),
  ];
}

/** Edits as `--set` options: one for each value. */
export function setFlags(set: unknown): string[] {
  if (!isObject(set)) return [];
  return Object.entries(set as object).flatMap(([part, value]: [string, unknown]) =>
    part === "input" || !isObject(value)
      ? ["--set", `${part}=${JSON.stringify(value)}`]
      : Object.entries(value as object).flatMap(([name, one]: [string, unknown]) => [
          "--set",
          `${part}.${name}=${JSON.stringify(one)}`,
        ]),
  );
}
