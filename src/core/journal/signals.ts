import { digest } from "../hash.ts";
import type { Signal } from "./records.ts";
import { isUnreadable } from "./unreadable.ts";
import type { Values } from "./values.ts";

/** Messages up to this length are kept as they are: a digest is hardly shorter. */
const SHORT = 200;

/** Releases a message's content, which can be read again from its position. Its arrival and its id stay known. */
export function release(signal: Signal): void {
  if (typeof signal.data !== "string" || signal.data.length <= SHORT) return;
  signal.was = digest(signal.data);
  signal.data = undefined;
}

/** The message with its content, as far as it is still stored, when neither content nor digest is held here. */
export async function withContent(values: Values, runId: string, signal: Signal): Promise<Signal> {
  if (signal.data !== undefined || signal.was !== undefined) return signal;
  try {
    return { ...signal, data: await values.rawAt(runId, signal.seq) };
  } catch (error) {
    if (isUnreadable(error)) return signal;
    throw error;
  }
}

/**
 * True when a message with the same id has the same content. If the content is no longer known, it counts as the same.
 */
export function saysSame({ name, data, was }: Signal, other: Pick<Signal, "name" | "data">): boolean {
  if (name !== other.name) return false;
  if (data !== undefined) return JSON.stringify(data) === JSON.stringify(other.data);
  return was === undefined || (typeof other.data === "string" && was === digest(other.data));
}
