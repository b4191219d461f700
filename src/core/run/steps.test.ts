import { describe, expect, it } from "vitest";
import { createLab, hangs, signalled } from "../../../test/support/lab.ts";
import { type Effect, HoldfastError, type StepCall, type Workflow, workflow } from "../../index.ts";
import { buildEntry } from "../journal/journal.ts";
import type { Append } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

describe("a step", () => {
  it("gives the value its function returned, as a replay would see it", async () => {
    const lab = createLab();
    const value = { when: new Date(7), set: new Set([1]), gone: undefined, text: "x\u0000\ud800" };
    const flow = workflow("flow", (ctx) => ctx.step("make", () => value));
    const engine = lab.engine([flow]);
    const run = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(run.id))).toStrictEqual(value);
  });

  it("runs once, however often the run is started with its id (S1-25)", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("count", () => ++calls));
    const engine = lab.engine([flow]);
    await lab.drive(
      Promise.all(Array.from({ length: 20 }, () => engine.start(flow, undefined, { id: "one" }))),
    );
    expect(await lab.drive(engine.result("one"))).toBe(1);
    await lab.drive(engine.start(flow, undefined, { id: "one" }));
    expect(calls).toBe(1);
  });

  it("is not run again after a crash, and the unfinished one is (S1-18, S1-19)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      const a = await ctx.step("a", () => calls.push("a"));
      const b = await ctx.step("b", ({ attempt }) => (calls.push("b"), attempt === 1 ? hangs() : "done"));
      return [a, b];
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(after.run.status).toBe("completed");
    expect(await lab.drive(after.engine.result("r"))).toEqual([1, "done"]);
    expect(calls).toEqual(["a", "b", "b"]);
  });

  it("gives the second call of a name in one scope the address #2", async () => {
    const lab = createLab();
    const seen: string[] = [];
    const note = ({ step }: StepCall) => void seen.push(step);
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("same", note);
      await ctx.step("same", note);
      await ctx.step("outer", async () => {
        await ctx.step("same", note);
        await ctx.step("same", note);
      });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.result((await lab.drive(engine.start(flow, undefined))).id));
    expect(seen).toEqual(["same", "same#2", "outer/same", "outer/same#2"]);
  });

  it("hands the same idempotency key to every attempt, also after a crash, and another one to every other step (S1-10, S1-17, S1-27)", async () => {
    const lab = createLab();
    const keys: Record<string, string[]> = {};
    const keep = (call: StepCall) => void (keys[call.step] ??= []).push(call.key);
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("pay", (call) => (keep(call), call.attempt < 3 ? hangs() : 1), { effect: "keyed" });
      await ctx.step("mail", keep, { effect: "keyed" });
    });
    let engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    for (let crash = 0; crash < 2; crash++) ({ engine } = await crashed(lab, engine, flow));
    await lab.drive(engine.result("r"));
    expect(new Set(keys["pay"])).toHaveLength(1);
    expect(keys["pay"]).toHaveLength(3);
    expect(keys["mail"]?.[0]).not.toBe(keys["pay"]?.[0]);
  });

  it("can be begun, completed and failed by code that owns its control flow", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      let handle = await ctx.beginStep<string>("ask", { retry: { attempts: 2, baseMs: 1 } });
      while (!handle.done) {
        if (handle.attempt === 1) handle = await ctx.failStep(handle, new Error("busy"));
        else return ctx.completeStep(handle, `answer ${handle.attempt}`);
      }
      return handle.value;
    });
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(id))).toBe("answer 2");
  });

  it("refuses a value that cannot be saved, with its path, and does not try again", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("bad", () => (calls++, { list: [1, { fn: () => 1 }] }) as unknown),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    const error = await lab.drive(engine.result(id)).catch((thrown: HoldfastError) => thrown);
    expect((error as HoldfastError).message).toContain("$.list[1].fn");
    expect(calls).toBe(1);
  });

  it("refuses steps inside a step that may not be repeated", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.step("mail", () => ctx.step("inner", () => 1), { effect: "once" }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("inside mail");
  });
});

type Lab = ReturnType<typeof createLab>;
type AnyWorkflow = Workflow<undefined, unknown>;

