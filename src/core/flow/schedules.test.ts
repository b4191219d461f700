import { describe, expect, it } from "vitest";
import { createLab, signalled } from "../../../test/support/lab.ts";
import { schedule, workflow } from "../../index.ts";
import { tickRunId } from "./schedule-record.ts";

const MINUTE = 60_000;

const greet = workflow("greet", async (ctx, input: { name: string }) => {
  await ctx.step("say", () => input.name);
  return ctx.config;
});

/** A workflow whose runs end when the test says so. */
function slow() {
  const open: (() => void)[] = [];
  const flow = workflow("slow", async (ctx) => {
    const { promise, resolve } = signalled();
    open.push(resolve);
    await ctx.step("wait", () => promise);
  });
  return { flow, end: () => open.shift()?.(), open };
}

describe("a schedule", () => {
  it("starts one run at each tick and says when the next one is", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    const made = await engine.schedules.create("each minute", {
      workflow: greet,
      input: { name: "Ada" },
      cron: "* * * * *",
      overlap: "allow",
    });
    expect(made).toMatchObject({ status: "active", lastTick: null, nextTick: lab.clock.now() + MINUTE });
    await lab.drive(engine.work());
    await lab.clock.advance(3 * MINUTE);
    const { runs } = await engine.list();
    expect(runs.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    const shown = await engine.schedules.get("each minute");
    expect(shown?.counts.started).toBe(3);
    expect(shown?.lastTick).toBe(made.createdAt + 3 * MINUTE);
    const [last] = runs;
    expect(last?.id).toBe(tickRunId("each minute", shown?.lastTick ?? 0));
    expect(await engine.result(last?.id ?? "")).toEqual({
      schedule: { name: "each minute", tick: new Date(shown?.lastTick ?? 0).toISOString() },
    });
    await lab.drive(engine.close());
  });

  it("ticks in intervals from its creation, and once at a given moment", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    const at = lab.clock.now() + 90_000;
    const input = { name: "Ada" };
    await engine.schedules.create("often", { workflow: greet, input, everyMs: 40_000 });
    await engine.schedules.create("once", { workflow: greet, input, at: new Date(at) });
    await lab.drive(engine.work());
    await lab.clock.advance(3 * MINUTE);
    const [often, once] = await engine.schedules.list();
    expect(often?.counts.started).toBe(4);
    expect(once).toMatchObject({ status: "ended", nextTick: null, lastTick: at });
    expect(once?.counts.started).toBe(1);
    await lab.drive(engine.close());
  });

  it("is minded by one of several engines at each tick", async () => {
    const lab = createLab();
    const engines = [lab.engine([greet]), lab.engine([greet]), lab.engine([greet])];
    const [first] = engines;
    await first?.schedules.create("shared", {
      workflow: greet,
      input: { name: "Ada" },
      everyMs: 10_000,
      overlap: "allow",
    });
    await lab.drive(Promise.all(engines.map((engine) => engine.work())));
    await lab.clock.advance(5 * MINUTE);
    expect((await first?.schedules.get("shared"))?.counts).toMatchObject({ started: 30, missed: 0 });
    expect((await first?.list({ limit: 100 }))?.runs).toHaveLength(30);
    await lab.drive(Promise.all(engines.map((engine) => engine.close())));
  });

  it("records a run that can't be created, and goes on", async () => {
    const lab = createLab();
    const strict = workflow(
      "strict",
      {
        input: {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: (value: unknown) =>
              value === "good" ? { value } : { issues: [{ message: "not good" }] },
          },
        },
      },
      async () => undefined,
    );
    const engine = lab.engine([strict]);
    await engine.schedules.create("bad", { workflow: "strict", input: "evil", everyMs: MINUTE });
    await lab.drive(engine.work());
    await lab.clock.advance(2 * MINUTE);
    const bad = await engine.schedules.get("bad");
    expect(bad?.counts.refused).toBe(2);
    expect(bad?.ticks.at(-1)).toMatchObject({ outcome: "refused", why: expect.stringContaining("not good") });
    await expect(lab.drive(engine.schedules.trigger("bad"))).rejects.toMatchObject({ code: "HF-5109" });
    await engine.schedules.update("bad", { input: "good" });
    await lab.clock.advance(MINUTE);
    expect((await engine.list()).runs).toHaveLength(1);
    await lab.drive(engine.close());
  });
});

