import path from "node:path";
import { describe, expect, it } from "vitest";
import { countingStore } from "../../../test/support/counting-store.ts";
import { useFolders } from "../../../test/support/folders.ts";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import type { Store } from "../store/contract.ts";

const folder = useFolders("busy");

/** It never stops by itself, and none of its steps takes any time. */
const busy = workflow("busy", async (ctx) => {
  for (let n = 0; ; n++) await ctx.step(`step ${n}`, () => n);
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A run that is in the middle of its instant steps, and how many appends an act on it takes. */
async function underWay(inner: Store, act: (engine: Engine) => Promise<unknown>): Promise<number> {
  const { store, counts } = countingStore(inner);
  const engine = createEngine({ store, workflows: [busy], retention: "forever" });
  const appends = () => counts.calls["append"] ?? 0;
  try {
    await engine.start(busy, undefined, { id: "busy" });
    while (appends() < 20) await turn();
    const before = appends();
    await act(engine);
    return appends() - before;
  } finally {
    await engine.close({ drainMs: 0 });
    await inner.close();
  }
}

const ACTS: Record<string, (engine: Engine) => Promise<unknown>> = {
  pause: (engine) => engine.pause("busy", { id: "p-1" }),
  cancel: (engine) => engine.cancel("busy"),
  signal: (engine) => engine.signal("busy", "news", 1, { id: "s-1" }),
  inject: (engine) => engine.inject("busy", "context"),
};

describe("acts on a run that writes all the time", () => {
  for (const [name, act] of Object.entries(ACTS)) {
    it(`acknowledges a ${name} within a few appends (E9)`, async () => {
      expect(await underWay(createMemoryStore(), act)).toBeLessThanOrEqual(4);
      expect(
        await underWay(await openSqliteStore({ file: path.join(folder(), "runs.db") }), act),
      ).toBeLessThanOrEqual(4);
    });
  }

  it("acknowledges twenty acts at once, one after the other (E9)", async () => {
    const signals = (engine: Engine) =>
      Promise.all(Array.from({ length: 20 }, (_, n) => engine.signal("busy", "news", n)));
    expect(await underWay(createMemoryStore(), signals)).toBeLessThanOrEqual(60);
  });
});
