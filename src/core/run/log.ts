import type { Asking } from "../guards/port.ts";
import type { LoopRecord, ScopeNode, StepRecord } from "../journal/records.ts";
import { type LogLevel, toLevels } from "../log-line.ts";
import type { Logger } from "../logger.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Scope } from "./scope.ts";

/** `ctx.log`: lines with the ids of their run and step, which a replay doesn't write again. */
export const runLog = (execution: ActiveRun): Logger =>
  toLevels((level, message, fields) => write(execution, level, message, fields));

function write(execution: ActiveRun, level: LogLevel, message: unknown, fields: unknown): void {
  const { deps, runId, workflow, asking } = execution;
  const scope = execution.scope();
  if (!deps.logs || (asking && isRepeating(asking, scope))) return;
  const { frame } = scope;
  const place = { runId, workflow: workflow.name, step: frame?.key, attempt: frame?.attempt };
  deps.logs.write(place, level, message, fields);
}

/** The first record of a scope that its code hasn't asked for again, and those after it. */
interface Ahead {
  readonly rest: Iterator<StepRecord | LoopRecord>;
  next: StepRecord | LoopRecord | undefined;
}

const positions = new WeakMap<Asking, WeakMap<ScopeNode, Ahead>>();

/**
 * True while the code of a scope repeats what it did before: something is recorded there that it hasn't asked for again,
 * and it has asked for nothing new. A line after the last recorded step is written again after a crash, like the code
 * around it is run again.
 */
function isRepeating(asking: Asking, { node, counts }: Scope): boolean {
  if (!node || asking.ahead.has(counts)) return false;
  const known = positions.get(asking) ?? new WeakMap<ScopeNode, Ahead>();
  positions.set(asking, known);
  const ahead = known.get(node) ?? { rest: recordsOf(node), next: undefined };
  known.set(node, ahead);
  ahead.next ??= ahead.rest.next().value as Ahead["next"];
  while (ahead.next && (ahead.next.seq > asking.since || asking.met.has(ahead.next)))
    ahead.next = ahead.rest.next().value as Ahead["next"];
  return ahead.next !== undefined;
}

function* recordsOf({ records, loops }: ScopeNode): Generator<StepRecord | LoopRecord, undefined> {
  yield* records.values();
  yield* loops.values();
}
