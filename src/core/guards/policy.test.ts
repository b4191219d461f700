import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type Policy,
  type PolicyRequest,
  type PolicyVerdict,
  type Workflow,
  workflow,
} from "../../index.ts";
import type { JournalEvent } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";

async function journal(lab: Lab, runId: string): Promise<JournalEvent[]> {
  const entries = await lab.store.entries(runId, { from: 1, limit: 10_000 });
  return entries.flatMap((entry) => [...parseEntry(runId, entry).events]);
}

const starts = async (lab: Lab, runId: string) =>
  (await journal(lab, runId)).flatMap((event) =>
    event.kind === "step_started" && event.meta.type === "call"
      ? [[event.step, event.meta.attempt, event.meta.policy]]
      : [],
  );

/** A policy that answers from a table by step, `allow` where it says nothing, and remembers what it was asked. */
function policyOf(verdicts: Record<string, unknown> = {}, version = "1") {
  const asked: PolicyRequest[] = [];
  const policy: Policy = {
    version,
    decide(request) {
      asked.push(request);
      const verdict = verdicts[request.step];
      if (typeof verdict === "function") return verdict(request) as PolicyVerdict;
      return (verdict ?? "allow") as PolicyVerdict;
    },
  };
  return { policy, asked, steps: () => asked.map(({ step, attempt }) => `${step} ${attempt}`) };
}

/** The same run in another process, after the first has died. */
async function reborn(
  lab: Lab,
  engine: Engine,
  flows: Workflow<never, unknown>[],
  options: Partial<EngineOptions>,
) {
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  const next = lab.engine(flows, options);
  await lab.drive(next.recover());
  return next;
}

