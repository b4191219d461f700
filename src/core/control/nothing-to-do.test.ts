import { describe, expect, it } from "vitest";
import { countingStore } from "../../../test/support/counting-store.ts";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { parseEntry } from "../journal/journal.ts";
import type { Store } from "../store/contract.ts";

const flow = workflow("flow", (ctx) => ctx.gate("ask", { choices: ["yes"] }));

async function kinds(store: Store, id = "r"): Promise<string[]> {
  const entries = await store.entries(id, { from: 1, limit: 1_000 });
  return entries.flatMap((entry) => parseEntry(id, entry).events.map(({ kind }) => kind));
}

async function waiting(): Promise<{ lab: ReturnType<typeof createLab>; engine: Engine }> {
  const lab = createLab();
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return { lab, engine };
}

describe("an act that finds nothing to do", () => {
  it("does not lift somebody else's later pause when a resume is sent again (A3)", async () => {
    const lab = createLab();
    const busy = workflow("busy", (ctx) => ctx.step("work", hangs));
    const engine = lab.engine([busy]);
    await lab.drive(engine.start(busy, undefined, { id: "r" }));
    // It goes on already: nothing to do, and its name is used up.
    await lab.drive(engine.resume("r", { id: "resume-1", actor: "ada" }));
    await lab.drive(engine.pause("r", { actor: "ben" }));
    await lab.drive(engine.resume("r", { id: "resume-1", actor: "ada" }));
    expect((await engine.get("r"))?.control).toBe("pausing");
    expect((await kinds(lab.store)).filter((kind) => kind === "act_noted")).toHaveLength(1);
  });

  it("is remembered once, by whoever did it, and changes nothing (A3)", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.pause("r", { actor: "ben" }));
    const before = await engine.get("r");
    for (let sent = 0; sent < 3; sent++)
      await lab.drive(engine.pause("r", { id: "pause-1", actor: "ada", reason: "lunch" }));
    const {
      status,
      control,
      error,
      waiting: waits,
      wakeAt,
    } = (await engine.get("r")) as NonNullable<typeof before>;
    expect(before).toMatchObject({ status, control, error, waiting: waits, wakeAt });
    expect((await kinds(lab.store)).filter((kind) => kind === "act_noted")).toEqual(["act_noted"]);
    // The run goes on and the pause comes again, late: it was answered before.
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.pause("r", { id: "pause-1", actor: "ada" }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("waiting");
  });

  it("remembers a resume that only sets a limit, so that it does not undo a later one (A3)", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    const busy = workflow("busy", (ctx) => ctx.step("work", hangs));
    const other = lab.engine([busy]);
    await lab.drive(other.start(busy, undefined, { id: "b" }));
    await lab.drive(other.resume("b", { id: "raise", budget: { tokens: 10 } }));
    await lab.drive(other.resume("b", { budget: { tokens: 50 } }));
    await lab.drive(other.resume("b", { id: "raise", budget: { tokens: 10 } }));
    expect((await other.get("b"))?.budget).toEqual({ tokens: 50 });
  });

  it("is answered for a run that is cancelled already, and leaves one record of it (A3)", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.cancel("r", { actor: "ben" }));
    for (let sent = 0; sent < 2; sent++) await lab.drive(engine.cancel("r", { id: "cancel-1" }));
    expect((await kinds(lab.store)).slice(-2)).toEqual(["run_cancelled", "act_noted"]);
  });

  it("leaves nothing when it has no name (A3)", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.pause("r"));
    const before = await engine.get("r");
    await lab.drive(engine.pause("r", { actor: "ada" }));
    expect(await engine.get("r")).toEqual(before);
  });
});

describe("acts with a name", () => {
  it("read only what was written since the last one (E10)", async () => {
    const { store, counts } = countingStore(createMemoryStore());
    const long = workflow("long", async (ctx) => {
      for (let n = 0; n < 300; n++) await ctx.step(`step ${n}`, () => n);
      return ctx.gate("ask", { choices: ["yes"] });
    });
    const engine = createEngine({ store, workflows: [long] });
    await engine.start(long, undefined, { id: "r" });
    await engine.settled("r");
    await engine.close();
    const read = async (act: () => Promise<unknown>): Promise<number> => {
      const before = counts.entries;
      await act();
      return counts.entries - before;
    };
    // Each look passes the door, which may look back over some thirty entries; the journal has 300.
    const MOST = 50;
    const desk = createEngine({ store, execute: false });
    await desk.signal("r", "news", 0, { id: "s-0" });
    await desk.pause("r", { id: "p-0" });
    expect(await read(() => desk.signal("r", "news", 1, { id: "s-1" }))).toBeLessThan(MOST);
    expect(await read(() => desk.inject("r", "hint", { id: "i-1" }))).toBeLessThan(MOST);
    expect(await read(() => desk.status("r"))).toBeLessThan(MOST);
    expect(await read(() => desk.gates("r"))).toBeLessThan(MOST);
    expect(await read(() => desk.pause("r", { id: "p-1" }))).toBeLessThan(MOST);
  });
});