describe("overlap", () => {
  const overlapping = async (overlap: "skip" | "queue" | "cancel" | "allow", more = {}) => {
    const lab = createLab();
    const { flow, end, open } = slow();
    const engine = lab.engine([flow], { claimMs: 1_000_000_000 });
    await engine.schedules.create("s", { workflow: flow, everyMs: MINUTE, overlap, ...more });
    await lab.drive(engine.work());
    const statuses = async () => [...(await engine.list()).runs].reverse().map(({ status }) => status);
    return { lab, engine, end, open, statuses };
  };

  it("skip leaves out ticks while a run is going on", async () => {
    const { lab, engine, end, statuses } = await overlapping("skip");
    await lab.clock.advance(3 * MINUTE);
    expect(await statuses()).toEqual(["running"]);
    end();
    await lab.clock.advance(MINUTE);
    expect(await statuses()).toEqual(["completed", "running"]);
    expect((await engine.schedules.get("s"))?.counts).toMatchObject({ started: 2, skipped: 2 });
    await lab.crash(engine);
  });

  it("queue starts ticks one after another, up to a limit", async () => {
    const { lab, engine, end, statuses } = await overlapping("queue", { maxQueued: 2 });
    await lab.clock.advance(5 * MINUTE);
    expect(await statuses()).toEqual(["running"]);
    expect((await engine.schedules.get("s"))?.counts).toMatchObject({ queued: 2, dropped: 2 });
    end();
    await lab.clock.advance(1_000);
    expect(await statuses()).toEqual(["completed", "running"]);
    end();
    await lab.clock.advance(1_000);
    end();
    await lab.clock.advance(1_000);
    expect(await statuses()).toEqual(["completed", "completed", "completed"]);
    await lab.crash(engine);
  });

  it("cancel ends the run before", async () => {
    const { lab, engine, statuses } = await overlapping("cancel");
    await lab.clock.advance(2 * MINUTE);
    const [first] = [...(await engine.list()).runs].reverse();
    expect(first?.status).toBe("cancelled");
    expect((await statuses()).at(-1)).toBe("running");
    await lab.crash(engine);
  });

  it("allow starts runs beside each other", async () => {
    const { lab, engine, statuses } = await overlapping("allow");
    await lab.clock.advance(3 * MINUTE);
    expect(await statuses()).toEqual(["running", "running", "running"]);
    await lab.crash(engine);
  });
});

