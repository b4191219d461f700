import { HoldfastError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import type { ArchiveBundle } from "./archive.ts";

/** Milliseconds, or a number with a unit: `"30m"`, `"12h"`, `"7d"`. */
export type Duration = number | `${number}${keyof typeof UNITS}`;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;

/** How long values are kept. What is not given keeps them for ever. */
export interface RetentionRules {
  /** Where to begin; the other keys come before what it says. */
  readonly preset?: RetentionPreset;
  /** Completed and cancelled runs lose their values so long after they ended. */
  readonly maxAge?: Duration;
  /** The same for failed runs, which can be resumed until then. */
  readonly failedMaxAge?: Duration;
  /** Inside a run, the newest so many checkpoints stay restorable; older ones lose the values that only they need. */
  readonly keepLast?: number;
  /** Besides those, the newest so many checkpoints of each phase. */
  readonly keepPerPhase?: number;
  /** So many completed runs of each workflow, the latest to end, keep their values whatever their age; `true` is 1. */
  readonly keepSuccessful?: boolean | number;
  /**
   * Given a run before its values are dropped for their age. When it throws, nothing of the run is dropped. After a crash it may be given
   * the same run again, with the same content.
   */
  readonly archive?: (bundle: ArchiveBundle) => Promise<void>;
}

/**
 * Which values are kept and which are dropped: a preset's name, or rules. The record of what happened is always kept.
 *
 * @example
 * ```ts
 * import type { RetentionPolicy } from "holdfast";
 *
 * export const policy: RetentionPolicy = {
 *   preset: "default",
 *   maxAge: "3d",
 *   workflows: { audit: "forever", chat: { keepLast: 20, maxAge: "12h" } },
 * };
 * ```
 */
export type RetentionPolicy =
  | RetentionPreset
  | (RetentionRules & {
      /** Rules of their own for these workflows. The archive serves them too, unless they name another. */
      readonly workflows?: Readonly<Record<string, RetentionPreset | RetentionRules>>;
    });

const DAY = UNITS.d;

const PRESETS = {
  default: { maxAge: 7 * DAY, failedMaxAge: 30 * DAY },
  /** Success leaves nothing behind. */
  seed0: { maxAge: 0, failedMaxAge: 30 * DAY },
  dag: { keepLast: 5, maxAge: 7 * DAY, failedMaxAge: 30 * DAY },
  conductor: { keepLast: 10, maxAge: 7 * DAY, keepSuccessful: 1, failedMaxAge: 7 * DAY },
  agentic: { keepPerPhase: 5, maxAge: 30 * DAY, failedMaxAge: 30 * DAY },
  forever: {},
} as const satisfies Record<string, Rules>;

/** Policies with a name. */
export type RetentionPreset = keyof typeof PRESETS;

/** Rules as they are applied: times in milliseconds. */
export interface Rules {
  readonly maxAge?: number;
  readonly failedMaxAge?: number;
  readonly keepLast?: number;
  readonly keepPerPhase?: number;
  readonly keepSuccessful?: number;
  readonly archive?: (bundle: ArchiveBundle) => Promise<void>;
}

/** The rules for each workflow, by its name. */
export type RulesOf = (workflow: string) => Rules;

/** Reads a policy, or refuses it (HF-1003). */
export function readPolicy(policy: RetentionPolicy): RulesOf {
  const { workflows, ...given } = asRules(policy, "policy") as Exclude<RetentionPolicy, string>;
  checkKeys(given, [...KEYS, "workflows"]);
  const general = readRules(given);
  const special = new Map<string, Rules>();
  const listed: unknown = workflows ?? {};
  if (!isObject(listed)) throw invalid("workflows", "it must be an object of rules by workflow");
  for (const [name, rules] of Object.entries(listed)) {
    const archive = general.archive ? { archive: general.archive } : {};
    special.set(name, { ...archive, ...readRules(asRules(rules, `workflows.${name}`)) });
  }
  return (workflow) => special.get(workflow) ?? general;
}

function asRules(value: unknown, option: string): RetentionRules {
  if (typeof value === "string") return { preset: value as RetentionPreset };
  if (isObject(value)) return value;
  throw invalid(option, "it must be the name of a preset or an object of rules");
}

const READERS: { readonly [K in keyof Required<Rules>]: (option: string, value: unknown) => Rules[K] } = {
  maxAge: readDuration,
  failedMaxAge: readDuration,
  keepLast: readCount,
  keepPerPhase: readCount,
  keepSuccessful: (option, value) => (typeof value === "boolean" ? Number(value) : readCount(option, value)),
  archive: (option, value) => {
    if (typeof value !== "function") throw invalid(option, "it must be a function");
    return value as Rules["archive"];
  },
};

const RULES = Object.keys(READERS) as (keyof Rules)[];
const KEYS = ["preset", ...RULES];

function readRules(given: RetentionRules): Rules {
  checkKeys(given, KEYS);
  const rules: Record<string, unknown> = { ...presetOf(given.preset) };
  for (const key of RULES) if (given[key] !== undefined) rules[key] = READERS[key](key, given[key]);
  return rules;
}

function presetOf(name: string | undefined): Rules {
  if (name === undefined) return {};
  const names = Object.keys(PRESETS);
  if (names.includes(name)) return PRESETS[name as RetentionPreset];
  throw invalid("preset", `there is no preset ${shown(name)}; did you mean ${nearest(name, names)}`);
}

function readDuration(option: string, value: unknown): number {
  if (typeof value === "number" && value >= 0) return value;
  const [, amount, unit] = (typeof value === "string" && WRITTEN.exec(value)) || [];
  if (amount === undefined || unit === undefined)
    throw invalid(option, 'it must be milliseconds of 0 or more, or a text such as "7d", "12h" or "30m"');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

/** A whole number of 1 or more. */
export function readCount(option: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw invalid(option, "it must be a whole number of 1 or more");
}

/** Refuses a key that is not known, so that a mistyped one never changes what is dropped. */
export function checkKeys(given: object, known: readonly string[]): void {
  const wrong = Object.keys(given).find((key) => !known.includes(key));
  if (wrong !== undefined)
    throw invalid(shown(wrong), `there is no such key; did you mean ${nearest(wrong, known)}`);
}

const shown = (text: string): string => text.slice(0, 80);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

export const invalid = (option: string, problem: string): HoldfastError =>
  new HoldfastError("HF-1003", { option, problem });
