import { HoldfastError } from "../../core/errors.ts";
import { digest } from "../../core/hash.ts";
import { isRunId } from "../../core/ids.ts";

/** The run of a thread whose id isn't a run's id: nothing else may be called like it. */
const MAPPED = /^thread-[\w-]{43}$/;

/**
 * The run of a thread: the thread's own id where it can be a run's id, else one derived from it. The thread's id is also
 * part of the run's input, so that the way back is known.
 */
export const runOf = (thread: string): string =>
  isRunId(thread) && !MAPPED.test(thread) ? thread : `thread-${digest(thread)}`;

/** True when the run's id was derived from its thread's. */
export const isMapped = (runId: string): boolean => MAPPED.test(runId);

/** The thread that a config names; `undefined` when it names none (HF-6180 when that can't be one). */
export function threadOf(configurable: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const thread = configurable?.["thread_id"];
  if (thread === undefined || thread === null) return undefined;
  if (typeof thread === "number") return String(thread);
  if (typeof thread === "string" && thread !== "" && thread.length <= 1_000) return thread;
  const given = typeof thread === "string" ? `a text of ${thread.length} characters` : `a ${typeof thread}`;
  throw new HoldfastError("HF-6180", { what: "thread_id", given });
}

/** A text of the config; `undefined` when it isn't given. */
export function textIn(
  configurable: Readonly<Record<string, unknown>> | undefined,
  name: "checkpoint_ns" | "checkpoint_id" | "thread_ts",
): string | undefined {
  const value = configurable?.[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw new HoldfastError("HF-6180", { what: name, given: `a ${typeof value}` });
}

const ROOT = "thread";
const INNER = `${ROOT}:`;

/** The loop of a namespace: one for the graph itself, and one for each subgraph. */
export const loopOf = (namespace: string): string =>
  namespace === "" ? ROOT : INNER + namespace.replaceAll(/[%/#[\]]/g, encodeURIComponent);

/** The namespace of a loop; `undefined` when it isn't one of a thread. */
export function namespaceOf(loop: string): string | undefined {
  if (loop === ROOT) return "";
  return loop.startsWith(INNER) ? decodeURIComponent(loop.slice(INNER.length)) : undefined;
}
