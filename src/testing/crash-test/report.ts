import { createHash } from "node:crypto";
import { arch, cpus, platform, release } from "node:os";
import { checkParts, checkText } from "../../core/check-options.ts";
import type { PromiseName } from "./findings.ts";
import type { CrashFault } from "./places.ts";

/** The outcome of one boundary. `missed`: the process ended without reaching it. */
export interface CaseReport {
  readonly id: string;
  readonly at: string;
  readonly outcome: "held" | "broken" | "missed";
  readonly kills: number;
  /** From the kill to the first write of the process that took over; null when nothing was left to do. */
  readonly recoveryMs: number | null;
  /** Steps that had to be called again. */
  readonly stepsLost: number;
  readonly seconds: number;
  readonly findings: readonly string[];
}

/** One problem, however many cases show it. */
export interface CrashTestProblem {
  readonly promise: PromiseName;
  readonly step: string | null;
  readonly message: string;
  readonly fix: string;
  /** The number of cases that show it; 0 when it was seen without a crash. */
  readonly cases: number;
  /** The description of the first case, and the command that repeats it. */
  readonly first: string;
  readonly repeat: string;
}

export interface EffectCount {
  /** The number of distinct effects in an uninterrupted run. */
  readonly each: number;
  /** Over all cases. */
  readonly counted: number;
}

/** The result of a crash test. `schema` changes when a field does. */
export interface CrashTestReport {
  readonly kind: "holdfast-crash-test";
  readonly schema: 1;
  readonly ok: boolean;
  readonly workflow: { readonly name: string; readonly version: string; readonly file: string };
  readonly fault: CrashFault;
  readonly seed: number;
  readonly store: { readonly name: string; readonly durability: string };
  readonly claimMs: number;
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Readonly<Record<"node" | "holdfast" | "os" | "arch" | "cpu", string>> & {
    readonly cpus: number;
  };
  readonly boundaries: {
    readonly possible: number;
    readonly tried: number;
    readonly missed: number;
    readonly selection: string;
  };
  readonly baseline: {
    readonly status: string;
    readonly writes: number;
    readonly steps: number;
    readonly calls: number;
    /** Parts of the result that differ between two uninterrupted runs and weren't compared. */
    readonly notCompared: readonly string[];
    readonly sameCalls: boolean;
    readonly sameEffects: boolean;
  };
  readonly kills: number;
  /** Cases with a fault, and those of them in which every guarantee held. */
  readonly struck: number;
  readonly held: number;
  readonly recoveryMs: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  readonly stepsLost: { readonly most: number; readonly total: number };
  readonly effects: Readonly<Record<string, EffectCount>>;
  readonly duplicates: number;
  /** Effects repeated under the same key, which the receiver recognises. */
  readonly deduplicated: number;
  readonly people: { readonly answered: number; readonly signalled: number; readonly settled: number };
  readonly problems: readonly CrashTestProblem[];
  readonly cases: readonly CaseReport[];
}

/** The smallest value that at least this share of the list doesn't exceed. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function recoveryFigures(cases: readonly CaseReport[]): CrashTestReport["recoveryMs"] {
  const sorted = cases.flatMap(({ recoveryMs }) => recoveryMs ?? []).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), max: sorted.at(-1) ?? 0 };
}

export function machine(holdfast: string): CrashTestReport["machine"] {
  const all = cpus();
  return {
    node: process.versions.node,
    holdfast,
    os: `${platform()} ${release()}`,
    arch: arch(),
    cpu: all[0]?.model.trim() ?? "unknown",
    cpus: all.length,
  };
}

/** The report as written to a file. The digest in the Markdown report covers this text. */
export function reportToJson(report: CrashTestReport): string {
  checkReport(report);
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Matches the output of `sha256sum` for the JSON file. */
export const reportDigest = (json: string): string =>
  createHash("sha256").update(checkText("json", json)).digest("hex");

/** Refuses what isn't a report of a crash test. */
export const checkReport = (report: CrashTestReport): void =>
  checkParts("report", report, { kind: "text", workflow: "object", boundaries: "object", cases: "list" });
