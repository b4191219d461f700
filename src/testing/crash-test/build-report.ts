import type { Baseline } from "./baseline.ts";
import type { Finding } from "./findings.ts";
import type { CrashTestOptions } from "./options.ts";
import type { Selected } from "./places.ts";
import {
  type CaseReport,
  type CrashTestProblem,
  type CrashTestReport,
  type EffectCount,
  machine,
  recoveryFigures,
} from "./report.ts";
import type { CaseEnd } from "./run-case.ts";

export interface RunFacts {
  readonly options: CrashTestOptions;
  readonly startedAt: string;
  readonly seconds: number;
  readonly holdfast: string;
  readonly claimMs: number;
  readonly baseline: Baseline;
  /** Problems found before any fault was injected. */
  readonly findings: readonly Finding[];
  readonly selected: Selected;
  readonly ends: readonly CaseEnd[];
}

export function buildReport(facts: RunFacts): CrashTestReport {
  const { options, baseline, selected, ends, startedAt, seconds, holdfast, claimMs } = facts;
  const { file, fault = "sigkill", seed = 1 } = options;
  const cases = ends.map(({ report }) => report);
  const struck = cases.filter(({ outcome }) => outcome !== "missed");
  const problems = problemsOf(facts);
  const sum = (of: (end: CaseEnd) => number): number => ends.reduce((total, end) => total + of(end), 0);
  return {
    kind: "holdfast-crash-test",
    schema: 1,
    ok: problems.length === 0 && (struck.length > 0 || cases.length === 0),
    workflow: { ...baseline.result.workflow, file },
    fault,
    seed,
    store: baseline.result.store,
    claimMs,
    startedAt,
    seconds: Math.round(seconds * 10) / 10,
    machine: machine(holdfast),
    boundaries: {
      possible: selected.possible,
      tried: cases.length,
      missed: cases.length - struck.length,
      selection: selected.text,
    },
    baseline: usual(baseline),
    kills: sum(({ report }) => report.kills),
    struck: struck.length,
    held: cases.filter(({ outcome }) => outcome === "held").length,
    recoveryMs: recoveryFigures(cases),
    stepsLost: {
      most: Math.max(0, ...cases.map(({ stepsLost }) => stepsLost)),
      total: sum(({ report }) => report.stepsLost),
    },
    effects: effectsOf(baseline, ends),
    duplicates: sum(({ verdict }) => verdict.duplicates),
    deduplicated: sum(({ verdict }) => verdict.deduplicated),
    people: {
      answered: sum(({ people }) => people.answered),
      signalled: sum(({ people }) => people.signalled),
      settled: sum(({ people }) => people.settled),
    },
    problems,
    cases,
  };
}

const usual = ({ result, stepCount, callCount, differing, calls, seen }: Baseline) => ({
  status: result.status,
  writes: result.writes,
  steps: stepCount,
  calls: callCount,
  notCompared: differing,
  sameCalls: calls !== null,
  sameEffects: seen !== null,
});

function effectsOf(baseline: Baseline, ends: readonly CaseEnd[]): Record<string, EffectCount> {
  const ids = new Map<string, Set<string>>();
  for (const { kind, id } of baseline.effects) ids.set(kind, (ids.get(kind) ?? new Set()).add(id));
  const kinds = new Set([...ids.keys(), ...ends.flatMap(({ verdict }) => Object.keys(verdict.counts))]);
  return Object.fromEntries(
    [...kinds].map((kind) => {
      const counted = ends.reduce((total, { verdict }) => total + (verdict.counts[kind] ?? 0), 0);
      return [kind, { each: ids.get(kind)?.size ?? 0, counted }];
    }),
  );
}

interface Sighting {
  readonly finding: Finding;
  readonly isPlain: boolean;
  readonly cases: CaseReport[];
}

/** The step it concerns. Names that vary with every run are merged: only the numbers in them differ. */
const groupOf = ({ step, promise }: Finding, usual: ReadonlySet<string>): string | null => {
  if (step === null || promise === "same-names") return null;
  return usual.has(step) ? step : step.replaceAll(/[0-9a-f]{8}[0-9a-f-]*|\d+/gi, "*");
};

/** Merges findings that say the same about the same step into one problem, whatever case or effect showed them. */
function problemsOf({ findings, ends, options, baseline }: RunFacts): CrashTestProblem[] {
  const { file, fault = "sigkill" } = options;
  const { command = (id: string) => `holdfast crash-test ${file} --fault ${fault} --case ${id}` } = options;
  const sightings = new Map<string, Sighting>();
  const usual = new Set([...(baseline.names?.keys() ?? [])].map((name) => name.slice(name.indexOf(" ") + 1)));
  const see = (finding: Finding, report: CaseReport | null): void => {
    const key = JSON.stringify([finding.promise, groupOf(finding, usual), finding.fix]);
    const known = sightings.get(key) ?? { finding, isPlain: report === null, cases: [] };
    sightings.set(key, known);
    if (report && !known.cases.includes(report)) known.cases.push(report);
  };
  for (const finding of findings) see(finding, null);
  for (const { report, verdict } of ends) for (const finding of verdict.findings) see(finding, report);
  return [...sightings.values()].map(({ finding, isPlain, cases }) => {
    const [first] = cases;
    const word = fault === "sigkill" ? "killed" : fault;
    return {
      ...finding,
      cases: cases.length,
      first: isPlain || !first ? "even without a crash" : `${word} ${first.at}`,
      repeat: first ? command(first.id) : "",
    };
  });
}
