import { parseEntry } from "../../core/journal/journal.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { checkInvariants } from "../invariants/invariants.ts";
import type { Violation } from "../witness/log.ts";
import type { Baseline } from "./baseline.ts";
import type { Bench, SceneEnd, ScenePlan, Stand } from "./bench.ts";
import type { Struck } from "./config.ts";
import { isBegun } from "./notes.ts";
import type { CrashFault, Place, Strike } from "./places.ts";
import type { CaseReport } from "./report.ts";
import { judge, type Verdict } from "./rules.ts";

export interface CasePlan {
  readonly place: Place;
  readonly fault: CrashFault;
  /** The place where the recovering process is killed too. */
  readonly again: Strike | null;
  readonly common: Omit<ScenePlan, "mode" | "fault" | "strike" | "known">;
  readonly baseline: Baseline;
  readonly patienceMs: number;
}

export interface CaseEnd {
  readonly report: CaseReport;
  readonly verdict: Verdict;
  readonly people: { readonly answered: number; readonly signalled: number; readonly settled: number };
}

/** The order of events varies a little, so a case whose place wasn't reached is tried once more. */
export async function runCase(bench: Bench, plan: CasePlan): Promise<CaseEnd> {
  const end = await tryCase(bench, plan);
  return end.report.outcome === "missed" ? tryCase(bench, plan) : end;
}

/** Runs one case: injects the fault, lets new processes finish the run, and judges the evidence. */
async function tryCase(bench: Bench, plan: CasePlan): Promise<CaseEnd> {
  const started = performance.now();
  const stand = await bench.stand();
  try {
    const { end, kills, struck } = await perform(stand, plan);
    const { violations, takeovers } = await stand.read((store) => inspect(store, stand));
    const { fault, baseline, patienceMs, place } = plan;
    const facts = { fault, end, notes: stand.notes(), violations, takeovers, patienceMs };
    const verdict = judge(baseline, facts);
    const isBroken = verdict.findings.length > 0;
    const { result } = end;
    const backAt = kills > 0 ? (result?.backAt ?? null) : null;
    const report: CaseReport = {
      id: place.id,
      at: struck?.label ?? place.label,
      outcome: isBroken ? "broken" : struck === null ? "missed" : "held",
      kills,
      recoveryMs: backAt === null || struck === null ? null : Math.round(backAt - struck.at),
      stepsLost: verdict.stepsLost,
      seconds: round(performance.now() - started),
      findings: verdict.findings.map(({ message }) => message),
    };
    const { answered = 0, signalled = 0, settled = [] } = result ?? {};
    return { report, verdict, people: { answered, signalled, settled: settled.length } };
  } finally {
    await bench.clear(stand);
  }
}

export const round = (ms: number): number => Math.round(ms / 10) / 100;

async function perform(
  stand: Stand,
  { place, fault, again, common, baseline, patienceMs }: CasePlan,
): Promise<{ readonly end: SceneEnd; readonly kills: number; readonly struck: Struck | null }> {
  const plan: ScenePlan = { ...common, mode: "run", fault, strike: place.strike, known: baseline.known };
  let end = await stand.run(plan, patienceMs);
  const struck = stand.struck();
  let kills = 0;
  for (const strike of again === null ? [null] : [again, null]) {
    if (!wasKilled(end)) break;
    kills++;
    end = await stand.run({ ...plan, strike }, patienceMs);
  }
  return { end, kills, struck };
}

/** True when it was killed at its place, not by the harness for being late. */
const wasKilled = ({ signal, isOverdue, result }: SceneEnd): boolean =>
  signal === "SIGKILL" && !isOverdue && result === null;

async function inspect(
  store: Store,
  stand: Stand,
): Promise<{ readonly violations: Violation[]; readonly takeovers: Map<string, number> }> {
  const calls = stand
    .notes()
    .filter(isBegun)
    .map(({ pid, ...call }) => ({ ...call, caller: String(pid) }));
  const violations = await checkInvariants(store, { calls, acked: stand.acked(), healed: true });
  const { runs } = await store.list({ limit: 1_000 });
  const counts = await Promise.all(runs.map(async (row) => [row.id, await takeoversOf(store, row)] as const));
  return { violations, takeovers: new Map(counts) };
}

async function takeoversOf(store: Store, { id, seq }: RunRow): Promise<number> {
  const entries = await store.entries(id, { from: 1, limit: Math.max(1, seq) });
  const events = entries.flatMap((entry) => parseEntry(id, entry).events);
  return events.filter((event) => event.kind === "run_claimed" && event.meta.recovery > 0).length;
}
