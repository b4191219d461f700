import {
  badOption,
  checkFunction,
  checkKeys,
  checkObject,
  checkOneOf,
  checkText,
  checkWhole,
  isRecord,
} from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { Act } from "../../journal/act.ts";
import type { Keep } from "../../journal/events.ts";
import { didYouMean } from "../../nearest.ts";
import type { Archive } from "./archive.ts";

/** Milliseconds, or a number with a unit: `"30m"`, `"12h"`, `"7d"`. */
export type Duration = number | `${number}${keyof typeof UNITS}`;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;

/** How long values are kept. Without a rule they are kept for ever. */
export interface RetentionRules {
  /** The base policy; the other keys override it. */
  readonly preset?: RetentionPreset;
  /** How long completed and cancelled runs keep their values after their end. */
  readonly maxAge?: Duration;
  /** How long failed runs keep their values; they can be resumed until then. */
  readonly failedMaxAge?: Duration;
  /**
   * What happens to a run when its age is reached. `keep-record` (default): its values go, and the record of what
   * happened stays, so that a start with its id does nothing. `delete`: the run is gone, and its id is free again.
   */
  readonly onExpiry?: "keep-record" | "delete";
  /** With `true`, a deleted run leaves one line in the record of deletions. Default false. */
  readonly tombstone?: boolean;
  /** The number of newest checkpoints that stay restorable; older ones lose the values that only they need. */
  readonly keepLast?: number;
  /** Whether `keepLast` counts in each run (default) or in all runs of a workflow together, the latest run first. */
  readonly keepPer?: "run" | "workflow";
  /** How long after it was saved a checkpoint stays, also in runs that go on. The newest one of a run always stays. */
  readonly checkpointMaxAge?: Duration;
  /** In addition, the number of newest checkpoints of each phase. */
  readonly keepPerPhase?: number;
  /** The number of each workflow's latest completed runs that keep their values regardless of age; `true` is 1. */
  readonly keepSuccessful?: boolean | number;
  /**
   * Called with a run before its values are dropped because of their age. If it throws or takes too long, nothing of
   * the run is dropped. After a crash it may get the same run again, with the same content.
   */
  readonly archive?: Archive;
  /**
   * With `true`, dropped rows of `agent_checkpoints` move to `agent_checkpoints_archive`. A store without that table
   * refuses it (HF-4505). Default false.
   */
  readonly archiveRecords?: boolean;
  /** How long the archive may take for one run before it is aborted. Default 10 min. */
  readonly archiveTimeout?: Duration;
  /**
   * On a store with a cache: how long new copies of runs stay there; 0 keeps none. On a store without one it is refused
   * (HF-1033), or has no effect if it comes from a preset. Default: the setting with which the store was opened.
   */
  readonly cacheTtl?: Duration;
}

/**
 * Decides which values are kept and which are dropped: a preset's name, or rules. The record of what happened is always
 * kept.
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
      /**
       * Separate rules for these workflows. The archive and its time limit apply to them too, unless they set others.
       */
      readonly workflows?: Readonly<Record<string, RetentionPreset | RetentionRules>>;
    });

const DAY = UNITS.d;

const PRESETS = {
  default: { maxAge: 7 * DAY, failedMaxAge: 30 * DAY },
  /** Success leaves nothing behind. */
  seed0: { maxAge: 0, failedMaxAge: 30 * DAY, onExpiry: "delete", cacheTtl: 7 * DAY },
  dag: { keepLast: 5, maxAge: 7 * DAY, failedMaxAge: 30 * DAY },
  conductor: {
    keepLast: 10,
    keepPer: "workflow",
    maxAge: 7 * DAY,
    keepSuccessful: 1,
    failedMaxAge: 7 * DAY,
  },
  agentic: { keepPerPhase: 5, maxAge: 30 * DAY, failedMaxAge: 30 * DAY },
  forever: {},
} as const satisfies Record<string, Rules>;

/** The named policies. */
export type RetentionPreset = keyof typeof PRESETS;
export const RETENTION_PRESETS: readonly RetentionPreset[] = Object.keys(PRESETS) as RetentionPreset[];

/** Rules in applied form: times in milliseconds. */
export interface Rules {
  readonly maxAge?: number;
  readonly failedMaxAge?: number;
  readonly onExpiry?: "keep-record" | "delete";
  readonly tombstone?: boolean;
  readonly keepLast?: number;
  readonly keepPer?: "run" | "workflow";
  readonly checkpointMaxAge?: number;
  readonly keepPerPhase?: number;
  readonly keepSuccessful?: number;
  readonly archive?: Archive;
  readonly archiveRecords?: boolean;
  readonly archiveTimeout?: number;
  readonly cacheTtl?: number;
}

