import { digest } from "../hash.ts";
import type { Signal } from "./records.ts";

/** So long a message is held as it is: its digest is hardly shorter. */
const SHORT = 200;

/** Lets go of what a message says: it is read again where it was recorded. That it came, and under which id, stays known. */
export function release(signal: Signal): void {
  if (typeof signal.data !== "string" || signal.data.length <= SHORT) return;
  signal.was = digest(signal.data);
  signal.data = undefined;
}

/** Whether a message with the same id says the same. Where it is not known any more what it said, it does. */
export function saysSame({ name, data, was }: Signal, other: Pick<Signal, "name" | "data">): boolean {
  if (name !== other.name) return false;
  if (data !== undefined) return JSON.stringify(data) === JSON.stringify(other.data);
  return was === undefined || (typeof other.data === "string" && was === digest(other.data));
}
