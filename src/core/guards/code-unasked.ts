import { HoldfastError } from "../errors.ts";
import { isUnfinished, type ScopeNode, type StepRecord } from "../journal/records.ts";
import { isApproval, prefixOf, UNDO } from "../keys.ts";
import { listed } from "../listed.ts";
import type { Asking, GuardedPlace, GuardedRun } from "./port.ts";

/** The maximum number of names in the journal. */
const MOST_NAMED = 100;

/** From here on, checks that the code of a resumed run asks for everything it has done. */
export function watchAsking(execution: GuardedRun): void {
  if (execution.restored) execution.asking = { since: execution.writer.row.seq, met: new WeakSet() };
}

/** Called when the code reaches this name. */
export function met(execution: GuardedRun, { node }: GuardedPlace["scope"], name: string): void {
  const recorded = node?.records.get(name) ?? node?.loops.get(name);
  if (recorded) execution.asking?.met.add(recorded);
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
  const { code, message } = new HoldfastError("HF-2292", { steps: listed(left) });
  deps.ports.logger.warn(message, { runId, code });
  return left.slice(0, MOST_NAMED);
}

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
