import type { RunRow } from "../../core/types.ts";
import type { Violation } from "../witness/log.ts";
import { type Baseline, differences, read, strayedFrom } from "./baseline.ts";
import type { SceneEnd } from "./bench.ts";
import type { SceneResult, Stuck } from "./config.ts";
import { type EffectNote, effectName, perKind, type Tally, tally, timesSeen } from "./effects.ts";
import { type Finding, ofViolation, other, twice } from "./findings.ts";
import { callKey, countBy, isBegun, type Note } from "./notes.ts";
import type { CrashFault } from "./places.ts";

/** Everything known about a finished case. */
export interface Facts {
  readonly fault: CrashFault;
  /** How the last process ended. */
  readonly end: SceneEnd;
  readonly notes: readonly Note[];
  readonly violations: readonly Violation[];
  /** How often each run was taken over from a dead process. */
  readonly takeovers: ReadonlyMap<RunRow["id"], number>;
  readonly patienceMs: number;
}

export interface Verdict {
  readonly findings: readonly Finding[];
  /** Steps that had to be called again. */
  readonly stepsLost: number;
  readonly duplicates: number;
  readonly deduplicated: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Compares a case with the workflow's behaviour without a crash. */
export function judge(baseline: Baseline, facts: Facts): Verdict {
  const { end, notes, violations } = facts;
  const effects = tally(notes);
  const repeated = duplicates(baseline, effects.list);
  const { result } = end;
  // A run that was left in the middle is reported as such.
  const isAtRest = result !== null && result.stuck === null;
  const findings = [
    ...repeated.map((one) => explainDuplicate(one, facts)),
    ...(result && isComparable(facts, result) ? nameFindings(baseline, notes) : []),
    ...(result && isComparable(facts, result) ? countFindings(baseline, effects) : []),
    ...callFindings(baseline, facts),
    ...doubtFindings(result),
    ...endFindings(baseline, facts),
    ...violations.filter(({ invariant }) => isAtRest || invariant !== "I10").map(ofViolation),
  ];
  return {
    findings: distinct(findings),
    stepsLost: lostSteps(baseline, notes),
    duplicates: repeated.reduce((sum, { extra }) => sum + extra, 0),
    deduplicated: effects.deduplicated.length,
    counts: perKind(effects.list),
  };
}

/** True when the run took the same path: after an error that its code saw, it may have taken another. */
const isComparable = ({ fault }: Facts, { status, undone }: SceneResult): boolean =>
  fault !== "throw" && status === "completed" && !undone;

interface Duplicate {
  readonly note: EffectNote;
  readonly times: number;
  readonly extra: number;
}

function duplicates({ seen }: Baseline, list: readonly EffectNote[]): Duplicate[] {
  return [...timesSeen(list)].flatMap(([name, notes]) => {
    const usual = Math.max(1, seen?.get(name) ?? 1);
    const note = notes.at(-1);
    return note && notes.length > usual ? [{ note, times: notes.length, extra: notes.length - usual }] : [];
  });
}

/** Findings about steps that an uninterrupted run doesn't have, and about missing ones. */
function nameFindings({ names, steady }: Baseline, notes: readonly Note[]): Finding[] {
  const strayed = names && names.size > 0 ? strayedFrom(names, notes, steady) : null;
  if (!names || !strayed) return [];
  const { more, fewer } = strayed;
  // A call with an effect may have been settled by its hook, without a second call.
  const isSettled = more.length === 0 && fewer.every((key) => names.get(key) !== "repeatable");
  if (isSettled) return fewer.map((key) => other.uncalled(stepOf(key)));
  return [other.strayed(more.map(stepOf), fewer.map(stepOf), "After the crash")];
}

const stepOf = (key: string): string => key.slice(key.indexOf(" ") + 1);

/**
 * True when a `once` step was called again without a person's decision because its hook had said that it wasn't done.
 */
function isVerified({ notes, end }: Facts, { runId, step }: EffectNote): boolean {
  const calls = notes.filter((note) => isBegun(note) && note.runId === runId && note.step === step);
  const isOrdered = end.result?.settled.some((one) => one.step === step && one.as === "rerun") ?? false;
  return calls.length > 1 && !isOrdered;
}

function explainDuplicate({ note, times }: Duplicate, facts: Facts): Finding {
  const name = effectName(note);
  const { step, effect } = note;
  if (step === undefined || effect === undefined) return twice.undeclared(name, times);
  if (effect === "once" && step !== "" && isVerified(facts, note)) return twice.verified(step, name, times);
  return step === "" ? twice.outside(name) : twice[effect](step, name, times);
}

/** Findings about additional or missing effects, if runs agree on them. */
function countFindings({ seen, kinds }: Baseline, { list }: Tally): Finding[] {
  const counts = perKind(list);
  return [...new Set([...Object.keys(kinds ?? {}), ...Object.keys(counts)])].flatMap((kind) => {
    const more = (counts[kind] ?? 0) - (kinds?.[kind] ?? 0);
    if (!kinds || more === 0) return [];
    if (more < 0) {
      const missing = [...(seen ?? new Map<string, number>()).keys()].filter(
        (name) => name.startsWith(`${kind} `) && !list.some((note) => effectName(note) === name),
      );
      return [other.lost(kind, -more, missing.length > 0 ? `: ${missing.join(", ")}` : "")];
    }
    const last = list.findLast((note) => note.kind === kind && !seen?.has(effectName(note)));
    return last ? [other.extra(kind, more, effectName(last), last.step ? last.step : null)] : [];
  });
}

/** Calls beyond those of an uninterrupted run, by run and step. Steps that contain other steps are left out. */
function extraCalls({ calls, containers }: Baseline, notes: readonly Note[]): Map<string, number> {
  const made = [...countBy(notes.filter(isBegun), callKey)];
  return new Map(
    made.flatMap(([key, count]) => {
      const extra = count - (calls?.get(key) ?? count);
      return extra > 0 && !containers.has(key) ? [[key, extra] as const] : [];
    }),
  );
}

const lostSteps = (baseline: Baseline, notes: readonly Note[]): number =>
  [...extraCalls(baseline, notes).values()].reduce((sum, extra) => sum + extra, 0);

function callFindings(baseline: Baseline, { notes, takeovers, fault }: Facts): Finding[] {
  const effectOf = new Map(notes.filter(isBegun).map((note) => [callKey(note), note]));
  return [...extraCalls(baseline, notes)].flatMap(([key, extra]) => {
    const note = effectOf.get(key);
    if (note?.effect !== "repeatable") return [];
    const crashes = takeovers.get(note.runId) ?? 0;
    if (extra <= crashes + (fault === "throw" ? 1 : 0)) return [];
    const usual = baseline.calls?.get(key) ?? 0;
    return [other.calls(note.step, usual + extra, usual, crashes)];
  });
}

/** A keyed step needs no decision as long as its arguments are the same. */
const doubtFindings = (result: SceneResult | null): Finding[] =>
  (result?.settled ?? []).flatMap(({ step, effect }) => (effect === "keyed" ? [other.arguments(step)] : []));

function endFindings(baseline: Baseline, facts: Facts): Finding[] {
  const { end, patienceMs } = facts;
  const { result } = end;
  if (end.isOverdue) return [other.overdue(Math.round(patienceMs / 1000))];
  if (!result) return [other.died(howEnded(end))];
  if (result.stuck) return [stuckFinding(result.stuck)];
  if (result.undone) return [];
  const wanted = baseline.result.status;
  if (result.status !== wanted) return [other.status(result.status, wanted, result.error)];
  if (!isComparable(facts, result)) return [];
  const differing = differences(read(baseline.result.value), read(result.value), new Set(baseline.differing));
  return differing.length > 0 ? [other.output(differing)] : [];
}

const stuckFinding = ({ kind, step, text }: Stuck): Finding =>
  kind === "workflow" ? other.unknown(text) : other.stuck(kind, step, text);

/** Describes how a process without a result ended. */
export function howEnded({ code, signal, failure, output }: SceneEnd): string {
  if (failure) return failure.message;
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  return `${signal ?? `exit ${code}`}${last === "" ? "" : `, ${last}`}`;
}

/** Problems that an uninterrupted run shows: effects between steps, and steps that its own replay doesn't find. */
export function judgeBaseline(baseline: Baseline, replay: SceneResult["replay"]): Finding[] {
  const outside = baseline.effects.filter(({ step }) => step === "").map(effectName);
  const { strayed } = baseline;
  const names = replay && (replay.asked.length > 0 || replay.notAsked.length > 0);
  return [
    ...[...new Set(outside)].map((name) => twice.outside(name)),
    ...(names ? [other.names(replay.asked, replay.notAsked)] : []),
    ...(strayed && !names
      ? [other.strayed(strayed.more.map(stepOf), strayed.fewer.map(stepOf), "Run a second time")]
      : []),
  ];
}

function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [finding.message, finding])).values()];
}
