import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { eventsOf } from "../../../test/support/family.ts";
import { useFolders } from "../../../test/support/folders.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Run, workflow } from "../../index.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import { childId } from "../ids.ts";

const newFile = useFolders("pause");

const kindsOf = async (lab: Lab, id = "r") => (await eventsOf(lab.store, id)).map(({ kind }) => kind);
const headline = async (lab: Lab, engine: Engine, id = "r") => (await lab.drive(engine.status(id))).headline;

describe("a pause of a run that waits", () => {
  const low = workflow("low", (ctx) => ctx.gate("below", { choices: ["yes"] }));
  const never = () => Promise.reject(Object.assign(new Error("not now"), { retryAfterMs: 3_600_000 }));
  const bodies: Record<string, (ctx: Context) => Promise<unknown>> = {
    gate: (ctx) => ctx.gate("wait", { choices: ["yes"] }),
    timer: (ctx) => ctx.sleep("wait", 3_600_000),
    signal: (ctx) => ctx.signal("wait"),
    child: (ctx) => ctx.child("wait", low, undefined),
    retry: (ctx) => ctx.step("wait", never, { retry: { attempts: 9, maxWaitMs: 1e9 } }),
    budget: async (ctx) => {
      await ctx.step("spend", () => ctx.usage({ tokens: 10, costUsd: 0 }));
      await ctx.step("wait", () => 1);
    },
  };

  it.each(Object.entries(bodies))(
    "for its %s is in effect at once, and a resume lets it wait on",
    async (kind, body) => {
      const lab = createLab();
      const flow = workflow("flow", (ctx) => body(ctx));
      const engine = lab.engine([flow, low]);
      await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 10 } }));
      const before = await lab.drive(engine.settled("r"));
      expect(before.waiting.map((wait) => wait.kind)).toEqual([kind]);
      const paused = await lab.drive(engine.pause("r", { actor: "ada", reason: "lunch" }));
      expect([paused.status, paused.control, paused.wakeAt]).toEqual(["paused", "none", null]);
      expect(await headline(lab, engine)).toBe("paused by ada: lunch");
      await lab.clock.advance(7_200_000 / 100);
      expect((await engine.get("r"))?.seq).toBe(paused.seq);
      await lab.drive(engine.resume("r"));
      const after = await lab.drive(engine.settled("r"));
      expect([after.status, after.waiting.map((wait) => wait.kind)]).toEqual(["waiting", [kind]]);
    },
  );

  it("for a decision is in effect at once, and the decision may come before the resume", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("mail", hangs, { effect: "once" }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    const { engine: next, run } = await lab.afterCrash(engine, [flow], "r");
    expect(run.waiting.map(({ kind }) => kind)).toEqual(["decision"]);
    expect((await lab.drive(next.pause("r"))).status).toBe("paused");
    expect((await lab.drive(next.resolve("r", "mail", { action: "done", value: "sent" }))).status).toBe(
      "paused",
    );
    await lab.drive(next.resume("r"));
    expect(await lab.drive(next.result("r"))).toBe("sent");
  });

  it("in the queue is in effect at once, and nothing of it begins", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("a", () => ++calls));
    const desk = lab.engine([flow], { execute: false });
    await lab.drive(desk.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(desk.pause("r"))).status).toBe("paused");
    const worker = lab.engine([flow]);
    expect(await lab.drive(worker.recover())).toEqual([]);
    await lab.clock.advance(60_000);
    expect(calls).toBe(0);
    await lab.drive(worker.resume("r"));
    expect(await lab.drive(worker.result("r"))).toBe(1);
  });

  it("is refused with the reason where the run has ended, and the run is as it was", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx, how: string) => {
      if (how === "failed") throw new Error("no");
      if (how === "cancelled") await ctx.gate("wait", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    for (const how of ["completed", "failed", "cancelled"]) {
      await lab.drive(engine.start(flow, how, { id: how }));
      await lab.drive(engine.settled(how));
      if (how === "cancelled") await lab.drive(engine.cancel(how));
      const before = (await engine.get(how)) as Run;
      await expect(lab.drive(engine.pause(how))).rejects.toMatchObject({
        code: "HF-1007",
        message: `Run ${how} is ${how}, so it cannot be paused.`,
        why: "It is not running.",
        safe: "Nothing was changed.",
        fix: "Nothing to do.",
      });
      expect(await engine.get(how)).toEqual(before);
    }
  });
});