async function crashed(lab: Lab, engine: ReturnType<Lab["engine"]>, flow: AnyWorkflow) {
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  const next = lab.engine([flow]);
  await lab.drive(next.recover());
  await lab.clock.advance(100);
  return { engine: next };
}

describe("a step whose outcome is unknown", () => {
  const interrupted = (effect: Effect, extra: object = {}) => {
    const calls: StepCall[] = [];
    const flow = workflow("flow", async (ctx, _: undefined) =>
      ctx.step("act", (call) => (calls.push(call), calls.length === 1 ? hangs() : `call ${calls.length}`), {
        effect,
        ...extra,
      }),
    );
    return { flow: flow as AnyWorkflow, calls };
  };
  const start = async (lab: Lab, flow: AnyWorkflow) => {
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    return engine;
  };

  it("is called again when it is repeatable", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("repeatable");
    const { run } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(run.status).toBe("completed");
    expect(calls).toHaveLength(2);
  });

  it("is called again with the same key when it is keyed", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("keyed", { input: { amount: 5 } });
    const { run } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(run.status).toBe("completed");
    expect(calls[0]?.key).toBe(calls[1]?.key);
  });

  it("waits for a decision when it is keyed and the receiver may have forgotten the key (S1-68)", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("keyed", { keyWindowMs: 15_000 });
    const { run } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(run.waiting[0]?.kind).toBe("decision");
    expect(calls).toHaveLength(1);
  });

  it("waits for a decision when it is keyed and its arguments have changed", async () => {
    const lab = createLab();
    let amount = 5;
    const flow = workflow("flow", (ctx) =>
      ctx.step("pay", () => hangs(), { effect: "keyed", input: { amount: amount++ } }),
    ) as AnyWorkflow;
    const { run } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(run.waiting[0]).toMatchObject({ kind: "decision", step: "pay" });
  });

  it("is never called again by itself when it is once (S1-20)", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("once");
    let { engine, run } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(run.waiting[0]).toMatchObject({ kind: "decision", step: "act" });
    for (let restart = 0; restart < 3; restart++)
      ({ engine, run } = await lab.afterCrash(engine, [flow], "r"));
    expect(run.waiting[0]?.kind).toBe("decision");
    expect(calls).toHaveLength(1);
  });

  it("is settled by its verify hook", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("once", { verify: () => ({ status: "done", value: "found it" }) });
    const { engine } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(await lab.drive(engine.result("r"))).toBe("found it");
    expect(calls).toHaveLength(1);
  });

  it("is called again when its verify hook says that it was not done", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("once", { verify: () => ({ status: "not-done" }) });
    const { engine } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(await lab.drive(engine.result("r"))).toBe("call 2");
    expect(calls).toHaveLength(2);
  });

  it("waits for a decision when its verify hook throws", async () => {
    const lab = createLab();
    const verify = () => {
      throw new Error("bank is down");
    };
    const { flow, calls } = interrupted("once", { verify });
    const { run } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    expect(run.waiting[0]?.kind).toBe("decision");
    expect(calls).toHaveLength(1);
  });

  it("goes on with the result a person gives", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("once");
    const { engine } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    await lab.drive(
      engine.resolve("r", "act", {
        action: "done",
        value: "paid",
        actor: "ada",
        reason: "saw it in the bank",
      }),
    );
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(calls).toHaveLength(1);
    await expect(lab.drive(engine.resolve("r", "act", { action: "done" }))).rejects.toMatchObject({
      code: "HF-1011",
    });
  });

  it("fails when a person says so", async () => {
    const lab = createLab();
    const { flow } = interrupted("once");
    const { engine } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    await lab.drive(engine.resolve("r", "act", { action: "failed", error: new Error("bounced") }));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("bounced");
  });

  it("fails for good when a person says so again after the run was resumed", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("once");
    const { engine } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    const failed = { action: "failed", error: new Error("bounced") } as const;
    await lab.drive(engine.resolve("r", "act", failed));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("bounced");
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ waiting: [{ kind: "decision" }] });
    await lab.drive(engine.resolve("r", "act", failed));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "failed" });
    expect(calls).toHaveLength(1);
  });

  it("runs again when a person says so, but not while its first worker may still be alive", async () => {
    const lab = createLab();
    const { flow, calls } = interrupted("once", { timeoutMs: 60_000 });
    const { engine } = await lab.afterCrash(await start(lab, flow), [flow], "r");
    await expect(lab.drive(engine.resolve("r", "act", { action: "rerun" }))).rejects.toMatchObject({
      code: "HF-1012",
    });
    await lab.clock.advance(70_000);
    await lab.drive(engine.resolve("r", "act", { action: "rerun" }));
    expect(await lab.drive(engine.result("r"))).toBe("call 2");
    expect(calls).toHaveLength(2);
  });

  it("is settled by the late outcome of the worker that lost the run", async () => {
    const lab = createLab();
    const reply = signalled<string>();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("mail", () => (calls++, reply.promise), { effect: "once" }),
    ) as AnyWorkflow;
    const frozen = await start(lab, flow);
    // A second engine takes the run over, as after a long stall of the first.
    const row = await lab.store.read("r");
    await lab.store.append([takeOver(row)]);
    const other = lab.engine([flow]);
    await lab.clock.advance(20_000);
    await lab.drive(other.recover());
    expect((await lab.drive(other.settled("r"))).waiting[0]?.kind).toBe("decision");
    reply.resolve("sent");
    expect(await lab.drive(other.result("r"))).toBe("sent");
    expect(calls).toBe(1);
    await lab.crash(frozen);
  });
  it("is settled by a result that its worker could not write any more", async () => {
    const lab = createLab();
    const reply = signalled<string>();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("mail", () => (calls++, reply.promise), { effect: "once" }),
    ) as AnyWorkflow;
    const frozen = await start(lab, flow);
    await lab.store.append([takeOver(await lab.store.read("r"))]);
    // The worker does not know yet that it has lost the run: its write is refused.
    reply.resolve("sent");
    await lab.clock.settle();
    const other = lab.engine([flow]);
    await lab.drive(other.recover());
    expect(await lab.drive(other.result("r"))).toBe("sent");
    expect(calls).toBe(1);
    await lab.crash(frozen);
  });
});

