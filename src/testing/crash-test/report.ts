import { createHash } from "node:crypto";
import { arch, cpus, platform, release } from "node:os";
import type { PromiseName } from "./findings.ts";
import type { CrashFault } from "./places.ts";

/** What became of one boundary. `missed`: the process came to its end without ever being there. */
export interface CaseReport {
  readonly id: string;
  readonly at: string;
  readonly outcome: "held" | "broken" | "missed";
  readonly kills: number;
  /** From the kill to the first write of the process that took over; null where nothing was left to do. */
  readonly recoveryMs: number | null;
  /** Steps that had to be called again. */
  readonly stepsLost: number;
  readonly seconds: number;
  readonly findings: readonly string[];
}

/** One thing that is wrong, however many cases show it. */
export interface CrashTestProblem {
  readonly promise: PromiseName;
  readonly step: string | null;
  readonly message: string;
  readonly fix: string;
  /** How many cases show it; 0 when it was seen without any crash. */
  readonly cases: number;
  /** The first of them, in words, and what repeats just that one. */
  readonly first: string;
  readonly repeat: string;
}

export interface EffectCount {
  /** Different ones in an uninterrupted run. */
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
    /** Parts of the result that differ between two uninterrupted runs and were not compared. */
    readonly notCompared: readonly string[];
    readonly sameCalls: boolean;
    readonly sameEffects: boolean;
  };
  readonly kills: number;
  /** Cases that were struck, and those of them in which every promise was kept. */
  readonly struck: number;
  readonly held: number;
  readonly recoveryMs: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  readonly stepsLost: { readonly most: number; readonly total: number };
  readonly effects: Readonly<Record<string, EffectCount>>;
  readonly duplicates: number;
  /** Effects that came again under the same key: the receiver knows them. */
  readonly deduplicated: number;
  readonly people: { readonly answered: number; readonly signalled: number; readonly settled: number };
  readonly problems: readonly CrashTestProblem[];
  readonly cases: readonly CaseReport[];
}

/** The smallest value that at least this share of the list does not exceed. */
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

/** The report as it is written to a file: what the digest in the Markdown report is of. */
export const reportToJson = (report: CrashTestReport): string => `${JSON.stringify(report, null, 2)}\n`;

/** As `sha256sum` prints it for the JSON file. */
export const reportDigest = (json: string): string => createHash("sha256").update(json).digest("hex");