describe("a run that pauses", () => {
  it("says which calls it finishes, several of them and in groups, and leaves out what only waits", async () => {
    const lab = createLab();
    const calls = ["a", "b", "c", "d"].map(() => signalled());
    const low = workflow("low", (ctx) => ctx.step("work", hangs));
    const flow = workflow("flow", async (ctx) => {
      await ctx.all("group", {
        a: () => calls[0]?.promise,
        b: () => ctx.step("inner", () => calls[1]?.promise),
        gate: () => ctx.gate("ok", { choices: ["yes"] }),
        child: () => ctx.child("low", low, undefined),
        nap: () => ctx.sleep("nap", 1e6),
        c: () => calls[2]?.promise,
        d: () => calls[3]?.promise,
      });
    });
    const engine = lab.engine([flow, low]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.drive(engine.pause("r"));
    expect(await headline(lab, engine)).toBe("pausing: finishing group[a], group[c], group[d] and 1 more");
    for (const call of calls.slice(2)) call.resolve();
    await lab.clock.advance(200);
    expect(await headline(lab, engine)).toBe("pausing: finishing group[a], group[b]/inner");
    calls[0]?.resolve();
    await lab.clock.advance(200);
    expect(await headline(lab, engine)).toBe("pausing: finishing group[b]/inner");
    calls[1]?.resolve();
    await lab.drive(engine.settled("r"));
    expect(await headline(lab, engine)).toBe("paused");
  });

  it("with its children says which of them are not paused yet", async () => {
    const lab = createLab();
    const call = signalled();
    const low = workflow("low", (ctx) => ctx.step("work", () => call.promise));
    const top = workflow("top", (ctx) => ctx.child("low", low, undefined));
    const engine = lab.engine([top, low]);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r", { children: true, actor: "ada" }));
    const child = childId("r", "low");
    expect(await headline(lab, engine)).toBe(`paused by ada; not paused yet below it: ${child}`);
    expect(await headline(lab, engine, child)).toBe("pausing: finishing work");
    call.resolve();
    await lab.drive(engine.settled(child));
    expect(await headline(lab, engine)).toBe("paused by ada");
  });

  it("is paused at once by whoever takes it up after a crash, or says so again when nobody does", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.all("both", [() => hangs(), () => ctx.step("in", hangs)]);
    });
    const engine = lab.engine([flow]);
    for (const id of ["taken", "left"]) await lab.drive(engine.start(flow, undefined, { id }));
    await lab.clock.advance(100);
    for (const id of ["taken", "left"]) await lab.drive(engine.pause(id));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const desk = lab.engine([], { execute: false });
    expect(await headline(lab, desk, "left")).toMatch(/^pausing; no worker has taken it since /);
    expect((await lab.drive(desk.pause("left", { actor: "ada" }))).status).toBe("paused");
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    expect((await lab.drive(next.settled("taken"))).status).toBe("paused");
    for (const id of ["taken", "left"]) {
      const kinds = await kindsOf(lab, id);
      const after = kinds.slice(kinds.indexOf("pause_requested") + 1);
      expect(after.filter((kind) => kind !== "run_claimed")).toEqual(["run_paused"]);
    }
  });

  it("is paused at once when its worker died before, and fences the worker should it come back", async () => {
    const lab = createLab();
    const reply = signalled<string>();
    const flow = workflow("flow", (ctx) => ctx.step("mail", () => reply.promise, { effect: "once" }));
    let isAway = false;
    const store = {
      ...lab.store,
      renew: (batch: Parameters<typeof lab.store.renew>[0]) =>
        isAway ? Promise.reject(new Error("away")) : lab.store.renew(batch),
    };
    const engine = lab.engine([flow], { store });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    isAway = true;
    await lab.clock.advance(9_000);
    const desk = lab.engine([], { execute: false });
    expect((await lab.drive(desk.pause("r"))).status).toBe("running");
    await lab.clock.advance(2_000);
    const paused = await lab.drive(desk.pause("r"));
    expect([paused.status, paused.claim.token, paused.claim.epoch]).toEqual(["paused", null, 2]);
    reply.resolve("sent");
    await lab.clock.advance(1_000);
    expect((await desk.get("r"))?.status).toBe("paused");
    expect((await kindsOf(lab)).slice(-2)).toEqual(["run_paused", "step_evidence"]);
    const next = lab.engine([flow]);
    await lab.drive(next.resume("r"));
    expect(await lab.drive(next.result("r"))).toBe("sent");
  });
});