describe("a policy", () => {
  it("is asked about every call with what it needs to know, and its version is recorded", async () => {
    const lab = createLab();
    const { policy, asked } = policyOf({}, "2026-01");
    const flow = workflow("flow", { version: "7" }, async (ctx) => {
      await ctx.step("look", () => 1);
      await ctx.step("pay", () => 2, { effect: "once", input: { amount: 5 } });
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(asked).toMatchObject([
      { runId: "r", workflow: "flow", version: "7", step: "look", effect: "repeatable", attempt: 1 },
      { step: "pay", effect: "once", attempt: 1, input: { amount: 5 }, restored: false },
    ]);
    expect(asked[1]?.args).toEqual(expect.any(String));
    expect(await starts(lab, "r")).toEqual([
      ["look", 1, "2026-01"],
      ["pay", 1, "2026-01"],
    ]);
  });

  it("is asked again for every attempt and after a restore, and never about what is done (S1-51)", async () => {
    const lab = createLab();
    let failures = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => 1);
      const flaky = () => (failures++ === 0 ? Promise.reject(new Error("no")) : 2);
      await ctx.step("b", flaky, { retry: { attempts: 2, baseMs: 1 } });
      await ctx.step("c", ({ attempt }) => (attempt === 1 ? hangs() : 3));
    });
    const first = policyOf();
    const engine = lab.engine([flow], { policy: first.policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    expect(first.steps()).toEqual(["a 1", "b 1", "b 2", "c 1"]);
    const second = policyOf();
    const next = await reborn(lab, engine, [flow], { policy: second.policy });
    await lab.drive(next.result("r"));
    expect(second.steps()).toEqual(["c 2"]);
    expect(second.asked[0]?.restored).toBe(true);
  });

  it("that denies parks the run with the reason; a resume asks again", async () => {
    const lab = createLab();
    const verdicts: Record<string, unknown> = { pay: { deny: "not on Sundays" } };
    const { policy, steps } = policyOf(verdicts, "3");
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("pay", () => ++calls, { effect: "once" }));
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    for (const times of [1, 2]) {
      const run = await lab.drive(engine.settled("r"));
      expect(run.waiting).toMatchObject([
        { kind: "policy", step: "pay", detail: "HF-2116 pay may not run: not on Sundays" },
      ]);
      expect(steps()).toHaveLength(times);
      await lab.drive(engine.resume("r"));
    }
    await lab.drive(engine.settled("r"));
    expect(calls).toBe(0);
    Object.assign(verdicts, { pay: "allow" });
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(1);
  });

  it("that throws, or answers something else, has denied", async () => {
    const lab = createLab();
    const wrong: unknown[] = [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("broken")),
      () => undefined,
      () => "yes",
      () => true,
      () => ({ deny: 5 }),
      () => ({ ask: "?", deny: "no" }),
      () => ({ ask: "?", timeoutMs: Number.NaN }),
      () => ({}),
    ];
    for (const [index, pay] of wrong.entries()) {
      const { policy } = policyOf({ pay });
      const flow = workflow("flow", (ctx) => ctx.step("pay", () => 1));
      const engine = lab.engine([flow], { policy });
      await lab.drive(engine.start(flow, undefined, { id: `r${index}` }));
      const run = await lab.drive(engine.settled(`r${index}`));
      expect(run.waiting).toMatchObject([{ kind: "policy", step: "pay" }]);
      expect(run.waiting[0]?.detail).toMatch(index < 2 ? "The policy threw: broken" : "not a verdict");
      await lab.drive(engine.close());
    }
  });

  it("that makes no sense is refused with the engine", () => {
    const { store } = createLab();
    const decide = () => "allow";
    const wrong: unknown[] = [{}, { version: "1" }, { version: "", decide }, null];
    for (const timeoutMs of [0, -1, Number.NaN, "5"]) wrong.push({ version: "1", decide, timeoutMs });
    for (const policy of wrong)
      expect(() => createEngine({ store, policy: policy as Policy })).toThrow("policy");
  });

  it("may take its time: the run is not let go, and nothing else is started for it", async () => {
    const lab = createLab();
    const answer = signalled<PolicyVerdict>();
    const { policy, steps } = policyOf({ pay: () => answer.promise });
    const flow = workflow("flow", (ctx) => ctx.step("pay", () => "paid"));
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(60_000);
    expect((await engine.get("r"))?.status).toBe("running");
    answer.resolve("allow");
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(steps()).toEqual(["pay 1"]);
  });

  it("that never answers does not keep a run from being cancelled", async () => {
    const lab = createLab();
    const { policy } = policyOf({ pay: () => hangs() });
    const flow = workflow("flow", (ctx) => ctx.step("pay", () => "paid"));
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    expect((await lab.drive(engine.cancel("r"))).status).toBe("cancelled");
    await lab.drive(engine.close());
  });

  it("that never answers has denied when its time is up; what it says after that counts for nothing", async () => {
    const lab = createLab();
    for (const timeoutMs of [undefined, 2_000]) {
      const late = signalled<PolicyVerdict>();
      let hanging = true;
      const { policy } = policyOf({ pay: () => (hanging ? late.promise : "allow") });
      let calls = 0;
      const flow = workflow("flow", (ctx) => ctx.step("pay", () => ++calls, { effect: "once" }));
      const engine = lab.engine([flow], {
        policy: timeoutMs === undefined ? policy : { ...policy, timeoutMs },
      });
      const { id } = await lab.drive(engine.start(flow, undefined));
      const run = await lab.drive(engine.settled(id));
      const ms = timeoutMs ?? 300_000;
      expect(run.waiting).toMatchObject([{ kind: "policy", step: "pay" }]);
      expect(run.waiting[0]?.detail).toContain(`did not answer within ${ms} ms`);
      late.resolve("allow");
      await lab.clock.advance(1_000);
      expect([(await engine.get(id))?.seq, calls]).toEqual([run.seq, 0]);
      hanging = false;
      await lab.drive(engine.resume(id));
      expect(await lab.drive(engine.result(id))).toBe(1);
      await lab.drive(engine.close());
    }
  });

  it("that was tightened while the run was paused refuses the step, whatever was allowed before (S1-51)", async () => {
    const lab = createLab();
    const verdicts: Record<string, unknown> = {};
    const { policy } = policyOf(verdicts);
    const first = signalled();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("read", () => first.promise);
      await ctx.step("pay", () => calls.push("pay"), { effect: "once" });
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(50);
    await lab.drive(engine.pause("r"));
    first.resolve();
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    verdicts["pay"] = { deny: "from now on" };
    await lab.drive(engine.resume("r"));
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "policy", step: "pay" }]);
    expect(calls).toEqual([]);
  });

  it("is asked again after a limit or a person has made the call wait", async () => {
    const lab = createLab();
    const verdicts: Record<string, unknown> = { "approve me": { ask: "?" } };
    const { policy, steps } = policyOf(verdicts);
    const other = signalled();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      // Keeps the run in this process meanwhile.
      const busy = ctx.step("other", () => other.promise);
      const limited = (async () => {
        await ctx.step("use", () => ctx.usage({ tokens: 10 }));
        await ctx.step("limited", () => calls.push("limited"));
      })();
      await Promise.all([busy, limited, ctx.step("approve me", () => calls.push("approved"))]);
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 10 } }));
    await lab.clock.advance(1_000);
    expect((await engine.get("r"))?.status).toBe("running");
    Object.assign(verdicts, { limited: { deny: "not now" }, "approve me": { deny: "not now" } });
    await lab.drive(engine.answer("r", "approve:approve me", { choice: "approve", actor: "ada" }));
    await lab.drive(engine.resume("r", { budget: { tokens: 99 } }));
    await lab.clock.advance(1_000);
    expect(calls).toEqual([]);
    other.resolve();
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting.map(({ kind }) => kind)).toEqual(["policy", "policy"]);
    Object.assign(verdicts, { limited: "allow", "approve me": { ask: "?" } });
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.result("r"));
    expect(calls.sort()).toEqual(["approved", "limited"]);
    expect(steps().filter((step) => step === "limited 1").length).toBeGreaterThan(1);
  });

  it("is asked about branches, iterations, children's steps and both attempts of a retry", async () => {
    const lab = createLab();
    const { policy, asked } = policyOf();
    let failures = 0;
    const inner = workflow("inner", (ctx) => ctx.step("inside", () => 1));
    const flow = workflow("flow", async (ctx) => {
      await ctx.all("both", { a: () => ctx.step("deep", () => 1), b: () => 2 });
      await ctx.loop("agent", { n: 0 }, async (_, turn) => {
        await ctx.step("act", () => 1);
        return turn.index === 1 ? turn.done() : undefined;
      });
      await ctx.child("one", inner, undefined);
      const flaky = () => (failures++ === 0 ? Promise.reject(new Error("no")) : 1);
      await ctx.step("flaky", flaky, { retry: { attempts: 2, baseMs: 1 } });
    });
    const engine = lab.engine([flow, inner], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const all = asked.map(({ workflow: name, step, attempt }) => `${name} ${step} ${attempt}`);
    expect(all.sort()).toEqual([
      "flow agent[0]/act 1",
      "flow agent[1]/act 1",
      "flow both[a] 1",
      "flow both[a]/deep 1",
      "flow both[b] 1",
      "flow flaky 1",
      "flow flaky 2",
      "inner inside 1",
    ]);
  });

  it("does not let a call through that was paused while it was thinking", async () => {
    const lab = createLab();
    const answer = signalled<PolicyVerdict>();
    const { policy, steps } = policyOf({
      pay: ({ restored }: PolicyRequest) => (restored ? "allow" : answer.promise),
    });
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("pay", () => ++calls));
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.drive(engine.pause("r"));
    await lab.clock.advance(1_000);
    expect((await engine.get("r"))?.status).toBe("running");
    answer.resolve("allow");
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    expect(calls).toBe(0);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(1);
    expect(steps()).toEqual(["pay 1", "pay 1"]);
  });

  it("that denies one branch lets the others finish and parks once", async () => {
    const lab = createLab();
    const verdicts: Record<string, unknown> = { "item[1]": { deny: "no" } };
    const { policy } = policyOf(verdicts);
    const done: number[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.each("item", [0, 1, 2, 3], (n) => (done.push(n), n), { concurrency: 2 }),
    );
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const run = await lab.drive(engine.settled("r"));
    expect(done).toEqual([0, 2, 3]);
    expect(run.waiting).toMatchObject([{ kind: "policy", step: "item[1]" }]);
    verdicts["item[1]"] = "allow";
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toEqual([0, 1, 2, 3]);
    expect((await journal(lab, "r")).filter(({ kind }) => kind === "run_waiting")).toHaveLength(1);
  });

  it("leaves a run that it holds back free to be cancelled, and is asked about the undoing", async () => {
    const lab = createLab();
    const undone: string[] = [];
    const verdicts: Record<string, unknown> = { pay: { deny: "no" }, "compensate/seat": { deny: "not yet" } };
    const { policy } = policyOf(verdicts);
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("seat", () => "seat", { compensate: (seat) => undone.push(seat) });
      await ctx.step("pay", () => "paid");
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "a" }));
    await lab.drive(engine.settled("a"));
    expect((await lab.drive(engine.cancel("a"))).status).toBe("cancelled");
    await lab.drive(engine.start(flow, undefined, { id: "b" }));
    await lab.drive(engine.settled("b"));
    await lab.drive(engine.cancel("b", { compensate: true }));
    const held = await lab.drive(engine.settled("b"));
    expect(held.waiting).toMatchObject([{ kind: "policy", step: "compensate/seat" }]);
    verdicts["compensate/seat"] = "allow";
    await lab.drive(engine.resume("b"));
    expect((await lab.drive(engine.settled("b"))).status).toBe("cancelled");
    expect(undone).toEqual(["seat"]);
  });
});