/** An append that takes the claim away, as a takeover after its expiry does. */
function takeOver(row: RunRow | null): Append {
  if (!row) throw new Error("no run");
  const at = row.updatedAt;
  const events = [{ kind: "run_released", step: "", meta: {} }] as const;
  const { entry, head } = buildEntry(events, {
    prev: row.head,
    seq: row.seq + 1,
    at,
    epoch: row.claim.epoch + 1,
  });
  const run = { ...row, status: "queued", wakeAt: at } as const;
  return {
    run,
    expect: { seq: row.seq, epoch: row.claim.epoch, token: null },
    claim: { kind: "revoke" },
    entries: [entry],
    head,
    blobs: [],
  };
}

describe("a step's value", () => {
  it("may look like the engine's own reference to a long text", async () => {
    const lab = createLab();
    const value = ["Blob", "x".repeat(43), { $: ["Blob", "y".repeat(43)] }];
    const flow = workflow("flow", async (ctx) => {
      const made = await ctx.step("make", () => value);
      await ctx.gate("then", { choices: ["on"] });
      return made;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    await lab.drive(next.answer("r", "then", { choice: "on" }));
    expect(await lab.drive(next.result("r"))).toEqual(value);
  });
});

describe("a failing step", () => {
  it("with a retry policy that makes no sense is told so before it is called", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("a", () => void calls++, { retry: -1 }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("failed");
    expect(calls).toBe(0);
  });

  it("is retried with growing pauses, and the run sees only the success (S1-30, S3-33)", async () => {
    const lab = createLab();
    const at: number[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.step("flaky", ({ attempt }) => {
        at.push(lab.clock.monotonic());
        if (attempt < 3) throw new Error("busy");
        return attempt;
      }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(id))).toBe(3);
    expect(at).toHaveLength(3);
  });

  it("waits as long as the receiver asks, also across a crash (S3-33)", async () => {
    const lab = createLab();
    const at: number[] = [];
    const flow = workflow("flow", (ctx, _: undefined) =>
      ctx.step("limited", ({ attempt }) => {
        at.push(lab.clock.monotonic());
        if (attempt === 1) throw Object.assign(new Error("429"), { status: 429, retryAfterMs: 90_000 });
        return "through";
      }),
    ) as AnyWorkflow;
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(engine.settled("r"))).waiting[0]).toMatchObject({
      kind: "retry",
      step: "limited",
    });
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toBe("through");
    expect((at[1] as number) - (at[0] as number)).toBeGreaterThanOrEqual(90_000);
    expect(at).toHaveLength(2);
  });

  it("gives up when the receiver asks for more than the policy allows, and can be resumed later", async () => {
    const lab = createLab();
    let open = false;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("paid", () => "kept");
      return ctx.step("limited", () => {
        if (!open) throw Object.assign(new Error("429"), { status: 429, retryAfterMs: 600_000 });
        return "through";
      });
    });
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toMatchObject({ code: "HF-2101" });
    open = true;
    await lab.drive(engine.resume(id, { actor: "ada" }));
    expect(await lab.drive(engine.result(id))).toBe("through");
  });

  it("throws into the workflow, the same live and after a crash, and a handled failure is not reopened", async () => {
    const lab = createLab();
    const seen: unknown[] = [];
    let bCalls = 0;
    let cFails = true;
    const flow = workflow("flow", async (ctx, _: undefined) => {
      await ctx
        .step(
          "a",
          () =>
            Promise.reject(Object.assign(new RangeError("no"), { code: "E_A", cause: new Error("deep") })),
          { retry: false },
        )
        .catch((error: Error) => {
          seen.push([
            error.name,
            error.message,
            (error as { code?: string }).code,
            (error.cause as Error).message,
          ]);
        });
      await ctx.step("b", () => ++bCalls);
      return ctx.step("c", () => (cFails ? Promise.reject(new Error("c fails")) : "fine"), { retry: false });
    }) as AnyWorkflow;
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("c fails");
    cFails = false;
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("fine");
    expect(seen).toEqual([
      ["RangeError", "no", "E_A", "deep"],
      ["RangeError", "no", "E_A", "deep"],
    ]);
    expect(bCalls).toBe(1);
  });

  it("is not called again by itself when it is once and may have happened", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("mail", () => (calls++, Promise.reject(new Error("connection reset"))), { effect: "once" }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    // A failure that may have happened is unknown at once (A1), not only when the run is resumed.
    expect((await lab.drive(engine.settled(id))).waiting[0]).toMatchObject({
      kind: "decision",
      step: "mail",
      detail: "mail threw, and it is unknown whether it happened: connection reset",
    });
    expect(calls).toBe(1);
  });

  it("contains what is thrown when it is not an Error", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.step("odd", () => Promise.reject({ reason: "just an object" }), { retry: false }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("Something other than an Error was thrown");
  });

  it("ends at its time limit with its signal raised, and a late result is not used", async () => {
    const lab = createLab();
    const late = signalled<string>();
    let signal: AbortSignal | undefined;
    const flow = workflow("flow", (ctx) =>
      ctx.step("slow", (call) => ((signal = call.signal), late.promise), { timeoutMs: 1_000, retry: false }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("within 1000 ms");
    expect(signal?.aborted).toBe(true);
    late.resolve("too late");
    await lab.clock.advance(1_000);
    expect((await engine.get(id))?.status).toBe("failed");
  });

  it("is tried again after its time limit when it may be repeated", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.step("slow", ({ attempt }) => (attempt === 1 ? hangs() : "quick"), { timeoutMs: 1_000 }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(id))).toBe("quick");
  });

  it("is in doubt, not failed, when it is once and ran out of time", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.step("mail", () => hangs(), { effect: "once", timeoutMs: 1_000 }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect((await lab.drive(engine.settled(id))).waiting[0]).toMatchObject({
      kind: "decision",
      step: "mail",
    });
  });

  it("is in doubt when it is once and says itself that its answer was lost, and is tried again when it may be", async () => {
    const lab = createLab();
    const lost = () => Promise.reject(new HoldfastError("HF-2140", { message: "the line broke" }));
    const flow = workflow("flow", async (ctx) => {
      const read = await ctx.step("read", ({ attempt }) => (attempt === 1 ? lost() : "read"));
      return ctx.step("mail", () => (read === "read" ? lost() : read), { effect: "once", retry: 5 });
    });
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect((await lab.drive(engine.settled(id))).waiting).toMatchObject([{ kind: "decision", step: "mail" }]);
    await lab.drive(engine.resolve(id, "mail", { action: "done", value: "was sent" }));
    expect(await lab.drive(engine.result(id))).toBe("was sent");
  });
});
