import type { StepOptions, Verdict } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { fingerprint } from "../hash.ts";
import { argsDigest, Handle, type StepPlace } from "./call.ts";
import type { Execution } from "./execution.ts";
import type { StepRecord } from "./replay.ts";

/** Unknown outcomes: the intent is there and the outcome is not. The effect class decides; nothing is guessed. */
const DAY_MS = 86_400_000;
/** A key may be forgotten a little before its declared time. */
const WINDOW_MARGIN = 0.9;

/**
 * `call`: it may be called (again). `decided`: it was in doubt, and somebody has said what happened. Else the value that
 * the verify hook found.
 */
export type Settlement<T> = "call" | "decided" | { readonly value: T };

export async function settleUnknown<T>(
  execution: Execution,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<Settlement<T>> {
  if (record.effect === "repeatable") return "call";
  if (!isOwnKey(execution, place.key, record)) {
    await enterDoubt(execution, place, record);
    return "decided";
  }
  if (record.effect === "keyed" && keyHolds(execution, options, record)) {
    if (record.args === argsDigest(execution, options)) return "call";
    const reason = new HoldfastError("HF-2104", { step: place.key, digest: record.args ?? "none" });
    await enterDoubt(execution, place, record, reason);
    return "decided";
  }
  const verdict = await askVerify(execution, place, options, record);
  if (verdict.status === "done") return { value: verdict.value };
  if (verdict.status === "not-done") return "call";
  await enterDoubt(execution, place, record);
  return "decided";
}

/**
 * Whether the step was begun under the key that this store gives it. A run that comes from another store began it under a key that
 * nobody here can make again: the receiver would not know the next call for the same one, and a hook that looks for the key would
 * not find what was done.
 */
export function isOwnKey(execution: Execution, step: string, { key, call }: StepRecord): boolean {
  return key === undefined || key === fingerprint(execution.idempotencyKey(step, call));
}

function keyHolds<T>(execution: Execution, options: StepOptions<T>, record: StepRecord): boolean {
  const age = execution.deps.time.now() - record.since;
  return age < (options.keyWindowMs ?? DAY_MS) * WINDOW_MARGIN;
}

async function askVerify<T>(
  execution: Execution,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<Verdict<T>> {
  if (!options.verify) return { status: "unknown" };
  const { effect, attempt, call } = record;
  const handle = new Handle(execution, place, options, { type: "call", effect, attempt, call });
  execution.calls.start();
  try {
    return await options.verify(handle);
  } catch (error) {
    const problem = new HoldfastError("HF-2111", { verb: "verify", step: place.key, message: String(error) });
    execution.deps.ports.logger.error(problem.message, { runId: execution.runId, code: problem.code });
    return { status: "unknown" };
  } finally {
    execution.callEnded(handle.frame);
  }
}

/** Says that the outcome is unknown, and waits until it is known. */
export async function enterDoubt(
  execution: Execution,
  place: StepPlace,
  record: StepRecord,
  reason = new HoldfastError("HF-2103", { step: place.key, attempt: record.attempt }),
): Promise<void> {
  const { settings, time, values } = execution.deps;
  const rerunAfter = time.now() + settings.claimMs + (record.timeoutMs ?? settings.assumedStepMs);
  const { data, blobs } = values.encode(place.key, reason);
  const meta = { attempt: record.attempt, rerunAfter };
  await execution.contest({ kind: "step_in_doubt", step: place.key, meta, data }, blobs);
  await awaitDecision(execution, place);
}

/** Parked until a person, or the late outcome itself, says what happened. */
export async function awaitDecision(execution: Execution, { key, scope }: StepPlace): Promise<void> {
  for (;;) {
    const record = execution.state.find(key);
    if (record?.status !== "in_doubt") return;
    const detail = new HoldfastError("HF-2103", { step: key, attempt: record.attempt }).message;
    const since = execution.deps.time.now();
    await execution.wait(key, { kind: "decision", step: key, since, detail }, scope.frame);
  }
}
