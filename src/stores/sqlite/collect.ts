import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects what nobody refers to any more, and waits until its finalizers have run. A few milliseconds with a small heap. */
export async function collectGarbage(): Promise<void> {
  collector()?.();
  // Finalizers of native objects run in a turn of their own.
  await nextTurn();
}

let found: (() => void) | null | undefined;

function collector(): (() => void) | null {
  found ??= (globalThis as { readonly gc?: () => void }).gc ?? exposed();
  return found;
}

/** Where the runtime does not give it away, handles are let go of when it collects by itself. */
function exposed(): (() => void) | null {
  try {
    setFlagsFromString("--expose-gc");
    const gc: unknown = runInNewContext("gc");
    setFlagsFromString("--no-expose-gc");
    return typeof gc === "function" ? () => void gc() : null;
  } catch {
    return null;
  }
}
