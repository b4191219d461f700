import { type StoreKind, sharedByMany, sqliteKind } from "../../src/testing/store-kinds.ts";
import type { RunPlan } from "./config.ts";
import type { ChildEnd } from "./processes.ts";
import type { ScenarioName } from "./scenarios.ts";
import { Lab, type Problem } from "./site.ts";

export interface ContentionOptions {
  readonly seconds: number;
  /** Default 8. */
  readonly processes?: number;
  /** Runs in progress per process. Default 8. */
  readonly runs?: number;
  /** Default SQLite. Must allow several processes. */
  readonly store?: StoreKind;
}

export interface ContentionReport {
  readonly processes: number;
  readonly runs: number;
  readonly calls: number;
  readonly walBytes: number;
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

const MIX: readonly ScenarioName[] = [
  "sequence",
  "group",
  "gates",
  "retries",
  "family",
  "ledger",
  "sequence",
  "loop",
];
/** On two cores a living process may have to wait a while for its turn. */
const CLAIM_MS = 10_000;
const SAMPLE_MS = 20;
const WAL_LIMIT = 64 * 1024 * 1024;
const AT = "contention";

/**
 * Lets many worker processes share one store for a while. No process may run into a lock, SQLite's WAL must stay small,
 * and every guarantee must hold.
 */
export async function contention(options: ContentionOptions): Promise<ContentionReport> {
  const { seconds, processes = 8, runs = 8, store = sqliteKind } = options;
  const started = performance.now();
  const lab = await Lab.open({ patienceMs: seconds * 1000 + 60_000, store: sharedByMany(store) });
  const known = await lab.scenarios();
  const mix = MIX.filter((scenario) => known.includes(scenario));
  const site = await lab.site();
  let walBytes = 0;
  const sampling = setInterval(() => {
    walBytes = Math.max(walBytes, site.place.bytes?.().wal ?? 0);
  }, SAMPLE_MS);
  try {
    const plansOf = (n: number) =>
      Array.from(
        { length: runs },
        (_, index): RunPlan => ({ id: `p${n}`, scenario: mix[index % mix.length] as ScenarioName }),
      );
    const ends = await Promise.all(
      Array.from({ length: processes }, (_, n) =>
        site.run({ runs: plansOf(n), repeatMs: seconds * 1000, claimMs: CLAIM_MS, shared: true }),
      ),
    );
    const problems = [...ends.flatMap(endProblems), ...(await site.check(AT))];
    if (walBytes > WAL_LIMIT) problems.push(problem(`The WAL grew to ${walBytes} bytes.`));
    const total = ends.reduce((sum, { reports }) => sum + (reports[0]?.started ?? 0), 0);
    const calls = site.witness.calls().length;
    return {
      processes,
      runs: total,
      calls,
      walBytes,
      problems,
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    clearInterval(sampling);
    await lab.close();
  }
}

const problem = (message: string): Problem => ({ at: AT, rule: "harness", runId: "", message });

function endProblems({ code, signal, stderr, reports, isOverdue }: ChildEnd): Problem[] {
  const errors = reports.flatMap((report) => report.errors).map(problem);
  if (code === 0) return errors;
  return [
    ...errors,
    problem(`A worker ended with ${isOverdue ? "no end in sight" : (code ?? signal)}. ${stderr}`),
  ];
}