/** How many checkpoints of a run the rules keep; `undefined` for all. */
export const keepOf = ({ keepLast, keepPerPhase }: Rules): Keep | undefined =>
  keepLast === undefined && keepPerPhase === undefined
    ? undefined
    : defined({ last: keepLast, perPhase: keepPerPhase });

/** A parsed policy. */
export interface PolicyRules {
  /** The rules for a workflow, by its name. */
  of(workflow: string): Rules;
  /** Those of all workflows. */
  readonly every: readonly Rules[];
  /** Rules written explicitly, not taken from a preset. */
  readonly written: ReadonlySet<keyof Rules>;
}

/** Parses a policy, or refuses it (HF-1003). */
export function readPolicy(policy: RetentionPolicy): PolicyRules {
  const { workflows, ...given } = asRules(policy, "policy") as Exclude<RetentionPolicy, string>;
  checkKeys(given, [...KEYS, "workflows"]);
  const general = readRules(given);
  const special = new Map<string, Rules>();
  const written = new Set(writtenIn(given));
  const listed: unknown = workflows ?? {};
  checkObject("workflows", listed, "an object of rules by workflow");
  for (const [name, value] of Object.entries(listed)) {
    const rules = asRules(value, `workflows.${name}`);
    for (const key of writtenIn(rules)) written.add(key);
    special.set(name, { ...archiveOf(general), ...readRules(rules) });
  }
  return {
    of: (workflow) => special.get(workflow) ?? general,
    every: [general, ...special.values()],
    written,
  };
}

const archiveOf = ({ archive, archiveTimeout }: Rules): Rules => defined({ archive, archiveTimeout });

const writtenIn = (given: RetentionRules): (keyof Rules)[] => RULES.filter((key) => given[key] !== undefined);

function asRules(value: unknown, option: string): RetentionRules {
  if (typeof value === "string") return { preset: value as RetentionPreset };
  if (isRecord(value)) return value;
  throw badOption(option, "it must be the name of a preset or an object of rules");
}

const READERS: { readonly [K in keyof Required<Rules>]: (option: string, value: unknown) => Rules[K] } = {
  maxAge: readDuration,
  failedMaxAge: readDuration,
  onExpiry: (option, value) => checkOneOf<"keep-record" | "delete">(option, value, ["keep-record", "delete"]),
  tombstone: readFlag,
  keepLast: checkWhole,
  keepPer: (option, value) => checkOneOf<"run" | "workflow">(option, value, ["run", "workflow"]),
  checkpointMaxAge: readDuration,
  keepPerPhase: checkWhole,
  keepSuccessful: (option, value) => (typeof value === "boolean" ? Number(value) : checkWhole(option, value)),
  archive: (option, value) => {
    checkFunction(option, value);
    return value as Archive;
  },
  archiveRecords: readFlag,
  archiveTimeout: (option, value) => readLimited(option, value, 1),
  cacheTtl: (option, value) => readLimited(option, value, 0),
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
  if (name !== undefined) checkText("preset", name);
  if (name === undefined) return {};
  const names = Object.keys(PRESETS);
  if (names.includes(name)) return PRESETS[name as RetentionPreset];
  throw badOption(
    "preset",
    `there is no preset ${shown(name)}; there are ${names.join(", ")}${didYouMean(name, names, "; did you mean ")}`,
  );
}

function readDuration(option: string, value: unknown): number {
  if (typeof value === "number" && value >= 0) return value;
  const [, amount, unit] = (typeof value === "string" && WRITTEN.exec(value)) || [];
  if (amount === undefined || unit === undefined)
    throw badOption(option, 'it must be milliseconds of 0 or more, or a text such as "7d", "12h" or "30m"');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

function readFlag(option: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw badOption(option, "it must be true or false");
}

/** A duration that ends. */
function readLimited(option: string, value: unknown, least: number): number {
  const ms = readDuration(option, value);
  if (ms >= least && ms < Infinity) return ms;
  throw badOption(option, `it must be ${least} ms or more, and have an end`);
}

const shown = (text: string): string => text.slice(0, 80);

export interface RetentionOptions extends Act {
  /** Only runs of this workflow. */
  readonly workflow?: string;
  /** Only this run. */
  readonly run?: string;
  /** Stops after this many runs have lost values. */
  readonly limit?: number;
  /** Entries and blobs dropped per write. Default 500. */
  readonly batch?: number;
  /** Stops between two writes. The next call drops the rest. */
  readonly signal?: AbortSignal;
}
