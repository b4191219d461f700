import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import {
  type Answer,
  type Engine,
  type GateOptions,
  HoldfastError,
  type Run,
  workflow,
} from "../../index.ts";
import type { Append } from "../store/contract.ts";

/** A run at its gate. */
async function atGate(options: Partial<GateOptions> = {}) {
  const lab = createLab();
  const flow = workflow("flow", async (ctx) => {
    const { choice, timedOut } = await ctx.gate("ok", { choices: ["yes", "no"], ...options });
    return { choice, timedOut };
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return { lab, engine, flow };
}

/** What an answer is told, and that it has changed nothing. */
async function refusal(lab: Lab, engine: Engine, answer: unknown, gate = "ok", id = "r") {
  const before = await engine.get(id);
  const error = await lab.drive(engine.answer(id, gate, answer as Answer)).catch((thrown: unknown) => thrown);
  expect(await engine.get(id)).toEqual(before);
  if (!HoldfastError.is(error)) return error;
  for (const part of [error.message, error.why, error.safe, error.fix]) expect(part).not.toBe("");
  return error.code;
}

describe("the choices of a gate", () => {
  it("say what they lead to, if the workflow says so", async () => {
    const { engine } = await atGate({ means: { yes: "The order is sent." } });
    expect(await engine.gates("r")).toMatchObject([{ means: { yes: "The order is sent." } }]);
    const plain = await atGate();
    expect(await plain.engine.gates("r")).toMatchObject([{ means: {} }]);
  });

  it("are the only ones that a meaning can be given to", async () => {
    for (const means of [{ maybe: "?" }, { yes: "" }, { yes: 1 }, "yes"]) {
      const { engine } = await atGate({ means: means as never });
      expect(await engine.get("r")).toMatchObject({
        status: "failed",
        error: expect.stringContaining("means"),
      });
    }
  });
});

describe("an answer to a gate", () => {
  it("of a wrong shape or choice, or to no gate, is refused with the reason, and the run is as it was", async () => {
    const { lab, engine } = await atGate();
    const cases: [unknown, string][] = [
      [undefined, "HF-1003"],
      ["yes", "HF-1003"],
      [{}, "HF-1003"],
      [{ choice: 1 }, "HF-1003"],
      [{ choice: ["yes"] }, "HF-1003"],
      [{ choice: "maybe" }, "HF-1015"],
      [{ choice: "YES" }, "HF-1015"],
      [{ choice: "yes", text: "not asked for" }, "HF-1003"],
      [{ choice: "yes", text: { deep: 1 } }, "HF-1003"],
      [{ choice: "yes", actor: 7 }, "HF-1003"],
      [{ choice: "yes", reason: "x".repeat(5_000) }, "HF-1003"],
      [{ choice: "yes", id: {} }, "HF-1003"],
      [{ choice: "yes", digest: "of something else" }, "HF-1016"],
    ];
    for (const [answer, expected] of cases) expect(await refusal(lab, engine, answer)).toBe(expected);
    expect(await refusal(lab, engine, { choice: "yes" }, "other")).toBe("HF-1013");
    expect(await lab.drive(code(engine.answer("nobody", "ok", { choice: "yes" })))).toBe("HF-1001");
  });

  it("is refused before the gate is opened and taken right after", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.sleep("nap", 60_000);
      return (await ctx.gate("ok", { choices: ["yes"] })).choice;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect(await refusal(lab, engine, { choice: "yes" })).toBe("HF-1013");
    await lab.clock.advance(61_000);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe("yes");
  });

  it("is told who was first, also after the run has ended", async () => {
    const { lab, engine } = await atGate();
    await lab.drive(engine.answer("r", "ok", { choice: "no", actor: "ada" }));
    await lab.drive(engine.result("r"));
    await expect(lab.drive(engine.answer("r", "ok", { choice: "yes", actor: "ben" }))).rejects.toMatchObject({
      code: "HF-1014",
      message: "Gate ok of run r was already answered: no.",
      why: expect.stringContaining("ada gave it at "),
    });
  });

  it("comes too late from the very moment it expires, whether or not a worker has noticed", async () => {
    const { lab, engine, flow } = await atGate({ timeoutMs: 60_000 });
    const until = (await lab.drive(engine.gates("r")))[0]?.until ?? 0;
    await lab.crash(engine);
    const desk = lab.engine([], { execute: false });
    await lab.clock.advance(until - 1 - lab.clock.now());
    expect(await refusal(lab, desk, { choice: "maybe" })).toBe("HF-1015");
    await lab.clock.advance(1);
    expect(await refusal(lab, desk, { choice: "yes" })).toBe("HF-2150");
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    expect((await lab.drive(next.settled("r"))).status).toBe("failed");
    expect(await refusal(lab, next, { choice: "yes" })).toBe("HF-2150");
    // A failed run that is resumed asks again, with all its time.
    await lab.drive(next.resume("r"));
    await lab.drive(next.settled("r"));
    await lab.drive(next.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(next.result("r"))).toEqual({ choice: "yes", timedOut: false });
  });

  it("is told what counts as given when nobody came", async () => {
    const { lab, engine } = await atGate({ timeoutMs: 60_000, onTimeout: { choice: "no" } });
    await lab.clock.advance(61_000);
    expect(await lab.drive(engine.result("r"))).toEqual({ choice: "no", timedOut: true });
    await expect(lab.drive(engine.answer("r", "ok", { choice: "yes" }))).rejects.toMatchObject({
      code: "HF-2150",
      why: "Nobody had answered it by then. What counts as given is no.",
      safe: "This answer wasn't used.",
    });
  });

  it("cannot come in time during a pause that outlasts the gate", async () => {
    const { lab, engine } = await atGate({ timeoutMs: 60_000, onTimeout: { choice: "no" } });
    await lab.drive(engine.pause("r"));
    await lab.clock.advance(61_000);
    expect((await engine.get("r"))?.status).toBe("paused");
    expect(await refusal(lab, engine, { choice: "yes" })).toBe("HF-2150");
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toEqual({ choice: "no", timedOut: true });
  });

  it("to a gate of a cancelled run is refused, with the reason", async () => {
    const { lab, engine } = await atGate();
    await lab.drive(engine.cancel("r"));
    await expect(lab.drive(engine.answer("r", "ok", { choice: "yes" }))).rejects.toMatchObject({
      code: "HF-1013",
      why: "The run has ended.",
    });
  });
});

describe("a gate", () => {
  it.each([
    { choices: [] },
    { choices: ["yes", ""] },
    { choices: "yes" },
    { timeoutMs: Number.NaN },
    { timeoutMs: -1 },
    { timeoutMs: "soon" },
    { onTimeout: "escalate" },
    { onTimeout: { choice: "later" } },
  ])("is not opened with %o", async (options) => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.gate("ok", { choices: ["yes"], ...(options as object) }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await expect(lab.drive(engine.result("r"))).rejects.toMatchObject({ cause: { code: "HF-1003" } });
  });
});

describe("an approval that is given while it is asked for again with other arguments", () => {
  it("does not count: what is called is what a person has seen", async () => {
    const lab = createLab();
    const calls: unknown[] = [];
    let amount = 5;
    const flow = workflow("flow", (ctx) =>
      ctx.step("pay", () => void calls.push(amount), { effect: "once", input: { amount } }),
    );
    const policy = { version: "1", decide: () => ({ ask: "It costs money." }) };
    const first = lab.engine([flow], { policy });
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.drive(first.settled("r"));
    await lab.crash(first);
    await lab.clock.advance(20_000);
    amount = 50;
    const desk = lab.engine([], { execute: false });
    // The answer comes in right before the question is put anew.
    let isAnswered = false;
    const isAskedAnew = ({ entries }: Append) => entries.some(({ head }) => head.includes("approve:pay"));
    const store = {
      ...lab.store,
      append: async (batch: readonly Append[]) => {
        if (!isAnswered && batch.some(isAskedAnew)) {
          isAnswered = true;
          await desk.answer("r", "approve:pay", { choice: "approve", actor: "ada" });
        }
        return lab.store.append(batch);
      },
    };
    const next = lab.engine([flow], { policy, store });
    await lab.drive(desk.pause("r"));
    await lab.drive(next.resume("r"));
    const run: Run = await lab.drive(next.settled("r"));
    expect([isAnswered, calls, run.waiting.map(({ kind, step }) => [kind, step])]).toEqual([
      true,
      [],
      [["gate", "approve:pay"]],
    ]);
    await lab.drive(next.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
    await lab.drive(next.result("r"));
    expect(calls).toEqual([50]);
  });
});

describe("a signal", () => {
  it.each([0, 10, 990, 999, 1_000, 1_500])(
    "that another process sends %i ms after the wait began is taken exactly once, or stays in the mailbox",
    async (after) => {
      const lab = createLab();
      const flow = workflow("flow", async (ctx) => {
        const came = await ctx.signal("go", { timeoutMs: 1_000 }).then(
          () => 1,
          () => 0,
        );
        await ctx.sleep("nap", 3_000);
        return [came, (await ctx.inbox("go")).length];
      });
      const engine = lab.engine([flow], { holdMs: 60_000 });
      const desk = lab.engine([], { execute: false });
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(after);
      const sent = desk.signal("r", "go");
      await lab.clock.advance(10_000);
      await sent;
      const [came = 0, left = 0] = await lab.drive(engine.result<number[]>("r"));
      expect(came + left).toBe(1);
      // The wait began a few ms after the start.
      if (after < 990) expect(came).toBe(1);
      if (after > 1_100) expect(came).toBe(0);
    },
  );
});
