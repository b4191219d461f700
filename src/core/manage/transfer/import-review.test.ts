import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { code } from "../../../../test/support/code.ts";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { type Engine, workflow } from "../../../index.ts";
import type { ImportOptions } from "../../../manage.ts";

/** A run that was exported while it waited, and a store that it comes to. */
async function arrival(options: ImportOptions = {}, stop: "gate" | "pause" | "fail" = "gate") {
  const calls: string[] = [];
  const world = { broken: stop === "fail" };
  const flow = workflow("flow", async (ctx, input: { who: string }) => {
    await ctx.step("first", () => calls.push("first"));
    if (world.broken) throw new Error("broken");
    await ctx.gate("ok", { show: input, choices: ["yes", "no"] });
    await ctx.step("pay", () => calls.push("pay"), { effect: "once", compensate: () => calls.push("undo") });
    return "done";
  });
  const here = createLab();
  const home = here.engine([flow]);
  await here.drive(home.start(flow, { who: "ada" }, { id: "r", config: { region: "eu" } }));
  await here.drive(home.settled("r"));
  if (stop === "pause") await here.drive(home.pause("r"));
  const bundle = await linesOf(home, "r");
  await here.crash(home);
  calls.length = 0;
  world.broken = false;
  const lab = createLab();
  await lab.clock.advance(here.clock.now());
  const engine = lab.engine([flow]);
  const report = await lab.drive(engine.transfer.importRuns(Readable.from(bundle), options));
  return { lab, engine, flow, calls, report, bundle };
}

async function linesOf(engine: Engine, id: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of engine.transfer.exportRun(id)) lines.push(line);
  return lines;
}

async function accept(lab: Lab, engine: Engine, id = "r"): Promise<void> {
  const { digest } = await lab.drive(engine.transfer.review(id));
  await lab.drive(engine.transfer.accept(id, { digest, actor: "ops", reason: "looked at" }));
}

describe("a run that came in a bundle nobody answers for", () => {
  it("waits for review, and nothing that is done to it makes it go on (X1)", async () => {
    const { lab, engine, calls, report } = await arrival();
    expect(report.review).toEqual(["r"]);
    const waits = async () => {
      await lab.drive(engine.recover());
      const run = await lab.drive(engine.settled("r"));
      expect(run.waiting.map(({ kind, detail }) => [kind, detail?.slice(0, 7)])).toEqual([
        ["review", "HF-3060"],
      ]);
    };
    await waits();
    expect(await lab.drive(code(engine.resume("r")))).toBe("HF-3060");
    expect(await lab.drive(code(engine.resume("r", { set: { input: { who: "ben" } } })))).toBe("HF-3060");
    await lab.drive(engine.signal("r", "go"));
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await waits();
    // Ways around the wait in its row meet what its journal says.
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r"));
    await waits();
    await lab.drive(engine.cancel("r", { compensate: true }));
    await waits();
    expect(calls).toEqual([]);
    await lab.drive(engine.cancel("r"));
    expect((await engine.get("r"))?.status).toBe("cancelled");
  });

  it("goes on when somebody has accepted the list of what it would do, and not another list (X1)", async () => {
    const { lab, engine, calls } = await arrival();
    const list = await lab.drive(engine.transfer.review("r"));
    expect(list).toMatchObject({
      workflow: "flow",
      version: "1",
      pending: true,
      config: { region: "eu" },
      answers: [],
    });
    const wrong = engine.transfer.accept("r", { digest: "of something else", actor: "ops" });
    expect(await lab.drive(code(wrong))).toBe("HF-3061");
    await accept(lab, engine);
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe("done");
    expect(calls).toEqual(["pay"]);
    expect((await lab.drive(engine.transfer.review("r"))).pending).toBe(false);
    // Said twice, it is one.
    const { seq } = (await engine.get("r")) ?? expect.fail();
    await accept(lab, engine);
    expect((await engine.get("r"))?.seq).toBe(seq);
  });

  it("is paused when it was, once it is accepted (X1)", async () => {
    const { lab, engine } = await arrival({}, "pause");
    expect((await engine.get("r"))?.status).toBe("waiting");
    await accept(lab, engine);
    expect((await engine.get("r"))?.status).toBe("paused");
  });

  it("does not go on after a resume when it had failed (X1)", async () => {
    const { lab, engine, calls, report } = await arrival({}, "fail");
    expect(report.review).toEqual(["r"]);
    await lab.drive(engine.resume("r"));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting[0]?.detail).toContain("HF-3060");
    await accept(lab, engine);
    const after = await lab.drive(engine.settled("r"));
    expect(after.waiting.map(({ kind }) => kind)).toEqual(["gate"]);
    expect(calls).toEqual([]);
  });

  it("gives its forks nothing that it may not do itself (X1)", async () => {
    const { lab, engine } = await arrival();
    await lab.drive(engine.fork("r", { id: "f" }));
    const fork = await lab.drive(engine.settled("f"));
    expect(fork.waiting[0]?.detail).toContain("HF-3060");
    await accept(lab, engine, "f");
    expect((await lab.drive(engine.settled("f"))).waiting.map(({ kind }) => kind)).toEqual(["gate"]);
  });

  it("goes on without a review where its signature is known, and waits where it is not (X1)", async () => {
    const sign = { sign: (digest: string) => `ours ${digest}` };
    const trust = (digest: string, signature: string) => signature === `ours ${digest}`;
    const { bundle } = await arrival();
    const unsigned = await arrival({ trust });
    expect(unsigned.report.review).toEqual(["r"]);
    const lab = createLab();
    const carrier = lab.engine([], { execute: false });
    await lab.drive(carrier.transfer.importRuns(Readable.from(bundle)));
    const signed = carrier.transfer.exportRun("r", sign);
    const there = createLab();
    const target = there.engine([], { execute: false });
    const report = await there.drive(target.transfer.importRuns(signed, { trust }));
    expect(report).toMatchObject({ imported: ["r"], review: [] });
  });
});

describe("answers that a run brings along", () => {
  it("do not count where nothing had come of them, whoever vouches for the bundle (X2)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.gate("used", { choices: ["yes"] });
      await ctx.step("log", () => calls.push("log"), { effect: "once" });
      await ctx.gate("unused", { choices: ["yes"] });
      await ctx.step("pay", () => calls.push("pay"), { effect: "once" });
    });
    const home = lab.engine([flow]);
    await lab.drive(home.start(flow, undefined, { id: "r" }));
    await lab.drive(home.settled("r"));
    await lab.drive(home.answer("r", "used", { choice: "yes", actor: "ada" }));
    await lab.drive(home.settled("r"));
    await lab.crash(home);
    await lab.clock.advance(20_000);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.answer("r", "unused", { choice: "yes", actor: "ada" }));
    const bundle = await linesOf(desk, "r");
    const there = createLab();
    await there.clock.advance(lab.clock.now());
    const engine = there.engine([flow]);
    await there.drive(engine.transfer.importRuns(Readable.from(bundle), { accept: { actor: "ops" } }));
    const { answers } = await there.drive(engine.transfer.review("r"));
    expect(answers).toEqual([{ gate: "used", choice: "yes", actor: "ada" }]);
    await there.drive(engine.recover());
    const run = await there.drive(engine.settled("r"));
    expect(run.waiting.map(({ kind, step }) => [kind, step])).toEqual([["gate", "unused"]]);
    expect(calls).toEqual(["log"]);
  });
});
