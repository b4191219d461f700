import { badOption, checkKeys, checkNumber, checkOneOf, isRecord } from "../../check-options.ts";
import { Kept } from "../../flow/kept.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import type { Documents } from "../../store/documents.ts";

/** What is measured and held against a target. */
export const SLO_NAMES = [
  "write",
  "recovery",
  "completion",
  "availability",
  "recovery-rate",
  "iterations",
  "cost",
] as const;
export type SloName = (typeof SLO_NAMES)[number];

/** How urgent a call is: `P1` now, `P2` today. */
export type Severity = "P1" | "P2";

/** A goal, and the line beyond which somebody is called. `null`: it is only watched. */
export interface SloTarget {
  readonly goal: number | null;
  readonly alarm: number | null;
  readonly severity: Severity;
}

/** A target that somebody has set. */
export interface SetTarget extends SloTarget {
  readonly by: string | null;
  readonly at: number;
}

/** A target with where it comes from: `set` is `null` for the built-in one. */
export interface KnownTarget extends SloTarget {
  readonly set: { readonly by: string | null; readonly at: number } | null;
}

const DAY = 86_400_000;
const watched: SloTarget = { goal: null, alarm: null, severity: "P2" };

/** Less is better, except for shares of what went well. Windows and figures are those of the requirements. */
export const SLOS: Readonly<Record<SloName, SloTarget & SloKind>> = {
  write: { unit: "ms", better: "less", windowMs: 3_600_000, goal: 15, alarm: 50, severity: "P2" },
  recovery: { unit: "ms", better: "less", windowMs: 3_600_000, goal: 60_000, alarm: 300_000, severity: "P1" },
  completion: { unit: "share", better: "more", windowMs: DAY, goal: 0.98, alarm: 0.95, severity: "P2" },
  availability: {
    unit: "share",
    better: "more",
    windowMs: 30 * DAY,
    goal: 0.9999,
    alarm: 0.9999,
    severity: "P1",
  },
  "recovery-rate": { unit: "share", better: "less", windowMs: DAY, ...watched },
  iterations: { unit: "count", better: "less", windowMs: DAY, ...watched },
  cost: { unit: "usd", better: "less", windowMs: DAY, ...watched },
};

export interface SloKind {
  readonly unit: "ms" | "share" | "count" | "usd";
  readonly better: "less" | "more";
  /** The time that it is measured over, up to now. */
  readonly windowMs: number;
}

const isTarget = (value: unknown): value is SetTarget =>
  isRecord(value) &&
  [value["goal"], value["alarm"]].every((one) => one === null || typeof one === "number") &&
  (value["severity"] === "P1" || value["severity"] === "P2");

export const targetsKept = (documents: () => Documents, newVersion: () => string): Kept<SetTarget> =>
  new Kept<SetTarget>({ documents, newVersion, kind: "slo-target", isValid: isTarget });

/** The parts of a target that somebody wants to change. */
export interface TargetChange {
  readonly goal?: number | null;
  readonly alarm?: number | null;
  readonly severity?: Severity;
}

/** Checks a change and returns the new target. An alarm must not be on the better side of its goal. */
export function changedTarget(name: SloName, before: SloTarget, change: TargetChange, act: Act): SloTarget {
  checkOneOf("slo", name, SLO_NAMES);
  checkKeys(change, ["goal", "alarm", "severity"]);
  checkAct(act);
  const { unit, better } = SLOS[name];
  const bounds = unit === "share" ? { least: 0, most: 1 } : { least: 0 };
  for (const part of ["goal", "alarm"] as const)
    if (change[part] !== undefined && change[part] !== null) checkNumber(part, change[part], bounds);
  if (change.severity !== undefined) checkOneOf("severity", change.severity, ["P1", "P2"] as const);
  const { goal, alarm, severity } = { ...before, ...change };
  const isSwapped = goal !== null && alarm !== null && (better === "less" ? alarm < goal : alarm > goal);
  if (isSwapped) throw badOption("alarm", `it must not be better than the goal, which is ${goal}`);
  return { goal, alarm, severity };
}
