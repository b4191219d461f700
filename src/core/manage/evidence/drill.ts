import { isRecord } from "../../check-options.ts";
import { HoldfastError } from "../../errors.ts";

/** A crash test as proof that recovery was exercised: what was killed, how soon it went on, and what was lost. */
export interface Drill {
  readonly workflow: string;
  readonly version: string;
  readonly startedAt: string;
  readonly store: string;
  readonly durability: string;
  readonly fault: string;
  readonly kills: number;
  /** Cases in which a fault struck, and those of them in which every promise held. */
  readonly struck: number;
  readonly held: number;
  readonly ok: boolean;
  /** The recovery time seen, in milliseconds; `null` when no process was killed. */
  readonly rto: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  /** The most steps that had to be called again after one fault, and all of them. */
  readonly rpo: { readonly most: number; readonly total: number };
  readonly duplicates: number;
  readonly holdfast: string;
  readonly node: string;
  /** The SHA-256 of the report that these figures come from, as `sha256sum` prints it. */
  readonly sha256: string;
}

type Given = Readonly<Record<string, unknown>>;

/** Reads the JSON report of `holdfast crash-test`, also as `--json` prints it. Throws HF-6150 for anything else. */
export function drillOf(given: unknown, sha256: string, file: string): Drill {
  const report = isRecord(given) && isRecord(given["report"]) ? given["report"] : given;
  const problem = (what: string) => new HoldfastError("HF-6150", { file, problem: what });
  if (!isRecord(report) || report["kind"] !== "holdfast-crash-test")
    throw problem("it isn't the JSON report of a crash test");
  if (report["schema"] !== 1) throw problem("it is of another version");
  const part = (from: Given, key: string): Given => {
    const found = from[key];
    if (isRecord(found)) return found;
    throw problem(`${key} is missing`);
  };
  const text = (from: Given, key: string): string => {
    const found = from[key];
    if (typeof found === "string" && found.length <= 500) return found;
    throw problem(`${key} isn't a text`);
  };
  const figure = (from: Given, key: string): number => {
    const found = from[key];
    if (typeof found === "number" && Number.isFinite(found) && found >= 0) return found;
    throw problem(`${key} isn't a number`);
  };
  const [workflow, store, machine] = ["workflow", "store", "machine"].map((key) => part(report, key)) as [
    Given,
    Given,
    Given,
  ];
  const times = report["recoveryMs"] === null ? null : part(report, "recoveryMs");
  const lost = part(report, "stepsLost");
  return {
    workflow: text(workflow, "name"),
    version: text(workflow, "version"),
    startedAt: text(report, "startedAt"),
    store: text(store, "name"),
    durability: text(store, "durability"),
    fault: text(report, "fault"),
    kills: figure(report, "kills"),
    struck: figure(report, "struck"),
    held: figure(report, "held"),
    ok: report["ok"] === true,
    rto: times && { p50: figure(times, "p50"), p95: figure(times, "p95"), max: figure(times, "max") },
    rpo: { most: figure(lost, "most"), total: figure(lost, "total") },
    duplicates: figure(report, "duplicates"),
    holdfast: text(machine, "holdfast"),
    node: text(machine, "node"),
    sha256,
  };
}
