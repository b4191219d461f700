import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createEngine } from "../engine/engine.ts";
import { seededIds } from "../ids.ts";
import { workflow } from "../workflow.ts";
import type { Store } from "./contract.ts";

/** A store that takes two batches at once, each for a millisecond; `failing` of its appends are refused first. */
function lab(failing = 0) {
  const clock = createFakeClock();
  const inner = createMemoryStore({ clock });
  const underWay = new Set<readonly string[]>();
  const seen = { most: 0, alone: 0, overlaps: [] as string[] };
  const store: Store = {
    ...inner,
    capabilities: { ...inner.capabilities, lanes: 2 },
    append: async (batch) => {
      const runs = batch.map(({ run }) => run.id);
      const others = new Set([...underWay].flat());
      seen.overlaps.push(...runs.filter((run) => others.has(run)));
      underWay.add(runs);
      seen.most = Math.max(seen.most, underWay.size);
      if (runs.length === 1) seen.alone++;
      await new Promise<void>((resolve) => clock.setTimer(resolve, 1));
      underWay.delete(runs);
      if (failing-- > 0) throw new Error("The connection is gone.");
      return inner.append(batch);
    },
  };
  const calls = new Map<string, number>();
  const steps = workflow("steps", async (ctx, id: string) => {
    for (let n = 0; n < 10; n++)
      await ctx.step("one", () => void calls.set(`${id} ${n}`, (calls.get(`${id} ${n}`) ?? 0) + 1));
  });
  const engine = createEngine({ store, workflows: [steps], clock, ids: seededIds(1) });
  const play = async (width: number): Promise<void> => {
    const ids = Array.from({ length: width }, (_, n) => `run-${n}`);
    const all = Promise.all(ids.map((id) => engine.start(steps, id, { id }).then((run) => run.result())));
    await clock.advance(60_000);
    await all;
    await engine.close();
  };
  return { seen, calls, play };
}

describe("a store that takes two batches at once", () => {
  it("gets half of many runs while the other half is on its way, and no run twice at a time", async () => {
    const { seen, calls, play } = lab();
    await play(40);
    expect(seen).toMatchObject({ most: 2, alone: 0, overlaps: [] });
    expect([...calls.values()]).toEqual(Array.from({ length: 400 }, () => 1));
  });

  it("gets a few runs together, one batch after another", async () => {
    const { seen, play } = lab();
    await play(6);
    expect(seen).toMatchObject({ most: 1, overlaps: [] });
  });

  it("calls no step twice when both batches fail on their way", async () => {
    const { seen, calls, play } = lab(6);
    await play(40);
    expect(seen.overlaps).toEqual([]);
    expect([...calls.values()]).toEqual(Array.from({ length: 400 }, () => 1));
  });
});
