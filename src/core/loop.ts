import type { StepPlace } from "./call.ts";
import type { LoopDone, LoopOptions, LoopResult, LoopTurn } from "./context.ts";
import { HoldfastError } from "./errors.ts";
import type { Execution } from "./execution.ts";
import { applyPatches, openDraft, type StatePatch } from "./patch.ts";
import type { LoopRecord } from "./replay.ts";
import { innerScope } from "./scope.ts";

/** What an iteration writes: the state in full the first time, afterwards only what changed. */
type Advance = { readonly state: object } | { readonly patches: readonly StatePatch[] };

const DONE = Symbol("done");

export async function loop<S extends object>(
  execution: Execution,
  place: StepPlace,
  initial: S,
  body: (state: S, turn: LoopTurn) => LoopResult | Promise<LoopResult>,
  options: LoopOptions,
): Promise<S> {
  await execution.enter();
  const record = execution.state.loop(place.key);
  let state = await execution.busy(restoreState(execution, place, record, initial));
  if (record.iteration > 0) execution.memory.replayUntil(record.seq);
  while (!record.done) {
    const index = record.iteration;
    if (options.maxIterations !== undefined && index >= options.maxIterations) {
      throw new HoldfastError("HF-2112", { step: place.key, limit: options.maxIterations });
    }
    const before = execution.intents;
    const turn: LoopTurn = { index, done: () => DONE as unknown as LoopDone };
    const scope = innerScope(place.scope, `${place.name}[${index}]`, { shared: true });
    const { draft, finish } = openDraft(state);
    const result = await execution.within(scope, async () => body(draft, turn));
    await execution.enter();
    const { next, patches } = finish();
    const done = (result as unknown) === DONE;
    const written = advance(execution, place, record, index === 0 ? { state: next } : { patches }, done);
    state = next;
    record.state = { value: next };
    // An iteration without a step of its own has nothing to travel with: it is saved before the next begins.
    if (execution.intents === before || done) await written;
  }
  return state;
}

async function advance(
  execution: Execution,
  place: StepPlace,
  record: LoopRecord,
  change: Advance,
  done: boolean,
): Promise<void> {
  const iteration = record.iteration;
  const { data, blobs } = execution.deps.values.encode(place.key, change, true);
  record.iteration = iteration + 1;
  record.done = done;
  const meta = { iteration, ...(done ? { done } : {}) };
  await new Promise<void>((resolve) => {
    execution.record({ kind: "loop_advanced", step: place.key, meta, data }, blobs, () => resolve());
  });
}

/** The state after the last finished iteration: the newest full one and the patches since. */
async function restoreState<S extends object>(
  execution: Execution,
  place: StepPlace,
  record: LoopRecord,
  initial: S,
): Promise<S> {
  const { values } = execution.deps;
  let state = (record.state?.value as S | undefined) ?? (values.echo(values.encode(place.key, initial)) as S);
  for (const raw of record.changes.splice(0)) {
    const change = (await values.decode(execution.runId, raw)) as Advance;
    state = "state" in change ? (change.state as S) : applyPatches(state, change.patches);
  }
  record.state = { value: state };
  record.live = true;
  return state;
}
