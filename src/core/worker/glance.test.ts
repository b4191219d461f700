import { describe, expect, it } from "vitest";
import { countingStore } from "../../../test/support/counting-store.ts";
import { createLab, signalled } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { Store } from "../store/contract.ts";

/** A store with cheap glances beside expensive reads, a run in it that hangs, and an engine that only waits. */
async function stage(glance: (store: Store, runId: string) => ReturnType<Store["read"]>) {
  const clock = createFakeClock();
  const memory = createMemoryStore({ clock });
  const lab = createLab(memory, clock);
  const done = signalled();
  const flow = workflow("flow", (ctx) => ctx.step("one", () => done.promise.then(() => 7)));
  const worker = lab.engine([flow]);
  const run = await lab.drive(worker.start(flow, undefined, { id: "r" }));
  const shown = new Proxy(memory, {
    get: (target, name) =>
      name === "glance" ? (id: string) => glance(target, id) : (Reflect.get(target, name) as unknown),
  });
  const { store, counts } = countingStore(shown);
  const waiting = lab.engine([flow], { store, execute: false });
  return { lab, done, run, waiting, counts };
}

describe("a result that is waited for where glances are cheaper than reads", () => {
  it("costs glances while the run goes on, and is read once it has ended", async () => {
    const { lab, done, waiting, counts } = await stage((store, id) => store.read(id));
    const result = waiting.result("r");
    await lab.clock.advance(5_000);
    const { read } = counts.calls;
    await lab.clock.advance(100_000);
    expect(counts.calls["glance"]).toBeGreaterThan(50);
    expect(counts.calls["read"]).toBe(read);
    done.resolve();
    expect(await lab.drive(result)).toBe(7);
    await lab.drive(waiting.close());
  });

  it("is never decided by a glance, which may be wrong or fail", async () => {
    let looks = 0;
    const { lab, done, waiting } = await stage(async (store, id) => {
      if (++looks % 2 === 0) throw new Error("not now");
      const row = await store.read(id);
      return row && { ...row, status: "completed" };
    });
    const result = waiting.result("r");
    let isThere = false;
    void result.then(() => (isThere = true));
    await lab.clock.advance(20_000);
    expect(looks).toBeGreaterThan(10);
    expect(isThere).toBe(false);
    done.resolve();
    expect(await lab.drive(result)).toBe(7);
    await lab.drive(waiting.close());
  });
});
