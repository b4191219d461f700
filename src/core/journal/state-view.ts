import { onDemand } from "../on-demand.ts";
import type { StateView } from "../types.ts";
import { dataDigest } from "../values/codec.ts";
import type { StatePatch } from "../values/patch.ts";
import type { Raw } from "./events.ts";
import type { Recorded } from "./facts.ts";
import type { LoopRecord, Signal, StepRecord } from "./records.ts";
import type { RunState } from "./state.ts";
import { blobsIn, type Values } from "./values.ts";

export const patching = onDemand(() => import("../values/patch.ts"));

export async function viewState(values: Values, runId: string, state: RunState): Promise<StateView> {
  const steps: [string, unknown][] = [];
  for (const [key, recorded] of recordedSteps(state)) steps.push([key, await values.of(runId, recorded)]);
  const { config } = state.facts;
  return {
    input: await values.decode(runId, state.input),
    config: (config ? await values.of(runId, config) : {}) as StateView["config"],
    memory: await viewMemory(values, runId, state),
    loops: await viewLoops(values, runId, state),
    steps: Object.fromEntries(steps),
  };
}

/**
 * Reads the same in fewer requests, of a state that a worker goes on with: its loops keep what was decoded, and the input's
 * text stays read ahead until the worker decodes it.
 */
export async function viewToContinue(values: Values, runId: string, state: RunState): Promise<StateView> {
  const raws = [state.input, ...[...state.loops()].flatMap(([, { changes }]) => changes)];
  const hashes = raws.flatMap((raw) =>
    raw === undefined ? [] : typeof raw === "string" ? blobsIn(raw) : raw.blob,
  );
  await values.fetchAhead(runId, hashes);
  for (const [, loop] of state.loops())
    if (loop.iteration > 0 && loop.changes.length > 0) {
      const value = await loopState(values, runId, loop);
      if (value !== undefined) Object.assign(loop, { state: { value }, changes: [] });
    }
  return viewState(values, runId, state);
}

/** Where the values of completed steps are. */
export function* recordedSteps(state: RunState): Generator<readonly [string, Recorded]> {
  const signals = new Map(state.signals.map((signal) => [signal.seq, signal]));
  for (const [key, record] of state.steps())
    if (record.status === "completed") yield [key, answeredBy(record, signals)];
}

/** The last write of each name. */
export function lastMemory(state: RunState): ReadonlyMap<string, Raw | undefined> {
  const last = new Map<string, Raw | undefined>();
  for (const { name, data } of state.memory) last.set(name, data);
  return last;
}

async function viewMemory(values: Values, runId: string, state: RunState): Promise<Record<string, unknown>> {
  const last = lastMemory(state);
  const memory: [string, unknown][] = [];
  for (const [name, data] of last)
    if (data !== undefined) memory.push([name, await values.decode(runId, data)]);
  return Object.fromEntries(memory);
}

export async function viewLoops(
  values: Values,
  runId: string,
  state: RunState,
): Promise<Record<string, unknown>> {
  const loops: [string, unknown][] = [];
  for (const [key, loop] of state.loops())
    if (loop.iteration > 0) loops.push([key, await loopState(values, runId, loop)]);
  return Object.fromEntries(loops);
}

/**
 * The digest of a state: equal for equal data, regardless of run and time. Calls in progress are left out, because in a
 * fork they haven't begun.
 */
export function stateDigest(view: StateView, state: RunState): string {
  const settled = [...state.steps()].filter(
    ([, { status, retryAt }]) => status === "completed" || (status === "failed" && retryAt === undefined),
  );
  const begun = [...state.loops()].filter(([, { iteration }]) => iteration > 0);
  return dataDigest({
    input: dataDigest(view.input),
    config: digests(view.config),
    memory: digests(view.memory),
    loops: digests(view.loops),
    steps: digests(view.steps),
    settled: inOrder(settled.map(([key, { status }]) => [key, status])),
    iterations: inOrder(begun.map(([key, { iteration, done }]) => [key, `${iteration}${done ? "." : ""}`])),
  });
}

/** One by one: together they may be nested deeper than one value may be. */
const digests = (values: Readonly<Record<string, unknown>>): [string, string][] =>
  inOrder(Object.entries(values).map(([key, value]) => [key, dataDigest(value)]));

const inOrder = (pairs: [string, string][]): [string, string][] => pairs.sort(([a], [b]) => (a < b ? -1 : 1));

/** A signal's own value answers its wait, unless it was edited. */
const answeredBy = (record: StepRecord, signals: ReadonlyMap<number, Signal>): Signal | StepRecord =>
  (record.decidedAt === undefined ? signals.get(record.took ?? 0) : undefined) ?? record;

/** The changes of an iteration: the complete state the first time, then only differences. */
export type Advance = { readonly state: object } | { readonly patches: readonly StatePatch[] };

/**
 * The state after the last finished iteration: the newest complete one and the changes since. `initial` is asked for
 * only where none is complete.
 */
export async function loopState(
  values: Values,
  runId: string,
  { state, changes }: Pick<LoopRecord, "state" | "changes">,
  initial?: () => object,
): Promise<object | undefined> {
  const { PatchedState } = await patching();
  const known = state?.value as object | undefined;
  let current = known && new PatchedState(known);
  for await (const decoded of values.decodeEach(runId, changes)) {
    const change = decoded as Advance;
    if ("state" in change) current = new PatchedState(change.state);
    else (current ??= new PatchedState((initial as () => object)())).take(change.patches);
  }
  return current ? current.state : initial?.();
}
