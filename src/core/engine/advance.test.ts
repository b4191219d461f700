import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";

const effects: string[] = [];
const after = (lab: Lab, ms: number): Promise<void> =>
  new Promise((resolve) => lab.clock.setTimer(resolve, ms));

/** Steps of so long each. */
function setup(ms = 1_000, steps = "abc") {
  effects.length = 0;
  const lab = createLab();
  const flow = workflow("flow", async (ctx, id: string) => {
    for (const step of steps)
      await ctx.step(step, async () => {
        await after(lab, ms);
        effects.push(`${id}.${step}`);
      });
    return id;
  });
  const engine = lab.engine([flow], { execute: false });
  const start = (id: string) => lab.drive(engine.start(flow, id, { id }));
  return { lab, flow, engine, start };
}

const statusOf = async (engine: Engine, id: string): Promise<string | undefined> =>
  (await engine.get(id))?.status;

describe("engine.advance", () => {
  it("brings every due run to its end, and says that nothing is left", async () => {
    const { lab, engine, start } = setup();
    for (const id of ["r1", "r2"]) await start(id);
    const done = await lab.drive(engine.advance({ deadlineMs: 50_000 }));
    expect({ ...done, runs: [...done.runs].sort() }).toEqual({
      runs: ["r1", "r2"],
      handedOver: [],
      more: false,
    });
    expect([await statusOf(engine, "r1"), effects.length]).toEqual(["completed", 6]);
    expect(await lab.drive(engine.advance())).toEqual({ runs: [], handedOver: [], more: false });
  });

  it("hands over at its deadline, and the next call continues at once, without a step twice", async () => {
    const { lab, flow, engine, start } = setup(600, "abcde");
    await start("r1");
    // After 1.8 s the third step is under way, and the rest of the time is enough for it.
    const first = await lab.drive(engine.advance({ deadlineMs: 2_000 }));
    expect(effects).toEqual(["r1.a", "r1.b", "r1.c"]);
    expect(first).toEqual({ runs: ["r1"], handedOver: ["r1"], more: true });
    expect((await lab.store.read("r1"))?.claim.token).toBeNull();
    const other = lab.engine([flow], { execute: false });
    const second = await lab.drive(other.advance({ deadlineMs: 50_000 }));
    expect(second).toEqual({ runs: ["r1"], handedOver: [], more: false });
    expect(await statusOf(other, "r1")).toBe("completed");
    expect(effects).toEqual(["r1.a", "r1.b", "r1.c", "r1.d", "r1.e"]);
  });

  it("keeps the claim of a run whose call doesn't finish in time, until the call can't be acting any more", async () => {
    const { lab, flow, engine, start } = setup(30_000);
    await start("r1");
    expect(await lab.drive(engine.advance({ deadlineMs: 1_000 }))).toMatchObject({ handedOver: ["r1"] });
    expect((await lab.store.read("r1"))?.claim.token).not.toBeNull();
    const other = lab.engine([flow], { execute: false });
    expect(await lab.drive(other.advance({ deadlineMs: 1_000 }))).toMatchObject({ runs: [] });
  });

  it("works on so many runs at once", async () => {
    const { lab, engine, start } = setup();
    for (const id of ["r1", "r2", "r3"]) await start(id);
    const { runs } = await lab.drive(engine.advance({ deadlineMs: 50_000, limit: 1 }));
    expect(runs).toHaveLength(3);
    expect(effects.map((effect) => effect.slice(-1)).join("")).toBe("abcabcabc");
  });

  it("is refused on an engine that works by itself, and with a time that is too short (HF-1003)", async () => {
    const { lab, flow, engine } = setup();
    await expect(lab.engine([flow]).advance()).rejects.toMatchObject({ code: "HF-1003" });
    for (const options of [{ deadlineMs: 10 }, { limit: 0 }, { deadline: 5 }])
      await expect(engine.advance(options as never)).rejects.toMatchObject({ code: "HF-1003" });
  });
});
