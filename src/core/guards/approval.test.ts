import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import {
  type Engine,
  type EngineOptions,
  HoldfastError,
  type Policy,
  type PolicyVerdict,
  type Workflow,
  workflow,
} from "../../index.ts";
import { buildEntry, parseEntry } from "../journal/journal.ts";
import { encode } from "../values/codec.ts";

const asking = (version = "1", verdict: PolicyVerdict = { ask: "It costs money." }): Policy => ({
  version,
  decide: ({ effect }) => (effect === "repeatable" ? "allow" : verdict),
});

/** A flow with one call that a person must agree to; what it is called with can be changed. */
function paying(effect: "keyed" | "once" = "once") {
  const calls: unknown[] = [];
  const world = { amount: 5, work: (_attempt: number): unknown => "paid" };
  const flow = workflow("paying", async (ctx) => {
    await ctx.step("before", () => 1);
    const input = { amount: world.amount };
    return ctx.step("pay", ({ attempt }) => (calls.push(input.amount), world.work(attempt)), {
      effect,
      input,
      retry: { attempts: 2, baseMs: 1 },
    });
  });
  return { flow, calls, world };
}

async function asked(lab: Lab, engine: Engine, runId = "r") {
  await lab.drive(engine.settled(runId));
  const [gate] = await lab.drive(engine.gates(runId));
  return gate;
}

async function start(lab: Lab, flow: Workflow<never, unknown>, policy: Policy, id = "r") {
  const engine = lab.engine([flow], { policy });
  await lab.drive(engine.start(flow as Workflow, undefined, { id }));
  return engine;
}

