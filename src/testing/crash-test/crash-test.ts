import path from "node:path";
import { badOption, checkKeys, checkText, checkWhole, keysOf } from "../../core/check-options.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { derivedNumber } from "../../core/ids.ts";
import { nearest } from "../../core/nearest.ts";
import { builtScript, packageVersion } from "../package-files.ts";
import { type Baseline, baselineOf } from "./baseline.ts";
import { Bench, type SceneEnd, type ScenePlan } from "./bench.ts";
import { buildReport } from "./build-report.ts";
import { type Loader, NOT_LOADED, type SceneFailure, type SceneResult } from "./config.ts";
import type { Finding } from "./findings.ts";
import type { Note } from "./notes.ts";
import type { CrashTestOptions } from "./options.ts";
import { faults, type Place, placesFor, type Selected, select } from "./places.ts";
import type { CaseReport, CrashTestReport } from "./report.ts";
import { howEnded, judgeBaseline } from "./rules.ts";
import { type CaseEnd, type CasePlan, runCase } from "./run-case.ts";

const RUN_ID = "crash-test";
const BASELINE_PATIENCE_MS = 120_000;
const MORE_PATIENCE_MS = 20_000;
/** The recovering process is killed among its first writes, where recovery happens. */
const EARLY_WRITES = 4;

/**
 * Kills a workflow at every durable boundary, one case each: a process is killed there with SIGKILL, a new one recovers
 * and finishes the run, and the effects that a third process witnessed are compared with an undisturbed run.
 *
 * @example
 * ```ts
 * import { crashTest, reportToText } from "holdfast/testing";
 *
 * const report = await crashTest({ file: "./reconcile.ts", input: { batch: "2026-11" }, limit: 20 });
 * console.log(reportToText(report));
 * ```
 */
