import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type HoldfastError, workflow } from "../../index.ts";

describe("a gate", () => {
  const asking = (options: object = {}) => {
    let before = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("before", () => ++before);
      const answer = await ctx.gate("approve", { show: { total: 5 }, choices: ["yes", "no"], ...options });
      return [answer.choice, answer.text, answer.actor, answer.timedOut];
    });
    return { flow, before: () => before };
  };

  it("waits for a person and keeps the answer, in another process too (S2-32)", async () => {
    const lab = createLab();
    const { flow, before } = asking({ text: true });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(engine.settled("r"))).waiting[0]).toMatchObject({
      kind: "gate",
      step: "approve",
    });
    await lab.crash(engine);
    const other = lab.engine([flow]);
    expect(await lab.drive(other.gates("r"))).toMatchObject([
      { gate: "approve", show: { total: 5 }, choices: ["yes", "no"], text: true },
    ]);
    await lab.drive(other.answer("r", "approve", { choice: "yes", text: "fine", actor: "ada" }));
    await lab.drive(other.recover());
    expect(await lab.drive(other.result("r"))).toEqual(["yes", "fine", "ada", false]);
    expect(before()).toBe(1);
  });

  it("takes one of fifty answers given at once; the others are told which", async () => {
    const lab = createLab();
    const { flow } = asking();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const answers = Array.from({ length: 50 }, (_, n) =>
      engine.answer("r", "approve", { choice: n % 2 ? "yes" : "no", actor: `p${n}` }),
    );
    const results = await lab.drive(Promise.allSettled(answers));
    const refused = results.filter((one) => one.status === "rejected");
    expect(refused).toHaveLength(49);
    expect(refused.every((one) => (one.reason as HoldfastError).code === "HF-1014")).toBe(true);
    await lab.drive(engine.result("r"));
  });

  it("refuses a choice it does not offer, text it does not take, and an answer to something else", async () => {
    const lab = createLab();
    const { flow } = asking();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const code = (answer: Parameters<typeof engine.answer>[2], gate = "approve") =>
      lab.drive(
        engine.answer("r", gate, answer).then(
          () => "taken",
          (error: HoldfastError) => error.code,
        ),
      );
    expect(await code({ choice: "maybe" })).toBe("HF-1015");
    expect(await code({ choice: "yes", text: "hm" })).toBe("HF-1003");
    expect(await code({ choice: "yes", digest: "of something else" })).toBe("HF-1016");
    expect(await code({ choice: "yes" }, "other")).toBe("HF-1013");
    expect((await engine.get("r"))?.status).toBe("waiting");
  });

  it("counts as answered by its default when nobody comes, and fails without one", async () => {
    const lab = createLab();
    const lenient = asking({ timeoutMs: 60_000, onTimeout: { choice: "no" } });
    const engine = lab.engine([lenient.flow]);
    const a = await lab.drive(engine.start(lenient.flow, undefined));
    expect(await lab.drive(engine.result(a.id))).toEqual(["no", undefined, "timeout", true]);
    const strict = asking({ timeoutMs: 60_000 });
    const b = await lab.drive(engine.start(strict.flow, undefined));
    await expect(lab.drive(engine.result(b.id))).rejects.toThrow("was not answered");
    await expect(lab.drive(engine.answer(b.id, "approve", { choice: "yes" }))).rejects.toMatchObject({
      code: "HF-2150",
    });
  });

  it("asks anew, and refuses the old answer, when what it shows has changed", async () => {
    const lab = createLab();
    let total = 1;
    const flow = workflow(
      "flow",
      async (ctx) => (await ctx.gate("approve", { show: total, choices: ["yes"] })).choice,
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const [old] = await lab.drive(engine.gates("r"));
    total = 2;
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    await expect(
      lab.drive(engine.answer("r", "approve", { choice: "yes", digest: old?.digest as string })),
    ).rejects.toMatchObject({ code: "HF-1016" });
    await lab.drive(engine.answer("r", "approve", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe("yes");
  });

  it("runs the steps before it once over twenty pauses", async () => {
    const lab = createLab();
    const counts = new Map<string, number>();
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 20; n++) {
        await ctx.step("work", ({ step }) => void counts.set(step, (counts.get(step) ?? 0) + 1));
        await ctx.gate("next", { choices: ["on"] });
      }
    });
    let engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    for (let n = 0; n < 20; n++) {
      await lab.drive(engine.settled("r"));
      const [gate] = await lab.drive(engine.gates("r"));
      await lab.crash(engine);
      engine = lab.engine([flow]);
      await lab.drive(engine.answer("r", gate?.gate as string, { choice: "on" }));
      await lab.drive(engine.recover());
    }
    await lab.drive(engine.result("r"));
    expect([...counts.values()]).toEqual(Array.from({ length: 20 }, () => 1));
  });
});

