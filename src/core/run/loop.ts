import type { LoopDone, LoopOptions, LoopResult, LoopTurn } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { beginTurn } from "../guards/budget.ts";
import { inspectLoop } from "../guards/inspector.ts";
import type { EventDraft } from "../journal/events.ts";
import type { LoopRecord } from "../journal/records.ts";
import { type Advance, loopState } from "../journal/state-view.ts";
import { memberName } from "../keys.ts";
import { checkEvery } from "../options.ts";
import { openDraft, type StatePatch } from "../values/patch.ts";
import type { ActiveRun } from "./active-run.ts";
import { untilDone } from "./asked.ts";
import type { StepPlace } from "./call.ts";
import { isDue } from "./every.ts";
import { innerScope } from "./scope.ts";
import { markPhase } from "./triggers.ts";

const DONE = Symbol("done");

export async function loop<S extends object>(
  execution: ActiveRun,
  place: StepPlace,
  initial: S,
  body: (state: S, turn: LoopTurn) => LoopResult | Promise<LoopResult>,
  options: LoopOptions,
): Promise<S> {
  await execution.enter();
  const record = execution.state.loop(place.key);
  const isRestored = !record.live && record.iteration > 0;
  let state: S = await execution.busy(restoreState(execution, place, record, initial));
  if (isRestored) state = (await inspectLoop(execution, place.key, record, state)) as S;
  if (record.iteration > 0) execution.memory.replayUntil(record.seq);
  const unwritten = new Unwritten(execution, place, record);
  const every = checkEvery(
    options.every ?? execution.workflow.checkpoint?.every ?? execution.deps.settings.every,
  );
  for (let index = record.iteration; !record.done; index++) {
    if (options.maxIterations !== undefined && index >= options.maxIterations) {
      unwritten.endTurns();
      throw new HoldfastError("HF-2112", { step: place.key, limit: options.maxIterations });
    }
    unwritten.begin(await beginTurn(execution, place, index));
    const turn: LoopTurn = { index, done: () => DONE as unknown as LoopDone };
    const scope = innerScope(place.scope, memberName(place.name, index), { shared: true });
    const { draft, finish } = openDraft(state);
    const result = await execution
      .within(scope, async () => {
        const answer = await body(draft, turn);
        await untilDone(execution, scope);
        return answer;
      })
      .catch((error: unknown) => {
        unwritten.endTurns();
        throw error;
      });
    await execution.enter();
    const { next, patches } = finish();
    const done = (result as unknown) === DONE;
    state = patches.length === 0 ? next : execution.deps.values.redacted(place.key, next);
    unwritten.add(patches);
    const since = { count: unwritten.count, ms: unwritten.ms, node: scope.node };
    if (done || isDue(every, since)) await unwritten.write(state, done);
  }
  return state;
}

/** Finished iterations that aren't written yet. The loop's record matches the journal, and so do snapshots. */
class Unwritten {
  count = 0;
  readonly #execution: ActiveRun;
  readonly #place: StepPlace;
  readonly #record: LoopRecord;
  #patches: StatePatch[] = [];
  #turns: (() => void)[] = [];
  /** The number of intents at the last advance. */
  #intents: number;
  #savedAt: number;

  constructor(execution: ActiveRun, place: StepPlace, record: LoopRecord) {
    this.#execution = execution;
    this.#place = place;
    this.#record = record;
    this.#intents = execution.intents;
    this.#savedAt = this.#now;
  }

  get #now(): number {
    return this.#execution.deps.ports.clock.monotonic();
  }

  /** Milliseconds since the last advance, or since this process took up the loop. */
  get ms(): number {
    return this.#now - this.#savedAt;
  }

  /** `endTurn` is called when the journal counts the iteration, or when it leads nowhere. */
  begin(endTurn: () => void): void {
    this.#turns.push(endTurn);
  }

  endTurns(): void {
    for (const endTurn of this.#turns.splice(0)) endTurn();
  }

  add(patches: readonly StatePatch[]): void {
    this.count++;
    for (const patch of patches) this.#patches.push(patch);
  }

  /** Writes all of them, and waits only if nothing else will be written soon. */
  async write(state: object, done: boolean): Promise<void> {
    const [execution, record, { count }] = [this.#execution, this.#record, this];
    const change: Advance = record.iteration === 0 ? { state } : { patches: this.#patches };
    const { data, blobs } = execution.deps.values.encode(this.#place.key, change, true);
    const iteration = record.iteration + count - 1;
    const meta = { iteration, ...(count > 1 ? { count } : {}), ...(done ? { done } : {}) };
    const event: EventDraft = { kind: "loop_advanced", step: this.#place.key, meta, data };
    this.endTurns();
    Object.assign(record, { iteration: iteration + 1, done, state: { value: state } });
    // Iterations without their own step have nothing to be written with: they are saved before the next begins.
    const isAlone = execution.intents === this.#intents;
    [this.count, this.#patches, this.#intents, this.#savedAt] = [0, [], execution.intents, this.#now];
    const saved = new Promise<void>((resolve) => {
      execution.writer.record({ event, blobs, onDurable: () => resolve(), onAhead: resolve });
      if (done) markPhase(execution, this.#place.key);
    });
    if (isAlone || done) await saved;
  }
}

async function restoreState<S extends object>(
  execution: ActiveRun,
  place: StepPlace,
  record: LoopRecord,
  initial: S,
): Promise<S> {
  const { values } = execution.deps;
  const first = (): object => values.echo(values.encode(place.key, initial)) as S;
  const state = (await loopState(values, execution.runId, record, first)) as S;
  record.changes.length = 0;
  record.state = { value: state };
  record.live = true;
  return state;
}
