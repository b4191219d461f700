import { describe, expect, it } from "vitest";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { Store } from "../store/contract.ts";

const STEPS = 200;

/** Fails after its steps until it is allowed to end; then it returns what it knows. */
function stage() {
  const store = createMemoryStore();
  let mayEnd = false;
  const calls: number[] = [];
  const flow = workflow("flow", async (ctx, greeting: string) => {
    for (let n = 0; n < STEPS; n++) await ctx.step(`step ${n}`, () => calls.push(n));
    await ctx.step("last", () => {
      if (!mayEnd) throw Object.assign(new Error("not yet"), { retryable: false });
    });
    return { greeting, said: ctx.memory.get("said") ?? null, calls: calls.length };
  });
  const fail = async (greeting: string): Promise<void> => {
    mayEnd = false;
    const engine = createEngine({ store, workflows: [flow] });
    await engine.start(flow, greeting, { id: "a" });
    await engine.settled("a");
    await engine.close();
    mayEnd = true;
  };
  return { store, flow, calls, fail };
}

function counted(store: Store): { readonly store: Store; entries(): number } {
  let count = 0;
  const entries: Store["entries"] = async (runId, range) => {
    const found = await store.entries(runId, range);
    count += found.length;
    return found;
  };
  return { store: { ...store, entries }, entries: () => count };
}

describe("a run that is read in order to continue it", () => {
  it("isn't read again by its worker (S2-29)", async () => {
    const { store, flow, calls, fail } = stage();
    await fail("hello");
    const read = counted(store);
    const engine = createEngine({ store: read.store, workflows: [flow] });
    const { input } = await engine.checkpoints.stateToContinue("a");
    expect(input).toBe("hello");
    const before = read.entries();
    expect(before).toBeGreaterThan(STEPS);
    await engine.resume("a");
    expect(await engine.result("a")).toEqual({ greeting: "hello", said: null, calls: STEPS });
    expect(read.entries() - before).toBeLessThan(STEPS / 2);
    expect(calls).toHaveLength(STEPS);
    await engine.close();
  });

  it("continues with what others have written to it since", async () => {
    const { store, flow, fail } = stage();
    await fail("hello");
    const engine = createEngine({ store, workflows: [flow] });
    await engine.checkpoints.stateToContinue("a");
    const other = createEngine({ store, execute: false });
    await other.resume("a", { set: { input: "good evening", memory: { said: "yes" } } });
    expect(await engine.result("a")).toMatchObject({ greeting: "good evening", said: "yes" });
    await Promise.all([engine.close(), other.close()]);
  });

  it("is read as it is now where it was deleted and started again meanwhile", async () => {
    const { store, flow, fail } = stage();
    await fail("hello");
    const engine = createEngine({ store, workflows: [flow] });
    await engine.checkpoints.stateToContinue("a");
    const other = createEngine({ store, execute: false });
    await other.delete("a");
    await fail("another");
    await engine.resume("a");
    expect(await engine.result("a")).toMatchObject({ greeting: "another", calls: 2 * STEPS });
    await Promise.all([engine.close(), other.close()]);
  });
});