export async function crashTest(options: CrashTestOptions): Promise<CrashTestReport> {
  check(options);
  const bench = await Bench.open(loaderOf(options), options.store ?? "sqlite");
  try {
    return await Promise.race([testAll(bench, options), aborted(options.signal)]);
  } finally {
    await bench.close();
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(signal?.reason);
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

async function testAll(bench: Bench, options: CrashTestOptions): Promise<CrashTestReport> {
  const started = performance.now();
  const startedAt = new Date().toISOString();
  const common = commonPlan(options);
  const base = await uninterrupted(bench, common, options);
  const selected = choose(placesFor(options.fault ?? "sigkill", base.baseline.result.places), options);
  const ends = await strikeAll(bench, selected, base, options);
  const seconds = (performance.now() - started) / 1000;
  const run = { options, startedAt, seconds, holdfast: packageVersion(), claimMs: common.claimMs };
  return buildReport({ ...run, baseline: base.baseline, findings: base.findings, selected, ends });
}

function check(options: CrashTestOptions): void {
  checkKeys(options, OPTIONS);
  const { fault, limit = 0, lanes = 1, claimMs = 500, file, loader } = options;
  if (loader === undefined) checkText("file", file, 1);
  if (fault !== undefined && !faults.includes(fault))
    throw badOption("fault", `there is no ${String(fault)}; there are ${faults.join(", ")}`);
  checkWhole("limit", limit, 0);
  checkWhole("lanes", lanes);
  checkWhole("claimMs", claimMs, 50);
}

const OPTIONS = keysOf<CrashTestOptions>({
  file: true,
  export: true,
  loader: true,
  input: true,
  store: true,
  at: true,
  fault: true,
  seed: true,
  limit: true,
  case: true,
  twice: true,
  answers: true,
  signals: true,
  lanes: true,
  claimMs: true,
  patienceMs: true,
  command: true,
  onProgress: true,
  signal: true,
});

function loaderOf({ loader, file, export: name }: CrashTestOptions): Loader {
  if (loader) return loader;
  const args = [path.resolve(file), ...(name === undefined ? [] : [name])];
  return { module: builtScript("testing/crash-test/load-module"), args, execArgv: typescriptArgs(file) };
}

/** The flags that Node.js needs to run TypeScript: none from 22.18 on. */
function typescriptArgs(file: string): readonly string[] {
  const isTypescript = /\.[cm]?tsx?$/.test(file);
  const isBuiltIn = Boolean((process.features as { typescript?: unknown }).typescript);
  return isTypescript && !isBuiltIn ? ["--import", "tsx"] : [];
}

function commonPlan(options: CrashTestOptions): CasePlan["common"] {
  return {
    runId: RUN_ID,
    ...("input" in options ? { input: options.input } : {}),
    claimMs: options.claimMs ?? 500,
    answers: options.answers ?? {},
    signals: options.signals ?? {},
  };
}

interface Base {
  readonly baseline: Baseline;
  readonly findings: readonly Finding[];
  readonly patienceMs: number;
}

/** Runs the workflow twice without faults, to see what two runs have in common, and replays its journal once. */
async function uninterrupted(
  bench: Bench,
  common: CasePlan["common"],
  { onProgress, patienceMs }: CrashTestOptions,
): Promise<Base> {
  const plan: ScenePlan = { ...common, mode: "run", fault: "sigkill", strike: null, known: {} };
  let done = 0;
  const tell = () => onProgress?.({ phase: "baseline", done: done++, total: 3, broken: 0 });
  const observe = async (isReplayed: boolean): Promise<Watched> => {
    const stand = await bench.stand();
    try {
      const started = performance.now();
      const result = completed(await stand.run(plan, patienceMs ?? BASELINE_PATIENCE_MS));
      const ms = performance.now() - started;
      const notes = stand.notes();
      tell();
      const end = isReplayed ? await stand.run({ ...plan, mode: "replay" }, MORE_PATIENCE_MS + ms) : null;
      if (isReplayed) tell();
      return { result, notes, ms, replay: end?.result?.replay ?? null };
    } finally {
      await bench.clear(stand);
    }
  };
  tell();
  const [first, second] = await Promise.all([observe(true), observe(false)]);
  const baseline = baselineOf(first, second);
  return {
    baseline,
    findings: judgeBaseline(baseline, first.replay),
    patienceMs: patienceMs ?? MORE_PATIENCE_MS + 3 * Math.max(first.ms, second.ms),
  };
}

interface Watched {
  readonly result: SceneResult;
  readonly notes: readonly Note[];
  readonly ms: number;
  readonly replay: SceneResult["replay"];
}

/** The result of an uninterrupted process; throws the reason if there is none. */
function completed(end: SceneEnd): SceneResult {
  const { result, failure, code, isOverdue, output } = end;
  const stopped = (problem: string, fix: string) => new HoldfastError("HF-4402", { problem, fix });
  if (code === NOT_LOADED && failure) throw notLoaded(failure);
  if (isOverdue) throw stopped("it did not end in time", "Give it less to do, or more time with --patience.");
  if (!result)
    throw stopped(`the process ended, ${howEnded(end)}`, output.trim() || "Run it by itself first.");
  const { status, error, stuck } = result;
  if (stuck?.kind === "signal") {
    const fix = `Say what is sent: --signal '${stuck.names?.[0] ?? "name"}={"json":true}'`;
    throw stopped(`it waits for a signal (${stuck.text}) that nobody sends`, fix);
  }
  if (stuck)
    throw stopped(`it waits for ${stuck.kind} ${stuck.step}`.trim(), stuck.text || "See what it waits for.");
  if (status !== "completed")
    throw stopped(
      `it is ${status}${error === null ? "" : `, ${error}`}`,
      "Give it an --input it completes with.",
    );
  return result;
}

function notLoaded({ code, detail, message }: SceneFailure): HoldfastError {
  if (code !== null) return new HoldfastError(code, detail);
  return new HoldfastError("HF-4400", { file: "The workflow", problem: message });
}

function choose(places: readonly Place[], options: CrashTestOptions): Selected {
  const { case: only, at = "every", seed = 1, limit = 100 } = options;
  if (only === undefined) {
    const selected = select(places, { at, seed, limit });
    if (selected.possible > 0) return selected;
    const steps = [...new Set(places.flatMap((place) => place.steps))];
    const meant = steps.length > 0 ? `; did you mean ${nearest(at, steps)}?` : "";
    throw badOption("at", `no boundary belongs to ${at}${meant}`);
  }
  const place = places.find(({ id }) => id === only);
  if (place) return { places: [place], possible: places.length, text: `only ${only}` };
  const problem = `there is no case ${only}; there are ${places.length}, from ${places[0]?.id} to ${places.at(-1)?.id}`;
  throw badOption("case", problem);
}

async function strikeAll(
  bench: Bench,
  { places }: Selected,
  { baseline, patienceMs }: Base,
  options: CrashTestOptions,
): Promise<readonly CaseEnd[]> {
  const { fault = "sigkill", twice = false, lanes = 2, seed = 1, onProgress } = options;
  const total = places.length;
  const ends: CaseEnd[] = [];
  const common = commonPlan(options);
  const tell = (last?: CaseReport) => {
    const broken = ends.filter(({ report }) => report.outcome === "broken").length;
    onProgress?.({ phase: "cases", done: ends.length, total, broken, ...defined({ last }) });
  };
  tell();
  const waiting = [...places];
  const lane = async (): Promise<void> => {
    for (let place = waiting.shift(); place; place = waiting.shift()) {
      const again = twice && fault === "sigkill" ? secondStrike(seed, place) : null;
      const end = await runCase(bench, { place, fault, again, common, baseline, patienceMs });
      ends.push(end);
      tell(end.report);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, total) }, lane));
  const order = new Map(places.map(({ id }, index) => [id, index]));
  return ends.sort((a, b) => (order.get(a.report.id) ?? 0) - (order.get(b.report.id) ?? 0));
}

/** Derived from the seed and the case, so that a single case behaves as it did among many. */
function secondStrike(seed: number, { id }: Place): CasePlan["again"] {
  const write = 1 + Math.floor(derivedNumber(`${seed} ${id} write`) * EARLY_WRITES);
  return { write, side: derivedNumber(`${seed} ${id} side`) < 0.5 ? "before" : "after" };
}
