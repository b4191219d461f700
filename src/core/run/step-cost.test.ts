import { createHook } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { createEngine } from "../engine/engine.ts";
import type { Append, Store } from "../store/contract.ts";
import { workflow } from "../workflow.ts";

const steps = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => n);
  return count;
});

/** A store that counts what it is asked, and keeps the appends. */
function counted(): { readonly store: Store; readonly reads: string[]; readonly appends: Append[] } {
  const base = createMemoryStore();
  const reads: string[] = [];
  const appends: Append[] = [];
  const store: Store = {
    ...base,
    append: (batch) => {
      appends.push(...batch);
      return base.append(batch);
    },
    read: (id) => {
      reads.push(`read ${id}`);
      return base.read(id);
    },
    entries: (id, range) => {
      reads.push(`entries ${id}`);
      return base.entries(id, range);
    },
  };
  return { store, reads, appends };
}

async function promisesOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === "PROMISE") count++;
    },
  }).enable();
  await work();
  hook.disable();
  return count;
}

describe("what a step costs", () => {
  it("is 4 promises, its caller's await among them, and 8 for each flush (issue 16)", async () => {
    const engine = createEngine({ store: createMemoryStore(), workflows: [steps] });
    const run = async (runs: number, count: number) => {
      const all = Array.from({ length: runs }, async () =>
        engine.result((await engine.start(steps, count)).id),
      );
      await Promise.all(all);
    };
    const each = async (runs: number) => {
      const few = await promisesOf(() => run(runs, 10));
      const many = await promisesOf(() => run(runs, 110));
      return (many - few) / (100 * runs);
    };
    await run(1, 5);
    expect(await each(1)).toBeLessThanOrEqual(12.5);
    // Flushes are shared: what is left is the steps' own.
    expect(await each(50)).toBeLessThanOrEqual(4.5);
    await engine.close();
  });

  it("is one append that names only its counts as changed, between the first intent and the end", async () => {
    const { store, appends } = counted();
    const engine = createEngine({ store, workflows: [steps] });
    await engine.result((await engine.start(steps, 5)).id);
    expect(appends.map(({ countsOnly }) => countsOnly)).toEqual([
      undefined,
      true,
      true,
      true,
      true,
      undefined,
    ]);
    expect(appends.map(({ expect: before }) => before === null)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    await engine.close();
  });

  it("is nothing read back: a run that is started and awaited here is never read (issue 16)", async () => {
    const { store, reads } = counted();
    const engine = createEngine({ store, workflows: [steps] });
    const { id } = await engine.start(steps, 3);
    expect(await engine.result(id)).toBe(3);
    expect(reads.filter((one) => one.endsWith(id))).toEqual([]);
    // Later it is read like any other run, and verified.
    expect(await engine.result(id)).toBe(3);
    expect(reads).toContain(`entries ${id}`);
    await engine.close();
  });
});
