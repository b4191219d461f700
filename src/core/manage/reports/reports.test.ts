import { describe, expect, it } from "vitest";
import { damage } from "../../../../test/support/damage.ts";
import { createLab, hangs, type Lab, signalled } from "../../../../test/support/lab.ts";
import { type Engine, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";

const DAY = 86_400_000;

/** A mail whose worker dies while it is under way; the next worker does not know what became of it. */
async function lostMail(lab: Lab, call: () => Promise<string> = hangs) {
  let calls = 0;
  const flow = workflow("post", async (ctx) => {
    await ctx.step("write", () => "Dear customer");
    return ctx.step("mail", () => (++calls === 1 ? call() : `sent ${calls}`), { effect: "once" });
  });
  const first = lab.engine([flow], { owner: "first" });
  await lab.drive(first.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(100);
  await lab.crash(first);
  await lab.clock.advance(20_000);
  const engine = lab.engine([flow], { owner: "second" });
  await lab.drive(engine.recover());
  await lab.drive(engine.settled("r"));
  return { engine, flow };
}

describe("the trail of a run", () => {
  const talk = workflow("talk", async (ctx) => {
    await ctx.gate("ok", { choices: ["yes"] });
    return ctx.step("act", () => "done");
  });

  async function told(lab: Lab): Promise<Engine> {
    const engine = lab.engine([talk]);
    await lab.drive(engine.start(talk, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r", { actor: "ada", reason: "a look" }));
    await lab.drive(engine.resume("r", { actor: "ben", inject: "go on", reason: "fine" }));
    await lab.drive(engine.answer("r", "ok", { choice: "yes", actor: "ada" }));
    await lab.drive(engine.result("r"));
    return engine;
  }

  it("says who did what and why, and that the record is as it was written (S1-56)", async () => {
    const lab = createLab();
    const engine = await told(lab);
    const trail = await lab.drive(engine.reports.trail("r"));
    expect(trail).toMatchObject({ run: "r", workflow: "talk", status: "completed", verified: true });
    expect(trail.lines.map(({ seq }) => seq)).toEqual(trail.lines.map((_, index) => index + 1));
    expect(trail.lines.find(({ kind }) => kind === "pause_requested")).toMatchObject({
      actor: "ada",
      reason: "a look",
    });
    expect(trail.lines.find(({ kind }) => kind === "run_resumed")).toMatchObject({
      actor: "ben",
      reason: "fine",
    });
    expect(trail.actors.find(({ actor }) => actor === "ada")?.acts).toMatchObject({
      pause_requested: 1,
      gate_answered: 1,
    });
    expect(trail.lines.at(-1)?.entry).toBe(trail.head);
  });

  it("is the same after retention has dropped the values, and says which are gone", async () => {
    const lab = createLab();
    const engine = await told(lab);
    const before = await lab.drive(engine.reports.trail("r"));
    await lab.clock.advance(1_000);
    await lab.drive(engine.retention.prune({ maxAge: 0 }));
    const after = await lab.drive(engine.reports.trail("r"));
    expect(after.verified).toBe(true);
    const withoutMarks = after.lines.slice(0, before.lines.length).map(({ dropped: _, ...line }) => line);
    expect(withoutMarks).toEqual(before.lines);
    expect(after.lines.filter(({ dropped }) => dropped).length).toBeGreaterThan(0);
  });

  it("shows that something was changed afterwards", async () => {
    const real = createMemoryStore();
    const lab = createLab(real);
    await told(lab);
    const engine = createLab(damage(real)).engine([talk]);
    const { verified, problems } = await engine.reports.trail("r");
    expect(verified).toBe(false);
    expect(problems.length).toBeGreaterThan(0);
  });

  it("of a run that is not there is refused", async () => {
    const lab = createLab();
    await expect(lab.engine([]).reports.trail("nobody")).rejects.toMatchObject({ code: "HF-1001" });
    await expect(lab.engine([]).reports.trail("../x")).rejects.toMatchObject({ code: "HF-1004" });
  });
});

describe("the report of recoveries", () => {
  it("names who was lost, what was under way, how long it took, and what came of it (S1-56, S4-13)", async () => {
    const lab = createLab();
    const { engine } = await lostMail(lab);
    const { incidents, ms } = await lab.drive(engine.reports.recoveries());
    expect(incidents).toHaveLength(1);
    expect(incidents[0]).toMatchObject({
      run: "r",
      workflow: "post",
      attempt: 1,
      lost: "first",
      takenBy: "second",
      interrupted: [{ step: "mail", effect: "once" }],
      result: "waits",
    });
    expect(incidents[0]?.silentMs).toBeGreaterThanOrEqual(20_000);
    // From the end of its claim, not from its last write: a worker may be silent because a call takes long.
    expect(ms?.most).toBeGreaterThanOrEqual(10_000);
    expect(ms?.most).toBeLessThan(20_000);
  });

  it("counts runs that completed, also those that had lost a worker", async () => {
    const lab = createLab();
    const { engine, flow } = await lostMail(lab);
    await lab.drive(engine.resolve("r", "mail", { action: "done", value: "sent", actor: "ada" }));
    await lab.drive(engine.result("r"));
    const fails = workflow("fails", (ctx) =>
      ctx.step("s", () => Promise.reject(new Error("no")), { retry: false }),
    );
    await lab.drive(engine.start(fails, undefined, { id: "f" }));
    await lab.drive(engine.settled("f"));
    const { runs } = await lab.drive(engine.reports.recoveries());
    expect(runs).toEqual({
      completed: 1,
      completedAfterRecovery: 1,
      failed: 1,
      cancelled: 0,
      completionRate: 0.5,
    });
    const other = await lab.drive(engine.reports.recoveries({ workflow: "fails" }));
    expect([other.incidents.length, other.runs.completed, other.runs.failed]).toEqual([0, 0, 1]);
    expect(flow.name).toBe("post");
  });

  it("does not count a hand-over in good order, nor a wait that another worker ends", async () => {
    const lab = createLab();
    const flow = workflow("naps", async (ctx) => {
      await ctx.sleep("nap", 60_000);
      return "end";
    });
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.drive(first.settled("r"));
    await lab.drive(first.close());
    await lab.clock.advance(61_000);
    const next = lab.engine([flow]);
    await lab.drive(next.result("r"));
    expect((await lab.drive(next.reports.recoveries())).incidents).toEqual([]);
  });

  it("does not count what happened in the run that a fork was made from", async () => {
    const lab = createLab();
    const { engine } = await lostMail(lab);
    await lab.drive(engine.resolve("r", "mail", { action: "done", value: "sent", actor: "ada" }));
    await lab.drive(engine.result("r"));
    await lab.drive(engine.fork("r", { id: "copy" }));
    const { incidents } = await lab.drive(engine.reports.recoveries());
    expect(incidents.map(({ run }) => run)).toEqual(["r"]);
    const { findings } = await lab.drive(engine.reports.effects());
    expect(findings.map(({ run, concern }) => [run, concern])).toEqual([["r", "unknown"]]);
  });

  it("keeps to its period, and refuses one that ends before it begins", async () => {
    const lab = createLab();
    const { engine } = await lostMail(lab);
    const now = await lab.store.now();
    expect(
      (await lab.drive(engine.reports.recoveries({ since: now + 1, until: now + 2 }))).incidents,
    ).toEqual([]);
    expect((await lab.drive(engine.reports.recoveries({ until: now - 60_000 }))).incidents).toEqual([]);
    await expect(engine.reports.recoveries({ since: 5, until: 5 })).rejects.toMatchObject({
      code: "HF-1003",
    });
    await expect(engine.reports.effects({ since: Number.NaN })).rejects.toMatchObject({ code: "HF-1003" });
  });
});

describe("the report of effects", () => {
  it("names an unknown outcome with its cause, and then who settled it and how", async () => {
    const lab = createLab();
    const { engine } = await lostMail(lab);
    const before = await lab.drive(engine.reports.effects());
    expect(before).toMatchObject({ begun: { keyed: 0, once: 1 }, unknown: 1, violations: 0 });
    expect(before.findings[0]).toMatchObject({
      step: "mail",
      concern: "unknown",
      cause: "first was lost while it was under way",
    });
    expect(before.findings[0]).not.toHaveProperty("settled");
    await lab.drive(
      engine.resolve("r", "mail", { action: "done", value: "sent", actor: "ada", reason: "saw the mail" }),
    );
    await lab.drive(engine.result("r"));
    const { findings } = await lab.drive(engine.reports.effects());
    expect(findings[0]?.settled).toMatchObject({ how: "done", actor: "ada", reason: "saw the mail" });
  });

  it("shows that a mail went out twice when somebody had it sent again and the first result comes in late (S1-56)", async () => {
    const lab = createLab();
    const late = signalled<string>();
    const { engine } = await lostMail(lab, () => late.promise);
    await lab.clock.advance(400_000);
    await lab.drive(engine.resolve("r", "mail", { action: "rerun", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("sent 2");
    const innocent = await lab.drive(engine.reports.effects());
    expect(innocent.violations).toBe(0);
    late.resolve("sent");
    await lab.clock.advance(1_000);
    const { violations, findings } = await lab.drive(engine.reports.effects());
    expect([violations, findings.at(-1)?.concern]).toEqual([1, "carried out twice"]);
  });

  it("counts a keyed call that was made again under the same key, which is no violation", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("pays", (ctx) =>
      ctx.step("pay", () => (++calls === 1 ? hangs() : "paid"), { effect: "keyed" }),
    );
    const first = lab.engine([flow], { owner: "first" });
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(first);
    await lab.clock.advance(20_000);
    const engine = lab.engine([flow]);
    await lab.drive(engine.recover());
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    const report = await lab.drive(engine.reports.effects());
    expect(report).toMatchObject({ begun: { keyed: 1, once: 0 }, calledAgain: 1, violations: 0 });
    expect(report.findings[0]?.key).toBeDefined();
  });

  it("names forks that were allowed to repeat what their source did", async () => {
    const lab = createLab();
    const flow = workflow("pays", async (ctx) => {
      await ctx.checkpoint("begun");
      return ctx.step("pay", () => "paid", { effect: "keyed" });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    await lab.drive(engine.fork("r@begun", { id: "again", effects: "allow", actor: "ada" }));
    await lab.drive(engine.result("again"));
    const { findings } = await lab.drive(engine.reports.effects());
    expect(findings.map(({ run, concern, cause }) => [run, concern, cause])).toEqual([
      ["again", "repeated by a fork", expect.stringMatching(/^ada forked r@\d+ with effects allowed$/)],
    ]);
  });
});

describe("the report of capacity", () => {
  const text = "x".repeat(20_000);
  const flow = workflow("long", (ctx) => ctx.step("s", () => text));

  it("adds up what is stored by run, workflow and day, and what retention took away (S1-56)", async () => {
    const lab = createLab();
    for (const id of ["a", "b"]) {
      const worker = lab.engine([flow], { retention: "forever" });
      await lab.drive(worker.start(flow, undefined, { id }));
      await lab.drive(worker.result(id));
      await lab.drive(worker.close());
      await lab.clock.advance(DAY);
    }
    const engine = lab.engine([], { execute: false });
    const before = await lab.drive(engine.reports.capacity());
    expect(before.byStatus).toEqual({ completed: 2 });
    expect(before.days.map(({ runs }) => runs)).toEqual([1, 1]);
    expect(before.total.valueBytes).toBeGreaterThan(2 * text.length);
    expect(before.byWorkflow["long"]).toEqual(before.total);
    const sum = before.days.reduce((all, { bytes }) => all + bytes, 0);
    expect(sum).toBe(before.total.headBytes + before.total.valueBytes);
    expect(before.largest.map(({ bytes }) => bytes).reduce((a, b) => a + b)).toBe(sum);

    await lab.drive(engine.retention.prune({ maxAge: "36h" }));
    const after = await lab.drive(engine.reports.capacity());
    expect(after.total.valueBytes).toBeLessThan(before.total.valueBytes / 2 + 1_000);
    expect(after.days.at(-1)).toMatchObject({ expired: 1 });
    expect(after.days.at(-1)?.dropped).toBeGreaterThan(0);
  });
});
