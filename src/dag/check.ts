import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkName } from "../core/names.ts";
import { didYouMean } from "../core/nearest.ts";
import type { Effect } from "../core/types.ts";
import type { DAGTask } from "./types.ts";

const EFFECTS: readonly Effect[] = ["repeatable", "keyed", "once"];

/** True when `effect` promises less than `least` about what a crash may repeat. */
export const isLessStrict = (effect: Effect, least: Effect): boolean =>
  EFFECTS.indexOf(effect) < EFFECTS.indexOf(least);

/** What each key of a task must be: the problem, or nothing. */
const KEYS: Readonly<Record<keyof DAGTask, (value: unknown) => string | undefined>> = {
  id: (value) => (isName(value) ? undefined : "its id must be a text of 1 to 128 characters without / # [ ]"),
  tool: (value) => (isText(value) ? undefined : "its tool must be the name of one"),
  arguments: (value) =>
    value === undefined || isRecord(value) ? undefined : "its arguments must be an object",
  dependsOn: (value) =>
    value === undefined ||
    (Array.isArray(value) && value.every(isText) && new Set(value).size === value.length)
      ? undefined
      : "its dependsOn must be a list of task ids, each of them once",
  effect: (value) =>
    value === undefined || EFFECTS.some((one) => one === value)
      ? undefined
      : "its effect must be repeatable, keyed or once",
  resultType: (value) => (value === undefined || isText(value) ? undefined : "its resultType must be a text"),
  timeout: (value) =>
    value === undefined || (typeof value === "number" && value > 0)
      ? undefined
      : "its timeout must be a number of milliseconds above 0",
  speculative: (value) =>
    value === undefined || typeof value === "boolean" ? undefined : "its speculative must be true or false",
};

const NAMELESS = "A task without an id";

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function isName(value: unknown): boolean {
  try {
    checkName(value);
    return true;
  } catch {
    return false;
  }
}

/** The task, if its shape is right (HF-4550). */
export function checkTask(given: unknown): DAGTask {
  const id = isRecord(given) && isText(given["id"]) ? given["id"] : NAMELESS;
  if (!isRecord(given)) throw badTask(id, "it must be an object");
  checkParts(id, given, (key) => KEYS[key](given[key]));
  return given as unknown as DAGTask;
}

/** The changes, if their shape is right. */
export function checkChange(task: string, given: unknown): Partial<Omit<DAGTask, "id">> {
  if (!isRecord(given)) throw badTask(task, "the change must be an object");
  if ("id" in given) throw badTask(task, "the id of a task can't be changed");
  checkParts(task, given, (key) => (key in given ? KEYS[key](given[key]) : undefined));
  return given;
}

function checkParts(
  task: string,
  given: Readonly<Record<string, unknown>>,
  problemOf: (key: keyof DAGTask) => string | undefined,
): void {
  const known = Object.keys(KEYS) as (keyof DAGTask)[];
  const unknown = Object.keys(given).find((key) => !known.some((one) => one === key));
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, known, " (did you mean ", "?)");
    throw badTask(task, `there is no key ${unknown.slice(0, 80)}${meant}`);
  }
  for (const key of known) {
    const problem = problemOf(key);
    if (problem !== undefined) throw badTask(task, problem);
  }
}

const badTask = (task: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4550", { task: task === NAMELESS ? task : `Task ${task.slice(0, 128)}`, problem });