describe("a transaction that comes up while the run pauses", () => {
  it("does not begin, not even to be rolled back, before the run is resumed", async () => {
    const store = await openSqliteStore({ file: newFile(), clock: createLab().clock });
    const lab = createLab(store);
    const call = signalled();
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => call.promise);
      return ctx.transaction("book", () => ++calls);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    await lab.drive(engine.pause("r"));
    call.resolve();
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    await lab.clock.advance(10_000);
    expect(calls).toBe(0);
    await lab.drive(engine.resume("r"));
    expect([await lab.drive(engine.result("r")), calls]).toEqual([1, 1]);
    await lab.drive(engine.close());
    await store.close();
  });
});

describe("a pause with its children", () => {
  it("holds for a child that is only being made when it is said", async () => {
    const lab = createLab();
    const made = signalled();
    let works = 0;
    const low = workflow("low", (ctx) => ctx.step("work", () => ++works));
    const store = {
      ...lab.store,
      append: async (batch: Parameters<typeof lab.store.append>[0]) => {
        if (batch.some(({ run }) => run.workflow === "low")) await made.promise;
        return lab.store.append(batch);
      },
    };
    const top = workflow("top", (ctx) => ctx.child("low", low, undefined));
    const engine = lab.engine([top, low], { store });
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.clock.advance(50);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.pause("r", { children: true, actor: "ada", reason: "night" }));
    made.resolve();
    await lab.clock.advance(60_000);
    expect(works).toBe(0);
    const child = childId("r", "low");
    expect([(await desk.get("r"))?.status, (await desk.get(child))?.status]).toEqual(["paused", "paused"]);
    // One that somebody lets go on by itself is not held again.
    await lab.drive(engine.resume(child));
    expect(await lab.drive(engine.result(child))).toBe(1);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(1);
  });

  it("reaches them where the run itself cannot be paused, and so does a resume", async () => {
    const lab = createLab();
    const low = workflow("low", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
    const top = workflow("top", async (ctx) => {
      void ctx.child("low", low, undefined);
      await ctx.step("a", () => Promise.reject(new Error("no")), { retry: false });
    });
    const engine = lab.engine([top, low]);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    const child = childId("r", "low");
    expect((await lab.drive(engine.settled("r"))).status).toBe("failed");
    await lab.drive(engine.settled(child));
    expect((await lab.drive(engine.pause("r", { children: true }))).status).toBe("failed");
    expect((await engine.get(child))?.status).toBe("paused");
    const other = workflow("other", (ctx) => ctx.child("low", low, undefined));
    await lab.drive(engine.start(other, undefined, { id: "s" }));
    const second = childId("s", "low");
    await lab.drive(engine.settled("s"));
    await lab.drive(engine.pause(second));
    expect((await lab.drive(engine.resume("s", { children: true }))).status).toBe("waiting");
    expect((await lab.drive(engine.settled(second))).status).toBe("waiting");
    expect(await lab.drive(code(engine.resume("s", { children: true })))).toBe("HF-1007");
  });
});

