import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs, signalled } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

describe("pause", () => {
  it("lets the step under way finish, starts no other, and resume goes on from there (S0-03, S1-29)", async () => {
    const lab = createLab();
    const first = signalled<string>();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => (calls.push("a"), first.promise));
      return ctx.step("b", () => (calls.push("b"), "end"));
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    const pausing = await lab.drive(engine.pause("r", { actor: "ada", reason: "lunch" }));
    expect([pausing.status, pausing.control]).toEqual(["running", "pausing"]);
    first.resolve("done");
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    await lab.clock.advance(60_000);
    expect(calls).toEqual(["a"]);
    await lab.drive(engine.resume("r", { actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("end");
    expect(calls).toEqual(["a", "b"]);
  });

  it("is taken back by a resume while it is still pausing, and nothing is interrupted", async () => {
    const lab = createLab();
    const first = signalled<string>();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.all("both", [
        () => ctx.step("a", () => (calls.push("a"), first.promise), { effect: "once" }),
        async () => {
          for (let n = 0; n < 3; n++) await ctx.step("b", () => calls.push("b"));
        },
      ]);
      return "end";
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r"));
    first.resolve("done");
    expect(await lab.drive(engine.result("r"))).toBe("end");
    expect(calls.sort()).toEqual(["a", "b", "b", "b"]);
    expect((await engine.get("r"))?.claim.epoch).toBe(1);
  });

  it("holds when the worker dies while pausing", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", ({ attempt }) => (attempt === 1 ? hangs() : "a"));
      return "end";
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    await lab.drive(engine.pause("r"));
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(after.run.status).toBe("paused");
    await lab.drive(after.engine.resume("r"));
    expect(await lab.drive(after.engine.result("r"))).toBe("end");
  });

  it("takes effect at once on a run that waits, and the answer it waited for still counts", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => (await ctx.gate("ok", { choices: ["yes"] })).choice);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect((await lab.drive(engine.pause("r"))).status).toBe("paused");
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect((await engine.get("r"))?.status).toBe("paused");
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("yes");
  });

  it("and resume are harmless when said twice, and refused where they make no sense", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => (await ctx.gate("ok", { choices: ["yes"] })).choice);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect(await lab.drive(code(engine.resume("r")))).toBe("HF-1007");
    await lab.drive(Promise.all([engine.pause("r"), engine.pause("r"), engine.pause("r")]));
    await lab.drive(Promise.all([engine.resume("r"), engine.resume("r")]));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await lab.drive(engine.result("r"));
    expect(await lab.drive(code(engine.pause("r")))).toBe("HF-1007");
    expect(await lab.drive(code(engine.resume("r")))).toBe("HF-1007");
    expect(await lab.drive(code(engine.cancel("r")))).toBe("HF-1007");
    expect(await lab.drive(code(engine.signal("r", "x")))).toBe("HF-1007");
  });
});

describe("cancel", () => {
  it("raises the abort signal of the call under way, and nothing can overwrite it", async () => {
    const lab = createLab();
    const reply = signalled<string>();
    let signal: AbortSignal | undefined;
    const flow = workflow("flow", (ctx) =>
      ctx.step("mail", (call) => ((signal = call.signal), reply.promise), { effect: "once" }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    await lab.drive(engine.cancel("r", { actor: "ada", reason: "wrong batch" }));
    await lab.clock.advance(10);
    expect(signal?.aborted).toBe(true);
    reply.resolve("sent after all");
    await lab.clock.advance(60_000);
    expect((await engine.get("r"))?.status).toBe("cancelled");
    await expect(lab.drive(engine.result("r"))).rejects.toMatchObject({ code: "HF-2110" });
  });

  it("with compensation undoes finished steps in reverse order, also after a crash in between", async () => {
    const lab = createLab();
    const undone: string[] = [];
    let hung = false;
    const flow = workflow("flow", async (ctx) => {
      const undo = (name: string) => ({
        compensate: (value: string) =>
          name === "b" && !hung ? ((hung = true), hangs()) : void undone.push(`${name}:${value}`),
      });
      await ctx.step("a", () => "1", undo("a"));
      await ctx.step("b", () => "2", undo("b"));
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(1_000);
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(after.run.status).toBe("cancelled");
    expect(undone).toEqual(["b:2", "a:1"]);
  });
});

describe("a failing workflow", () => {
  it("undoes what it did when asked to, and is then final", async () => {
    const lab = createLab();
    const undone: string[] = [];
    const flow = workflow("saga", { compensateOnFailure: true }, async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
      await ctx.step("pay", () => Promise.reject(new Error("declined")), { retry: false });
    });
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("declined");
    expect(undone).toEqual(["seat"]);
    expect(await lab.drive(code(engine.resume(id)))).toBe("HF-1007");
  });
});

describe("calls that make no sense", () => {
  it("get a typed error and change nothing", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", () => 1));
    const other = workflow("other", () => 1);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(await lab.drive(code(engine.start(other, undefined, { id: "r" })))).toBe("HF-1002");
    expect(await lab.drive(code(engine.pause("nobody")))).toBe("HF-1001");
    expect(await lab.drive(code(engine.result("nobody")))).toBe("HF-1001");
    expect(await lab.drive(code(engine.start(flow, undefined, { id: "../etc" })))).toBe("HF-1004");
    expect(await lab.drive(code(engine.resolve("r", "s", { action: "done" })))).toBe("HF-1011");
    expect(() => workflow("a/b", () => 1)).toThrow("not a valid name");
    expect(() => lab.engine([flow], { claimMs: 0 })).toThrow("claimMs");
    await lab.drive(engine.close());
    expect(await lab.drive(code(engine.start(flow, undefined)))).toBe("HF-1008");
  });
});
