import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { countingStore } from "./counting-store.ts";
import { isExhaustive } from "./exhaustive.ts";

const child = workflow("child", (ctx, n: number) => ctx.step("double", () => n * 2));

const parent = workflow("parent", async (ctx, count: number) => {
  const numbers = Array.from({ length: count }, (_, n) => n);
  const doubled = await Promise.all(numbers.map((n) => ctx.child(`child ${n}`, child, n)));
  return doubled.reduce((sum, n) => sum + n, 0);
});

/**
 * Starts a run with this many children at once, which waits for all of them: returns its result and the number of
 * reads.
 */
export async function fanIn(
  inner: Store,
  count: number,
): Promise<{ result: number; entries: number; rows: number }> {
  const { store, counts } = countingStore(inner);
  // How often a busy machine sweeps, or lets go of a parent between two children, is not what is counted.
  const unhurried = { quietMs: 60_000, sweepMs: 60_000 };
  const engine = createEngine({ store, workflows: [parent, child], retention: "forever", ...unhurried });
  try {
    const { id } = await engine.start(parent, count, { id: `parent-${count}` });
    const result = await engine.result<number>(id);
    return { result, entries: counts.entries, rows: counts.rows };
  } finally {
    await engine.close();
  }
}

export const sumOfDoubles = (count: number): number => count * (count - 1);

/** The numbers of children to try; a thousand only on request. */
export const FAN_INS: readonly number[] = isExhaustive ? [50, 200, 1_000] : [50, 200];

/** The number of rows and entries read, for each number of children. */
export async function fanIns(open: () => Promise<Store>): Promise<readonly number[]> {
  const reads: number[] = [];
  for (const count of FAN_INS) {
    const store = await open();
    const { result, entries, rows } = await fanIn(store, count);
    await store.close();
    if (result !== sumOfDoubles(count)) throw new Error(`${count} children gave ${result}`);
    if (count === 1_000) console.log(`${store.name}, ${count} children: ${entries} entries, ${rows} rows`);
    reads.push(entries + rows);
  }
  return reads;
}

/** The allowed growth of reads: proportional, with a little to spare. */
export const inProportion = (reads: readonly number[]): boolean =>
  reads.every((read, index) => {
    const count = FAN_INS[index] ?? 0;
    const [before = read, few = count] = index === 0 ? [] : [reads[index - 1], FAN_INS[index - 1]];
    return read < 10 * count + 300 && read <= 1.1 * (count / few) * before + 300;
  });