describe("an act that is sent twice under one id", () => {
  const waits = workflow("waits", (ctx) => ctx.gate("ok", { choices: ["yes", "no"], text: true }));

  async function waiting() {
    const lab = createLab();
    const engine = lab.engine([waits]);
    await lab.drive(engine.start(waits, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    return { lab, engine };
  }

  it("is one, also when others have acted in between: pauses and resumes", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.pause("r", { id: "p" }));
    await lab.drive(engine.resume("r", { id: "a", inject: "once" }));
    await lab.drive(engine.settled("r"));
    // The first pause, sent again by somebody who was not answered.
    expect((await lab.drive(engine.pause("r", { id: "p" }))).status).toBe("waiting");
    await lab.drive(engine.pause("r", { id: "q" }));
    await lab.drive(engine.resume("r", { id: "b" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r"));
    expect((await lab.drive(engine.resume("r", { id: "a", inject: "once" }))).status).toBe("paused");
    const kinds = await kindsOf(lab);
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    expect(["pause_requested", "run_resumed", "signal_received"].map(count)).toEqual([3, 2, 1]);
  });

  it("gets the same answer at a gate, also after the run has ended", async () => {
    const { lab, engine } = await waiting();
    const click = { id: "click", choice: "yes", text: "fine", actor: "ada", reason: "looked at it" };
    const [one, two] = await lab.drive(
      Promise.all([engine.answer("r", "ok", click), engine.answer("r", "ok", click)]),
    );
    expect(one).toEqual(two);
    expect(await lab.drive(engine.result("r"))).toEqual(one);
    expect(await lab.drive(engine.answer("r", "ok", click))).toEqual(one);
    expect(await lab.drive(code(engine.answer("r", "ok", { ...click, choice: "no" })))).toBe("HF-1014");
    expect(await lab.drive(code(engine.answer("r", "ok", { choice: "yes", actor: "ada" })))).toBe("HF-1014");
    const answers = (await eventsOf(lab.store, "r")).filter(({ kind }) => kind === "gate_answered");
    expect(answers.map(({ actor, meta }) => [actor, (meta as { reason?: string }).reason])).toEqual([
      ["ada", "looked at it"],
    ]);
  });

  it("is one: cancels, decisions and context, whose reason is kept", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("mail", hangs, { effect: "once" });
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    const decided = { action: "done", id: "d", actor: "ada", reason: "seen" } as const;
    for (let click = 0; click < 2; click++) await lab.drive(next.resolve("r", "mail", decided));
    for (let click = 0; click < 2; click++)
      await lab.drive(next.inject("r", "hint", { id: "i", actor: "ben", reason: "it helps" }));
    await lab.drive(next.settled("r"));
    for (let click = 0; click < 2; click++) await lab.drive(next.cancel("r", { id: "c", compensate: true }));
    await lab.clock.advance(10_000);
    expect((await lab.drive(next.cancel("r", { id: "c", compensate: true }))).status).toBe("cancelled");
    const events = await eventsOf(lab.store, "r");
    const told = events.flatMap(({ kind, actor, meta }) =>
      ["step_resolved", "signal_received", "cancel_requested"].includes(kind)
        ? [[kind, actor, (meta as { reason?: string }).reason]]
        : [],
    );
    expect(told).toEqual([
      ["step_resolved", "ada", "seen"],
      ["signal_received", "ben", "it helps"],
      ["cancel_requested", undefined, undefined],
    ]);
  });
});

describe("a pause that comes while the worker leaves", () => {
  it("holds: the run is not handed over as if it might go on, and a resume takes it up", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("ask", () => (++calls === 1 ? hangs() : "answered")));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    // From another process, so that the worker learns of it only by being refused.
    await lab.drive(lab.engine([], { execute: false }).pause("r"));
    const leaving = engine.close({ drainMs: 1 });
    await lab.drive(leaving);
    expect(await kindsOf(lab)).not.toContain("run_released");
    await lab.clock.advance(20_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    expect((await lab.drive(next.settled("r"))).status).toBe("paused");
    await lab.drive(next.resume("r"));
    expect(await lab.drive(next.result("r"))).toBe("answered");
  });
});
