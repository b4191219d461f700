import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { type Context, workflow } from "../../index.ts";
import { childId } from "../ids.ts";

/** Waits, then says what was in its mailbox. */
const listens = async (ctx: Context): Promise<unknown[]> => {
  await ctx.gate("go", { choices: ["on"] });
  return (await ctx.inbox()).map(({ payload }) => payload);
};
const low = workflow("low", listens);
const middle = workflow("middle", async (ctx) => [
  await ctx.child("low", low, undefined),
  await listens(ctx),
]);
const top = workflow("top", async (ctx) => {
  const both = await ctx.all("both", [
    () => ctx.child("one", middle, undefined),
    () => ctx.child("two", low, undefined),
  ]);
  return [both, await listens(ctx)];
});
const one = childId("r", "both[0]/one");
const ids = { top: "r", one, below: childId(one, "low"), two: childId("r", "both[1]/two") };

async function family(): Promise<{ lab: Lab; engine: ReturnType<Lab["engine"]> }> {
  const lab = createLab();
  const engine = lab.engine([top, middle, low]);
  await lab.drive(engine.start(top, undefined, { id: "r" }));
  for (const id of Object.values(ids)) {
    await lab.clock.advance(200);
    await lab.drive(engine.settled(id));
  }
  return { lab, engine };
}

const injections = async ({ store }: Lab, id: string) =>
  (await eventsOf(store, id)).flatMap((event) =>
    event.kind === "signal_received" ? [[event.meta.name, event.actor, event.meta.reason]] : [],
  );

describe("context for a run and the runs below it", () => {
  it("reaches each of them once, with who gave it and why, however often it is sent", async () => {
    const { lab, engine } = await family();
    const act = { actor: "ada", reason: "restated", id: "click", children: true };
    for (let click = 0; click < 3; click++) await lab.drive(engine.inject("r", "Q4", act));
    for (const id of Object.values(ids))
      expect(await injections(lab, id)).toEqual([["inject", "ada", "restated"]]);
    for (const id of [ids.below, ids.one, ids.two, ids.top]) {
      await lab.drive(engine.settled(id));
      await lab.drive(engine.answer(id, "go", { choice: "on" }));
    }
    expect(await lab.drive(engine.result("r"))).toEqual([[[["Q4"], ["Q4"]], ["Q4"]], ["Q4"]]);
  });

  it("reaches only the run itself unless asked for", async () => {
    const { lab, engine } = await family();
    await lab.drive(engine.inject("r", "Q4"));
    expect((await injections(lab, ids.top)).length).toBe(1);
    expect(await injections(lab, ids.one)).toEqual([]);
  });

  it("passes over those that have ended, and is refused where nobody is left to take it", async () => {
    const { lab, engine } = await family();
    await lab.drive(engine.cancel(ids.two));
    await lab.drive(engine.inject("r", "Q4", { children: true }));
    expect(await injections(lab, ids.two)).toEqual([]);
    expect((await injections(lab, ids.below)).length).toBe(1);
    await lab.drive(engine.cancel("r"));
    await lab.clock.advance(1_000);
    expect(await lab.drive(code(engine.inject("r", "late", { children: true })))).toBe("HF-1007");
    expect(await lab.drive(code(engine.inject("nobody", "x", { children: true })))).toBe("HF-1001");
  });

  it("is refused by a run that has lost its values, which stays as it is", async () => {
    const lab = createLab();
    const fails = workflow("fails", () => Promise.reject(new Error("no")));
    const engine = lab.engine([fails], { execute: true });
    await lab.drive(engine.start(fails, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.crash(engine);
    await lab.clock.advance(10_000);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.retention.prune({ failedMaxAge: 1_000 }));
    const before = await desk.get("r");
    expect(before?.prunedAt).not.toBeNull();
    expect(await lab.drive(code(desk.inject("r", "x")))).toBe("HF-1023");
    expect(await desk.get("r")).toEqual(before);
  });
});

describe("context for all runs of a workflow", () => {
  it("reaches each unfinished one, says which it did not, and leaves other workflows alone", async () => {
    const lab = createLab();
    const other = workflow("other", listens);
    const engine = lab.engine([low, other]);
    for (const id of ["a", "b", "c", "d"]) await lab.drive(engine.start(low, undefined, { id }));
    await lab.drive(engine.start(other, undefined, { id: "e" }));
    for (const id of ["a", "b", "c", "d", "e"]) await lab.drive(engine.settled(id));
    await lab.drive(engine.pause("b"));
    await lab.drive(engine.cancel("c"));
    await lab.drive(engine.inject("d", "something else", { id: "click" }));
    const report = await lab.drive(
      engine.injectAll({ workflow: "low" }, "Q4", { id: "click", actor: "ada" }),
    );
    expect([...report.done].sort()).toEqual(["a", "b"]);
    expect(report.refused.map(({ runId, error }) => [runId, error.code])).toEqual([["d", "HF-1020"]]);
    expect(
      await Promise.all(["a", "b", "c", "e"].map(async (id) => (await injections(lab, id)).length)),
    ).toEqual([1, 1, 0, 0]);
  });

  it("is taken up by those that pause or resume them all, also while some are still finishing", async () => {
    const lab = createLab();
    let end: () => void = () => undefined;
    const works = workflow("works", async (ctx) => {
      await ctx.step("a", () => new Promise<void>((resolve) => void (end = resolve)));
      return ctx.step("b", () => "done");
    });
    const engine = lab.engine([works]);
    await lab.drive(engine.start(works, undefined, { id: "r" }));
    await lab.clock.advance(10);
    await lab.drive(engine.pauseAll({ workflow: "works" }, { id: "p" }));
    expect((await engine.get("r"))?.control).toBe("pausing");
    const report = await lab.drive(engine.resumeAll({ workflow: "works" }, { id: "q" }));
    expect(report.done).toEqual(["r"]);
    end();
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });
});