describe("a policy, a budget and a person before one call", () => {
  it("count what was used up while the policy was thinking", async () => {
    const lab = createLab();
    const answer = signalled<PolicyVerdict>();
    const { policy } = policyOf({ slow: () => answer.promise });
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await Promise.all([
        ctx.step("slow", () => ++calls),
        ctx.step("quick", () => ctx.usage({ tokens: 100 })),
      ]);
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 100 } }));
    await lab.clock.advance(100);
    answer.resolve("allow");
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "slow" }]);
    expect(calls).toBe(0);
  });

  it("are not asked about a call that a fork does not make, and are all asked about one that it makes", async () => {
    const lab = createLab();
    const { policy, asked } = policyOf({ charge: { ask: "big" } });
    const calls: string[] = [];
    let begin = "";
    const flow = workflow("flow", async (ctx) => {
      begin ||= await ctx.checkpoint("begin");
      await ctx.step("book", () => calls.push("book"), { effect: "once", input: 1 });
      await ctx.step("use", () => ctx.usage({ tokens: 100 }));
      await ctx.step("charge", () => calls.push("charge"), { effect: "once", input: 2 });
      return calls.length;
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 100 } }));
    await lab.drive(engine.settled("r"));
    expect(calls).toEqual(["book"]);
    await lab.drive(engine.fork(begin, { id: "f" }));
    const held = await lab.drive(engine.settled("f"));
    expect(held.waiting).toMatchObject([{ kind: "budget", step: "charge" }]);
    await lab.drive(engine.resume("f", { budget: { tokens: 200 } }));
    await lab.drive(engine.settled("f"));
    await lab.drive(engine.answer("f", "approve:charge", { choice: "approve" }));
    await lab.drive(engine.result("f"));
    expect(calls).toEqual(["book", "charge"]);
    const steps = asked.filter(({ runId }) => runId === "f").map(({ step }) => step);
    expect([...new Set(steps)]).toEqual(["use", "charge"]);
  });

  it("are all asked, and the call is made when all agree", async () => {
    const lab = createLab();
    const { policy, steps } = policyOf({ "item[1]": { ask: "big" } });
    const calls: number[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.each(
        "item",
        [0, 1, 2],
        (n) => {
          calls.push(n);
          ctx.usage({ tokens: 100 });
          return n;
        },
        { concurrency: 2 },
      ),
    );
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 200 } }));
    // While a person thinks about one branch, the others use up what there is.
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "gate" }]);
    expect(calls).toEqual([0, 2]);
    await lab.drive(engine.answer("r", "approve:item[1]", { choice: "approve", actor: "ada" }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "item[1]" }]);
    expect(await lab.drive(code(engine.resume("r")))).toBe("HF-1025");
    await lab.drive(engine.resume("r", { budget: { tokens: 999 } }));
    expect(await lab.drive(engine.result("r"))).toEqual([0, 1, 2]);
    expect(calls).toEqual([0, 2, 1]);
    expect(steps().filter((step) => step === "item[0] 1")).toHaveLength(1);
  });
});
