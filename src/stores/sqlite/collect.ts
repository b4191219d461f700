import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage and waits until its finalizers have run. Takes a few milliseconds with a small heap. */
export async function collectGarbage(): Promise<void> {
  collector()?.();
  // Finalizers of native objects run in their own turn of the event loop.
  await nextTurn();
}

let found: (() => void) | null | undefined;

function collector(): (() => void) | null {
  found ??= (globalThis as { readonly gc?: () => void }).gc ?? exposed();
  return found;
}

/** If the runtime doesn't expose it, handles are released at the next regular collection. */
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