describe("a sleep", () => {
  it("ends at its time, across a crash, and is not slept twice", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const start = ctx.now();
      await ctx.sleep("night", 3_600_000);
      return ctx.now() - start;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const after = await lab.afterCrash(engine, [flow], "r");
    const slept = (await lab.drive(after.engine.result("r"))) as number;
    expect(slept).toBeGreaterThanOrEqual(3_600_000);
    expect(slept).toBeLessThan(3_602_000);
  });
});

describe("a timer", () => {
  it("goes by the store's clock, also when that is set back and forth while it runs", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.sleep("nap", 3_000));
    const engine = lab.engine([flow], { sweepMs: 10 });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    lab.clock.jump(-4 * 3_600_000);
    await lab.clock.advance(3_000);
    lab.clock.jump(4 * 3_600_000);
    await lab.clock.advance(6_000);
    expect((await engine.get("r"))?.status).toBe("completed");
  });
});

describe("a signal", () => {
  it("is kept when it comes before the wait", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.sleep("first", 60_000);
      return (await ctx.signal<string>("go")).payload;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.signal("r", "go", "early"));
    expect(await lab.drive(engine.result("r"))).toBe("early");
  });

  it("wakes the first of several waits, once each, in order", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const a = await ctx.signal("go", { or: ["stop"] });
      const b = await ctx.signal("go", { or: ["stop"] });
      return [a.name, a.payload, b.name, b.payload];
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.signal("r", "stop", 1));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.signal("r", "go", 2));
    expect(await lab.drive(engine.result("r"))).toEqual(["stop", 1, "go", 2]);
  });

  it("counts once however often it is delivered, and a reused id with other content is refused", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const first = await ctx.signal("go");
      const second = await ctx.signal("go", { timeoutMs: 60_000 }).catch(() => "none");
      return [first.payload, second];
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    for (let n = 0; n < 3; n++) await lab.drive(engine.signal("r", "go", 1, { id: "delivery-1" }));
    await expect(lab.drive(engine.signal("r", "go", 2, { id: "delivery-1" }))).rejects.toMatchObject({
      code: "HF-1020",
    });
    expect(await lab.drive(engine.result("r"))).toEqual([1, "none"]);
  });
});

describe("a child", () => {
  const leaf = workflow("leaf", (ctx, n: number) => ctx.step("work", () => n + 1));
  const middle = workflow("middle", async (ctx, n: number) => (await ctx.child("leaf", leaf, n)) + 1);
  const top = workflow("top", async (ctx, n: number) => (await ctx.child("middle", middle, n)) + 1);

  it("is a run of its own, three levels deep, and survives a crash of everything", async () => {
    const lab = createLab();
    const engine = lab.engine([top, middle, leaf]);
    await lab.drive(engine.start(top, 1, { id: "r" }));
    const after = await lab.afterCrash(engine, [top, middle, leaf], "r");
    expect(await lab.drive(after.engine.result("r"))).toBe(4);
    const { runs } = await lab.store.list({ limit: 10 });
    expect(runs.map((run) => [run.workflow, run.status])).toEqual(
      expect.arrayContaining([
        ["top", "completed"],
        ["middle", "completed"],
        ["leaf", "completed"],
      ]),
    );
    expect(runs).toHaveLength(3);
  });

  /** A parent that has failed because its child did; the cause is mended. */
  const failedFamily = async () => {
    const lab = createLab();
    let broken = true;
    const child = workflow("child", (ctx) =>
      ctx.step("work", () => (broken ? Promise.reject(new Error("broken")) : "well"), { retry: false }),
    );
    const parent = workflow("parent", (ctx) => ctx.child("child", child, undefined));
    const engine = lab.engine([parent, child]);
    await lab.drive(engine.start(parent, undefined, { id: "r" }));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("ended as failed");
    broken = false;
    return { lab, engine };
  };

  it("that fails is an error in its parent, and resuming the parent resumes it", async () => {
    const { lab, engine } = await failedFamily();
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("well");
  });

  it("that was resumed and finished by itself is not waited for in vain", async () => {
    const { lab, engine } = await failedFamily();
    const { runs } = await lab.store.list({ workflow: "child", limit: 1 });
    await lab.drive(engine.resume(runs[0]?.id as string));
    await lab.drive(engine.result(runs[0]?.id as string));
    await lab.clock.advance(10_000);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("well");
  });
});

describe("several waits at once", () => {
  it("leave the run waiting for what is left when one of them has ended", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const [, answer] = await ctx.all("both", [
        () => ctx.sleep("nap", 1_000),
        () => ctx.gate("ok", { choices: ["yes"] }),
      ]);
      return answer?.choice;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(5_000);
    const run = await engine.get("r");
    expect([run?.status, run?.waiting.map((wait) => wait.kind)]).toEqual(["waiting", ["gate"]]);
    await lab.drive(engine.answer("r", "both[1]/ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe("yes");
  });
});

describe("memory", () => {
  it("keeps the last attempt's write of a step that was tried again", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("work", ({ attempt }) => {
        ctx.memory.set("attempt", attempt);
        if (attempt < 3) throw new Error("again");
      });
      await ctx.sleep("long", 60_000);
      return ctx.memory.get("attempt");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe(3);
  });
});