/** Lets the engine die, answers from a process that advances nothing, and goes on in another. */
async function answerBetween(
  lab: Lab,
  engine: Engine,
  flow: Workflow<never, unknown>,
  options: Partial<EngineOptions>,
) {
  await lab.crash(engine);
  const desk = lab.engine([], { execute: false });
  await lab.drive(desk.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
  await lab.clock.advance(20_000);
  const next = lab.engine([flow], options);
  await lab.drive(next.recover());
  return next;
}

describe("an approval", () => {
  it("shows the call, and lets it be made once somebody agrees", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking("4"));
    const gate = await asked(lab, engine);
    expect(gate).toMatchObject({
      gate: "approve:pay",
      choices: ["approve", "deny"],
      show: {
        run: "r",
        step: "pay",
        effect: "once",
        input: { amount: 5 },
        policy: "4",
        reason: "It costs money.",
      },
    });
    expect(calls).toEqual([]);
    const given = await lab.drive(engine.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
    expect(given).toMatchObject({ choice: "approve", actor: "ada" });
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(calls).toEqual([5]);
  });

  it("that is refused fails the step, and the workflow may handle that, the same on every replay", async () => {
    const lab = createLab();
    let handled = 0;
    const flow = workflow("flow", async (ctx) => {
      try {
        await ctx.step("pay", () => "paid", { effect: "once" });
      } catch (error) {
        if (HoldfastError.is(error, "HF-2116")) handled++;
        await ctx.step("instead", ({ attempt }) => (attempt === 1 ? hangs() : 1));
        return (error as HoldfastError).message;
      }
      return "paid";
    });
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "deny", actor: "ada", text: "Too much." }));
    await lab.clock.advance(100);
    // In the next process there is no policy that would say no.
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(next.result("r"))).toBe("pay may not run: ada said no. Too much.");
    expect(handled).toBe(2);
  });

  it("that is refused leaves nothing in doubt: a resume asks anew", async () => {
    const lab = createLab();
    const { flow, calls } = paying("once");
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "deny" }));
    expect((await lab.drive(engine.settled("r"))).error).toContain("may not run");
    await lab.drive(engine.resume("r"));
    expect(await asked(lab, engine)).toMatchObject({ gate: "approve:pay##2" });
    await lab.drive(engine.answer("r", "approve:pay##2", { choice: "approve" }));
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(calls).toEqual([5]);
  });

  it("that nobody gives in time is refused", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking("1", { ask: "?", timeoutMs: 60_000 }));
    const gate = await asked(lab, engine);
    expect(gate?.until).not.toBeNull();
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("Nobody answered in time.");
    expect(calls).toEqual([]);
  });

  it("is taken once, of fifty at the same time too, and never for something else", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    expect(
      await lab.drive(code(engine.answer("r", "approve:pay", { choice: "approve", digest: "another" }))),
    ).toBe("HF-1016");
    expect(await lab.drive(code(engine.answer("r", "approve:pay", { choice: "maybe" })))).toBe("HF-1015");
    const answers = Array.from({ length: 50 }, (_, n) =>
      code(engine.answer("r", "approve:pay", { choice: "approve", actor: `p${n}` })),
    );
    const results = await lab.drive(Promise.all(answers));
    expect(results.filter((one) => one === "taken")).toHaveLength(1);
    expect(results.filter((one) => one === "HF-1014")).toHaveLength(49);
    await lab.drive(engine.result("r"));
    expect(calls).toEqual([5]);
  });

  it("given just before a crash is not asked for twice", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    const next = await answerBetween(lab, engine, flow, { policy: asking() });
    expect(await lab.drive(next.result("r"))).toBe("paid");
    expect(calls).toEqual([5]);
  });

  it("is void when the arguments have changed, and the old answer's digest is refused", async () => {
    const lab = createLab();
    const { flow, calls, world } = paying();
    const engine = await start(lab, flow, asking());
    const first = await asked(lab, engine);
    world.amount = 5_000;
    const next = await answerBetween(lab, engine, flow, { policy: asking() });
    const second = await asked(lab, next);
    expect(second).toMatchObject({ gate: "approve:pay", show: { input: { amount: 5_000 } } });
    const old = { choice: "approve", digest: first?.digest ?? "" };
    expect(await lab.drive(code(next.answer("r", "approve:pay", old)))).toBe("HF-1016");
    expect(calls).toEqual([]);
    await lab.drive(next.answer("r", "approve:pay", { choice: "approve", digest: second?.digest ?? "" }));
    expect(await lab.drive(next.result("r"))).toBe("paid");
    expect(calls).toEqual([5_000]);
  });

  it("is void under another version of the policy", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking("1"));
    await asked(lab, engine);
    const next = await answerBetween(lab, engine, flow, { policy: asking("2") });
    expect(await asked(lab, next)).toMatchObject({ gate: "approve:pay", show: { policy: "2" } });
    expect(calls).toEqual([]);
  });

  it("is void in a fork: it was given for another run", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.crash(engine);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.answer("r", "approve:pay", { choice: "approve" }));
    const { seq } = (await desk.get("r")) ?? { seq: 0 };
    const next = lab.engine([flow], { policy: asking() });
    await lab.drive(next.fork(`r@${seq}`, { id: "f", effects: "allow" }));
    expect(await asked(lab, next, "f")).toMatchObject({ gate: "approve:pay", show: { run: "f" } });
    await lab.drive(next.answer("f", "approve:pay", { choice: "approve" }));
    expect(await lab.drive(next.result("f"))).toBe("paid");
    await lab.drive(next.result("r"));
    expect(calls).toEqual([5, 5]);
  });

  it("is void when the version changes while a person thinks", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const policy = { ...asking("1") };
    const engine = await start(lab, flow, policy);
    await lab.clock.advance(50);
    policy.version = "2";
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve" }));
    expect(await asked(lab, engine)).toMatchObject({ show: { policy: "2" } });
    expect(calls).toEqual([]);
  });

  it("is used up by one attempt: a retry is asked about anew", async () => {
    const lab = createLab();
    const { flow, calls, world } = paying("keyed");
    world.work = (attempt) => (attempt === 1 ? Promise.reject(new Error("timeout")) : "paid");
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve" }));
    expect(await asked(lab, engine)).toMatchObject({ gate: "approve:pay##2" });
    expect(await lab.drive(code(engine.answer("r", "approve:pay", { choice: "approve" })))).toBe("HF-1014");
    expect(calls).toEqual([5]);
    await lab.drive(engine.answer("r", "approve:pay##2", { choice: "approve" }));
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(calls).toEqual([5, 5]);
  });

  it("does not lead to a second call when the first is in doubt", async () => {
    const lab = createLab();
    const { flow, calls, world } = paying("once");
    world.work = () => hangs();
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve" }));
    await lab.clock.advance(100);
    expect(calls).toEqual([5]);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow], { policy: asking() });
    await lab.drive(next.recover());
    const run = await lab.drive(next.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "decision", step: "pay" }]);
    expect(await lab.drive(next.gates("r"))).toEqual([]);
    expect(calls).toEqual([5]);
  });

  it("belongs to one of two calls of the same name side by side, whatever their attempts", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", (ctx) => {
      const pay = (who: string) =>
        ctx.step(
          "pay",
          ({ attempt }) => {
            calls.push(`${who} ${attempt}`);
            return who === "a" && attempt === 1 ? Promise.reject(new Error("again")) : who;
          },
          { effect: "keyed", input: who, retry: { attempts: 2, baseMs: 1 } },
        );
      return Promise.all([pay("a"), pay("b")]);
    });
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    const open = async () => (await lab.drive(engine.gates("r"))).map(({ gate }) => gate).sort();
    expect(await open()).toEqual(["approve:pay", "approve:pay#2"]);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve" }));
    await asked(lab, engine);
    expect(await open()).toEqual(["approve:pay##2", "approve:pay#2"]);
    await lab.drive(engine.answer("r", "approve:pay##2", { choice: "approve" }));
    await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay#2", { choice: "approve" }));
    expect(await lab.drive(engine.result("r"))).toEqual(["a", "b"]);
    expect(calls).toEqual(["a 1", "a 2", "b 1"]);
  });

  it("that is refused while the run is told to pause is recorded after the pause", async () => {
    const lab = createLab();
    const other = signalled();
    const flow = workflow("flow", async (ctx) => {
      await Promise.all([
        ctx.step("pay", () => "paid", { effect: "once" }),
        ctx.step("other", () => other.promise),
      ]);
    });
    const engine = await start(lab, flow, asking());
    await lab.clock.advance(50);
    expect((await lab.drive(engine.pause("r"))).control).toBe("pausing");
    await lab.drive(engine.answer("r", "approve:pay", { choice: "deny" }));
    await lab.clock.advance(1_000);
    const isStarted = async () =>
      (await lab.store.entries("r", { from: 1, limit: 99 })).some(({ head }) => head.includes('","pay"'));
    expect(await isStarted()).toBe(false);
    other.resolve();
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    expect(await isStarted()).toBe(false);
    await lab.drive(engine.resume("r"));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("may not run");
  });

  it("is recorded with its refusal in one write, which a pause holds back", async () => {
    const lab = createLab();
    const { flow } = paying();
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.answer("r", "approve:pay", { choice: "deny" }));
    expect((await engine.get("r"))?.status).toBe("paused");
    await lab.drive(engine.resume("r"));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("may not run");
    const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
    const denied = entries.filter(({ head }) => head.includes('"step_started","pay"'));
    expect(denied).toHaveLength(1);
    expect(denied[0]?.head).toContain('"step_failed","pay"');
  });

  it("is void when its arguments were changed in memory while a person was thinking", async () => {
    const lab = createLab();
    const input = { amount: 5 };
    const paid: number[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.step("pay", () => paid.push(input.amount), { effect: "once", input }),
    );
    const engine = await start(lab, flow, asking());
    await lab.clock.advance(50);
    expect((await engine.get("r"))?.status).toBe("running");
    input.amount = 5_000;
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
    expect(await asked(lab, engine)).toMatchObject({ show: { input: { amount: 5_000 } } });
    expect(paid).toEqual([]);
  });

  it("that was not used before its time was up is void, and is asked for anew", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const policy = asking("1", { ask: "?", timeoutMs: 3_600_000 });
    const engine = await start(lab, flow, policy);
    await asked(lab, engine);
    await lab.crash(engine);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
    await lab.clock.advance(2 * 86_400_000);
    const next = lab.engine([flow], { policy });
    await lab.drive(next.recover());
    await lab.clock.advance(1_000);
    const [gate] = await lab.drive(next.gates("r"));
    expect(gate?.until).toBeGreaterThan(lab.clock.now());
    expect(calls).toEqual([]);
    await lab.drive(next.answer("r", "approve:pay", { choice: "approve", actor: "bob" }));
    expect(await lab.drive(next.result("r"))).toBe("paid");
  });

  it("cannot be made, or turned round, by an edit: neither in the run nor in a fork of it", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const paid = await ctx
        .step("pay", () => "paid", { effect: "once" })
        .catch((error: Error) => error.message);
      await ctx.gate("after", { choices: ["on"] });
      return paid;
    });
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.drive(engine.pause("r"));
    const forged = { choice: "approve", actor: "ada", at: 0, timedOut: false };
    const set = { steps: { "approve:pay": forged } };
    expect(await lab.drive(code(engine.resume("r", { set })))).toBe("HF-1037");
    await lab.drive(engine.resume("r"));
    await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "deny", actor: "ada" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r"));
    expect(await lab.drive(code(engine.resume("r", { set })))).toBe("HF-1037");
    expect(await lab.drive(code(engine.fork("r", { id: "f", set })))).toBe("HF-1037");
    expect(await engine.get("f")).toBeNull();
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "after", { choice: "on" }));
    expect(await lab.drive(engine.result("r"))).toContain("ada said no");
  });

  it("says who gave it and when, in the journal", async () => {
    const lab = createLab();
    const { flow } = paying();
    const engine = await start(lab, flow, asking());
    const gate = await asked(lab, engine);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
    await lab.drive(engine.result("r"));
    const entries = await lab.store.entries("r", { from: 1, limit: 99 });
    const events = entries.flatMap((entry) => parseEntry("r", entry).events);
    const answered = events.find(({ kind }) => kind === "gate_answered");
    expect(answered).toMatchObject({ actor: "ada", step: "approve:pay", at: expect.any(Number) });
    expect(answered?.meta).toMatchObject({ choice: "approve", digest: gate?.digest });
  });

  it("that was written into the store by hand is damage, and nothing is called", async () => {
    const lab = createLab();
    const { flow, calls } = paying();
    const engine = await start(lab, flow, asking());
    await asked(lab, engine);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const row = await lab.store.read("r");
    if (!row) throw new Error("there is no run");
    // Everything as the engine would write it, but for the hash that chains it to what was there.
    const answer = { choice: "approve", actor: "ada", at: lab.clock.now(), timedOut: false };
    const digest = (await lab.drive(lab.engine([], { execute: false }).gates("r")))[0]?.digest ?? "";
    const at = lab.clock.now();
    const { entry, head } = buildEntry(
      [
        {
          kind: "gate_answered",
          step: "approve:pay",
          meta: { digest, choice: "approve" },
          data: encode(answer),
        },
      ],
      {
        prev: "0".repeat(row.head.length),
        seq: row.seq + 1,
        at,
        epoch: row.claim.epoch,
        blobs: [],
        blinding: undefined,
      },
    );
    const run = { ...row, status: "queued", waiting: [], wakeAt: 0 } as const;
    const expected = { seq: row.seq, epoch: row.claim.epoch, token: null };
    const [taken] = await lab.store.append([
      { run, expect: expected, claim: { kind: "keep" }, entries: [entry], head, blobs: [] },
    ]);
    expect(taken).toEqual({ ok: true });
    const next = lab.engine([flow], { policy: asking() });
    await lab.drive(next.recover());
    const parked = await lab.drive(next.settled("r"));
    expect(parked.waiting).toMatchObject([{ kind: "review" }]);
    expect(calls).toEqual([]);
  });
});
