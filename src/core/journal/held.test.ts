import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";
import type { Store } from "../store/contract.ts";
import { parseEntry } from "./journal.ts";
import { RunState } from "./state.ts";

const LONG = "x".repeat(1_000);
const rounds = workflow("rounds", async (ctx, count: number) => {
  await ctx.loop("round", { done: 0 }, async (state, { index, done }) => {
    const { payload } = await ctx.signal<string>("go");
    for (let n = 0; n < 5; n++) ctx.memory.set(`key ${n}`, `${index} ${payload.length}`);
    state.done = index + 1;
    return state.done === count ? done() : undefined;
  });
  await ctx.gate("ask", { choices: ["yes"] });
  return ctx.memory.get("key 4");
});

/** The fold of the whole journal, with snapshots passed over. */
async function folded(store: Store, id: string): Promise<RunState> {
  const state = new RunState();
  for (let from = 1; ; ) {
    const entries = await store.entries(id, { from, limit: 1_000 });
    const last = entries.at(-1);
    if (!last) return state;
    for (const entry of entries) for (const event of parseEntry(id, entry).events) state.apply(event);
    from = last.seq + last.count;
  }
}

async function after(
  count: number,
): Promise<{ engine: Engine; lab: ReturnType<typeof createLab>; state: RunState }> {
  const lab = createLab();
  const engine = lab.engine([rounds]);
  await lab.drive(engine.start(rounds, count, { id: "r" }));
  for (let n = 0; n < count; n++) await lab.drive(engine.signal("r", "go", LONG, { id: `s-${n}` }));
  const isAsking = async () => (await lab.store.read("r"))?.waiting.some(({ kind }) => kind === "gate");
  for (let n = 0; n < 100 && !(await isAsking()); n++) await lab.clock.advance(100);
  return { engine, lab, state: await folded(lab.store, "r") };
}

const bytesHeld = ({ signals }: RunState): number =>
  signals.reduce((sum, { data }) => sum + (typeof data === "string" ? data.length : 0), 0);

describe("what is held of a run", () => {
  it("does not grow with the messages it has read and the memory it has overwritten (E12)", async () => {
    const [few, many] = [await after(30), await after(150)];
    expect(bytesHeld(few.state)).toBe(0);
    expect(bytesHeld(many.state)).toBe(0);
    expect(many.state.memory.length).toBeLessThan(100);
    expect(many.state.memory.at(-1)?.name).toBe("key 4");
    expect(many.state.signals).toHaveLength(150);
  });

  it("still tells a message that is sent again from another one with its id (E12)", async () => {
    const { engine, lab } = await after(5);
    const entries = async () => (await lab.store.entries("r", { from: 1, limit: 1_000 })).length;
    const before = await entries();
    await lab.drive(engine.signal("r", "go", LONG, { id: "s-3" }));
    expect(await entries()).toBe(before);
    const other = engine.signal("r", "go", `${LONG}!`, { id: "s-3" });
    await expect(lab.drive(other)).rejects.toMatchObject({ code: "HF-1020" });
  });

  it("is enough to go on after a crash (E12)", async () => {
    const { engine, lab } = await after(40);
    const next = await lab.afterCrash(engine, [rounds], "r");
    await lab.drive(next.engine.answer("r", "ask", { choice: "yes" }));
    expect(await lab.drive(next.engine.result("r"))).toBe("39 1000");
  });
});