describe("an operator", () => {
  const stage = async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    const input = { name: "Ada" };
    await engine.schedules.create("s", { workflow: greet, input, everyMs: MINUTE, overlap: "allow" });
    await lab.drive(engine.work());
    return { lab, engine };
  };

  it("pauses and resumes a schedule, and the time between isn't made up for", async () => {
    const { lab, engine } = await stage();
    await lab.clock.advance(MINUTE);
    const paused = await engine.schedules.pause("s", { actor: "ops", reason: "maintenance" });
    expect(paused).toMatchObject({ status: "paused", nextTick: null, paused: { actor: "ops" } });
    await lab.clock.advance(10 * MINUTE);
    await engine.schedules.resume("s", { actor: "ops" });
    await lab.clock.advance(MINUTE);
    const shown = await engine.schedules.get("s");
    expect(shown?.counts).toMatchObject({ started: 2, missed: 0 });
    expect(shown?.history.map(({ act, actor }) => [act, actor])).toEqual([
      ["create", undefined],
      ["pause", "ops"],
      ["resume", "ops"],
    ]);
    await lab.drive(engine.close());
  });

  it("updates it, and stale versions are refused", async () => {
    const { lab, engine } = await stage();
    const { version } = (await engine.schedules.get("s")) ?? {};
    const after = await engine.schedules.update("s", { cron: "0 * * * *" }, { version, actor: "ops" });
    expect(after.definition).toMatchObject({ cron: "0 * * * *", input: { name: "Ada" } });
    expect(after.definition.everyMs).toBeUndefined();
    expect(after.history.at(-1)).toMatchObject({ act: "update", changed: ["cron", "everyMs"] });
    await expect(engine.schedules.update("s", { overlap: "skip" }, { version })).rejects.toMatchObject({
      code: "HF-5108",
    });
    expect(await engine.schedules.next("s", { count: 2 })).toHaveLength(2);
    await lab.clock.advance(1);
    await lab.drive(engine.close());
  });

  it("triggers a run, and fills in a range without doubling a tick", async () => {
    const { lab, engine } = await stage();
    await lab.clock.advance(3 * MINUTE);
    const run = await lab.drive(engine.schedules.trigger("s", { input: { name: "Bob" }, reason: "asked" }));
    expect(run.workflow).toBe("greet");
    const to = (await engine.schedules.get("s"))?.lastTick ?? 0;
    const range = { from: to - 2 * MINUTE, to: to + 2 * MINUTE };
    const report = await lab.drive(engine.schedules.backfill("s", range));
    expect([report.existing.length, report.started.length]).toEqual([3, 2]);
    const again = await lab.drive(engine.schedules.backfill("s", range));
    expect(again.started).toEqual([]);
    await lab.clock.advance(2 * MINUTE);
    expect((await engine.list({ limit: 50 })).runs).toHaveLength(6);
    const far = { from: to, to: to + 2_000 * MINUTE };
    await expect(engine.schedules.backfill("s", far)).rejects.toMatchObject({ code: "HF-5105" });
    await lab.drive(engine.close());
  });

  it("deletes it, and what isn't there is refused", async () => {
    const { lab, engine } = await stage();
    await expect(
      engine.schedules.create("s", { workflow: "greet", cron: "* * * * *" }),
    ).rejects.toMatchObject({
      code: "HF-5104",
    });
    await engine.schedules.delete("s");
    expect(await engine.schedules.list()).toEqual([]);
    for (const act of [
      () => engine.schedules.pause("s"),
      () => engine.schedules.delete("s"),
      () => engine.schedules.trigger("s"),
      () => engine.schedules.next("s"),
    ])
      await expect(act()).rejects.toMatchObject({ code: "HF-5100" });
    await lab.drive(engine.close());
  });

  it.each([
    [{ cron: "* * * * *", everyMs: 5_000 }, "HF-1003"],
    [{}, "HF-1003"],
    [{ everyMs: 999 }, "HF-1003"],
    [{ everyMs: 1_000 }, undefined],
    [{ everyMs: 5_000, timezone: "UTC" }, "HF-1003"],
    [{ cron: "* * * * *", timezone: "Nowhere/Land" }, "HF-5102"],
    [{ cron: "61 * * * *" }, "HF-5101"],
    [{ at: "2026-01-01" }, "HF-1003"],
    [{ at: "2020-01-01T00:00:00Z" }, "HF-5103"],
    [{ cron: "* * * * *", overlap: "sometimes" }, "HF-1003"],
    [{ cron: "* * * * *", jitterMs: 60_001 }, "HF-1003"],
    [{ cron: "* * * * *", jitterMs: 60_000 }, undefined],
    [{ cron: "* * * * *", catchUp: { most: 1_001 } }, "HF-1003"],
    [{ cron: "* * * * *", catchup: {} }, "HF-1003"],
    [{ cron: "* * * * *", startAt: 2, endAt: 1 }, "HF-1003"],
    [{ cron: "* * * * *", input: "x".repeat(70_000) }, "HF-5112"],
  ])("gets a clear answer to each set of options (%#)", async (options, code) => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    const made = engine.schedules.create("s", { workflow: "greet", ...options } as never);
    if (code === undefined) await expect(made).resolves.toMatchObject({ name: "s" });
    else await expect(made).rejects.toMatchObject({ code });
  });
});

describe("a declared schedule", () => {
  it("is created once, keeps an operator's edits, and follows a changed declaration", async () => {
    const lab = createLab();
    const input = { name: "Ada" };
    const deploy = async (everyMs: number) => {
      const engine = lab.engine([], { schedules: [schedule("s", greet, { everyMs, input })] });
      await lab.drive(engine.work());
      await lab.clock.advance(1_000);
      return engine;
    };
    const first = await deploy(MINUTE);
    await first.schedules.update("s", { everyMs: 2 * MINUTE });
    await lab.drive(first.close());
    const second = await deploy(MINUTE);
    expect((await second.schedules.get("s"))?.definition.everyMs).toBe(2 * MINUTE);
    await lab.drive(second.close());
    const third = await deploy(5 * MINUTE);
    expect(await third.schedules.get("s")).toMatchObject({
      definition: { everyMs: 5 * MINUTE },
      isDeclared: true,
    });
    await lab.drive(third.close());
  });

  it("may belong to a workflow", async () => {
    const lab = createLab();
    const hourly = workflow("hourly", { schedule: { cron: "* * * * *" } }, async () => "done");
    const engine = lab.engine([hourly]);
    await lab.drive(engine.work());
    await lab.clock.advance(2 * MINUTE);
    expect((await engine.schedules.get("hourly"))?.counts.started).toBe(2);
    await lab.drive(engine.close());
  });
});
