import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { countingStore } from "./counting-store.ts";

const child = workflow("child", (ctx, n: number) => ctx.step("double", () => n * 2));

const parent = workflow("parent", async (ctx, count: number) => {
  const numbers = Array.from({ length: count }, (_, n) => n);
  const doubled = await Promise.all(numbers.map((n) => ctx.child(`child ${n}`, child, n)));
  return doubled.reduce((sum, n) => sum + n, 0);
});

/** A run that starts so many children at once and waits for all of them: its result, and what was read for it. */
export async function fanIn(
  inner: Store,
  count: number,
): Promise<{ result: number; entries: number; rows: number }> {
  const { store, counts } = countingStore(inner);
  // The parent is not let go meanwhile: how often it would be, and is read anew, depends on how busy the machine is.
  const engine = createEngine({ store, workflows: [parent, child], retention: "forever", quietMs: 60_000 });
  try {
    const { id } = await engine.start(parent, count, { id: `parent-${count}` });
    const result = await engine.result<number>(id);
    return { result, entries: counts.entries, rows: counts.rows };
  } finally {
    await engine.close();
  }
}

export const sumOfDoubles = (count: number): number => count * (count - 1);
