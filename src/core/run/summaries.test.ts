import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { knownActs } from "../journal/known-acts.ts";
import { newestSummary } from "../journal/summary.ts";
import { Values } from "../journal/values.ts";
import { silentLogger } from "../logger.ts";
import type { Store } from "../store/contract.ts";

const long = workflow("long", async (ctx, parts: number) => {
  for (let part = 0; part < parts; part++) {
    for (let n = 0; n < 1_100; n++) await ctx.step("step", () => n);
    await ctx.signal("go");
  }
});

/** A store that lists the entries that it is asked for. */
function counted(base: Store): { readonly store: Store; readonly asked: string[] } {
  const asked: string[] = [];
  const read =
    (what: string): Store["entries"] =>
    (runId, range) => {
      asked.push(`${what} ${range.from}`);
      return base.entries(runId, range);
    };
  return { store: { ...base, entries: read("entries"), outlines: read("outlines") }, asked };
}

describe("the summaries of a long run", () => {
  it("are written without reading back what this process has written (issue 16)", async () => {
    const { store, asked } = counted(createMemoryStore());
    const engine = createEngine({ store, workflows: [long] });
    await engine.start(long, 1, { id: "long" });
    await engine.signal("long", "go", 1);
    await engine.settled("long");
    await engine.close();
    const heads = (await store.entries("long", { from: 1, limit: 5_000 })).map(({ head }) => head);
    expect(heads.filter((head) => head.includes('"summary_taken"')).length).toBe(2);
    // Only the message and the list above are read.
    expect(asked.filter((one) => one.startsWith("outlines"))).toEqual([]);
    expect(asked.length).toBeLessThan(8);
  });

  it("name every act with an id, from before a crash, after it and in between (issue 16)", async () => {
    const lab = createLab();
    const first = lab.engine([long]);
    await lab.drive(first.start(long, 3, { id: "long" }));
    await lab.drive(first.settled("long"));
    await lab.drive(first.pause("long", { id: "p-1" }));
    await lab.drive(first.resume("long", { id: "r-1" }));
    await lab.drive(first.settled("long"));
    await lab.crash(first);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.signal("long", "go", 1));
    await lab.drive(desk.pause("long", { id: "p-2" }));
    await lab.drive(desk.resume("long", { id: "r-2" }));
    await lab.crash(desk);
    await lab.clock.advance(20_000);
    const next = lab.engine([long]);
    await lab.drive(next.recover());
    await lab.drive(next.settled("long"));
    await lab.drive(next.pause("long", { id: "p-3" }));
    await lab.drive(next.resume("long", { id: "r-3" }));
    await lab.drive(next.signal("long", "go", 2));
    await lab.drive(next.settled("long"));
    const values = new Values(lab.store, { valueBytes: 1e6, warnBytes: 1e6 }, silentLogger);
    const row = await lab.store.read("long");
    if (!row) throw new Error("no run");
    const summary = await newestSummary(lab.store, values, row);
    const ids = (acts: readonly { readonly id: string }[] = []) => acts.map(({ id }) => id);
    expect(ids(summary?.acts)).toEqual(["p-1", "r-1", "p-2", "r-2", "p-3", "r-3"]);
    expect(ids(await knownActs(lab.store, values, row))).toEqual(ids(summary?.acts));
    await lab.crash(next);
  });
});
