import { HoldfastError } from "../errors.ts";
import { isUnfinished, type ScopeNode, type StepRecord } from "../journal/records.ts";
import { isApproval, prefixOf, UNDO } from "../keys.ts";
import { listed } from "../listed.ts";
import type { Asking, GuardedPlace, GuardedRun } from "./port.ts";

/** The maximum number of names in the journal. */
const MOST_NAMED = 100;

/** From here on, checks that the code of a resumed run asks for everything it has done. */
export function watchAsking(execution: GuardedRun): void {
  if (execution.restored)
    execution.asking = {
      since: execution.writer.row.seq,
      met: new WeakSet(),
      fresh: [],
      ahead: new WeakSet(),
    };
}

/** Called when the code reaches this name. */
export function met({ asking }: GuardedRun, scope: GuardedPlace["scope"], name: string): void {
  if (!asking) return;
  const { node, prefix, counts } = scope;
  const recorded = node?.records.get(name) ?? node?.loops.get(name);
  if (recorded) return void asking.met.add(recorded);
  asking.ahead.add(counts);
  if (asking.fresh.length < MOST_NAMED) asking.fresh.push(prefix + name);
}

/**
 * Finished work that the code never asked for. It doesn't happen again under its own name, but the code did something
 * else instead: its names vary, or it was changed. This is recorded and blocks nothing: effects that could happen twice
 * were held back before (HF-2121).
 */
export function unasked(execution: GuardedRun): readonly string[] {
  const { rootScope, deps, runId, asking } = execution;
  const left = asking && rootScope.node ? [...notMet(asking, rootScope.node)] : [];
  if (left.length === 0) return left;
  const others = warnOfNames(execution, left);
  if (others.length > 0) {
    const { code, message } = new HoldfastError("HF-2292", { steps: listed(others) });
    deps.ports.logger.warn(message, { runId, code });
  }
  return left.slice(0, MOST_NAMED);
}

/** Called when the run fails: its names may be why it never gets further. */
export function warnOfVaried(execution: GuardedRun): void {
  const { rootScope, asking } = execution;
  if (asking && rootScope.node) warnOfNames(execution, [...notMet(asking, rootScope.node)]);
}

/** Says which recorded names the code has replaced by new ones of the same form. Returns the others. */
function warnOfNames({ deps, runId, asking }: GuardedRun, left: readonly string[]): readonly string[] {
  const fresh = new Map((asking?.fresh ?? []).map((key) => [formOf(key), key]));
  const replaced = left.filter((key) => formOf(key) !== key && fresh.has(formOf(key)));
  if (replaced.length === 0) return left;
  const pairs = replaced.map((key) => `${key} is now ${fresh.get(formOf(key))}`);
  const { code, message } = new HoldfastError("HF-2125", { pairs: listed(pairs) });
  deps.ports.logger.warn(message, { runId, code });
  return left.filter((key) => !replaced.includes(key));
}

/** A name without what a clock, a generator of random numbers or a counter puts into it; places and counts stay. */
const formOf = (key: string): string =>
  key.replace(/\[[^\]]*\]|#\d+|[0-9a-f]{8,}|\d+/gi, (part) => (/^[[#]/.test(part) ? part : "…"));

function* notMet(asking: Asking, node: ScopeNode, prefix = ""): Generator<string> {
  const isMissing = (recorded: LeftBehind): boolean =>
    recorded.seq <= asking.since && !asking.met.has(recorded);
  for (const [name, loop] of node.loops) if (loop.iteration > 0 && isMissing(loop)) yield prefix + name;
  for (const [name, record] of node.records)
    if (isDone(record) && isMissing(record) && !isApproval(name)) yield prefix + name;
  for (const [name, scope] of node.scopes) {
    const record = node.records.get(name);
    // The inside of a finished step isn't run again.
    if ((record && !isUnfinished(record)) || prefix + name === UNDO) continue;
    yield* notMet(asking, scope, prefix + prefixOf(name));
  }
}

interface LeftBehind {
  readonly seq: number;
}

/** Excludes what a person has set, and what they said need not be asked for. */
const isDone = ({ status, waived, decidedAt }: StepRecord): boolean =>
  status === "completed" && !waived && decidedAt === undefined;
