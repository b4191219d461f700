import { badOption, checkKeys, checkNumber, checkWhole, keysOf } from "../check-options.ts";
import type { Clock } from "../clock.ts";
import type { Worker } from "../worker/worker.ts";
import type { EngineOptions } from "./options.ts";

/**
 * How long `engine.advance` works, and on how much: for a function that lives for seconds, on an engine with
 * `execute: false`.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const hello = workflow("hello", async (ctx, name: string) => ctx.step("greet", () => `Hello ${name}`));
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [hello], execute: false });
 *
 * export async function GET(): Promise<Response> {
 *   return Response.json(await engine.advance({ deadlineMs: 50_000 }));
 * }
 * ```
 */
export interface AdvanceOptions {
  /** What isn't finished by then is handed over; a tenth of the time, at most 5 s, is kept for that. Default 50 s. */
  readonly deadlineMs?: number;
  /** The number of runs that are advanced at once. Default 100. */
  readonly limit?: number;
}

/** What one call of `engine.advance` has done. */
export interface Advanced {
  /** The runs that were taken up. */
  readonly runs: readonly string[];
  /** Those of them that weren't at rest in time. Another call, anywhere, continues them. */
  readonly handedOver: readonly string[];
  /** False when nothing else was due. */
  readonly more: boolean;
}

const HAND_OVER = 0.1;
const MOST_HAND_OVER_MS = 5_000;

function advanceOptions(options: AdvanceOptions, { execute }: EngineOptions): Required<AdvanceOptions> {
  checkKeys(options, keysOf<AdvanceOptions>({ deadlineMs: true, limit: true }));
  if (execute !== false)
    throw badOption("execute", "it must be false for an engine that is advanced by hand");
  const deadlineMs = checkNumber("deadlineMs", options.deadlineMs ?? 50_000, { least: 100 });
  return { deadlineMs, limit: checkWhole("limit", options.limit ?? 100) };
}

/**
 * Takes up what is due until nothing is, or the time is over. Then calls in progress get the rest of the time to finish,
 * and the runs are released.
 */
export async function advance(
  clock: Clock,
  options: AdvanceOptions,
  engine: EngineOptions,
  open: (more: Pick<EngineOptions, "concurrency">) => Promise<Worker>,
): Promise<Advanced> {
  const { deadlineMs, limit } = advanceOptions(options, engine);
  const worker = await open({ concurrency: limit });
  const began = clock.monotonic();
  const handOverMs = Math.min(deadlineMs * HAND_OVER, MOST_HAND_OVER_MS);
  const left = (): number => deadlineMs - handOverMs - (clock.monotonic() - began);
  const runs = new Set<string>();
  let more = true;
  while (more && left() > 0) {
    const taken = await worker.sweep();
    for (const id of taken) runs.add(id);
    const open = worker.running.map(({ ended }) => ended);
    if (open.length > 0) await within(clock, left(), Promise.race(open));
    else more = taken.length > 0;
  }
  const handedOver = worker.running.map(({ runId }) => runId);
  await worker.stop(handOverMs);
  return { runs: [...runs], handedOver, more };
}

function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(resolve, Math.max(0, ms));
    const finish = (): void => {
      cancel();
      resolve();
    };
    work.then(finish, finish);
  });
}
