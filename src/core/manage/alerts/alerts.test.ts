import { describe, expect, it } from "vitest";
import { createDesk } from "../../../../test/support/alert-desk.ts";
import { createApiStage } from "../../../../test/support/api.ts";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

const pay = workflow("pay", async (ctx, kind: string) => {
  if (kind === "broken" && (await ctx.step("look", () => "x")) === "x")
    await ctx.step("fail", () => Promise.reject(new Error("no money")), { retry: false });
  if (kind === "gate") await ctx.gate("approve", { choices: ["yes", "no"] });
  if (kind === "mail") await ctx.step("mail", hangs, { effect: "once" });
  if (kind === "long") await ctx.step("long", hangs);
  if (kind === "dear") {
    await ctx.step("one", () => ctx.usage({ tokens: 10, costUsd: 2 }));
    await ctx.step("two", () => 2);
  }
  return kind;
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function stage() {
  const lab = createLab();
  const desk = createDesk();
  const alerts = {
    notify: [desk],
    dashboardUrl: "https://ops.test/",
    runbookUrl: "https://docs.test/runbooks",
  };
  /** Engines that look when they are told to. */
  const watcher = lab.engine([], { alerts, owner: "watcher", execute: false });
  const check = () => lab.drive(watcher.alerts.check());
  return { lab, desk, alerts, watcher, check };
}

describe("alerts", () => {
  it("calls once for a failed run, with links, and says when it is over", async () => {
    const { lab, desk, check } = stage();
    const engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, "broken", { id: "p1" }));
    await lab.drive(engine.settled("p1"));
    await check();
    await check();
    // A service level is missed as well, because the only run has failed.
    expect(desk.news()).toEqual(["opened run-failed P2 p1", "opened slo-completion P2"]);
    expect(desk.all[0]).toMatchObject({
      title: "[P2] pay p1: failed: no money",
      links: { page: "https://ops.test/r/p1", runbook: "https://docs.test/runbooks/run-failed" },
    });
    await lab.drive(engine.delete("p1"));
    await lab.clock.advance(MINUTE);
    expect((await check()).open).toEqual({ P1: 0, P2: 0 });
    expect(desk.news()).toEqual(["cleared run-failed P2 p1", "cleared slo-completion P2"]);
    await check();
    expect(desk.news()).toEqual([]);
  });

  it("calls for a gate only when it has waited past its time, and clears when it is answered", async () => {
    const { lab, desk, check } = stage();
    const engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, "gate", { id: "g" }));
    await lab.drive(engine.settled("g"));
    await check();
    expect(desk.news()).toEqual([]);
    await lab.clock.skip(31 * MINUTE);
    await check();
    expect(desk.news()).toEqual(["opened gate-waiting P2 g"]);
    await lab.drive(engine.answer("g", "approve", { choice: "yes" }));
    await lab.drive(engine.result("g"));
    await check();
    expect(desk.news()).toEqual(["cleared gate-waiting P2 g"]);
  });

  it("calls for a step in doubt at once, and for a recovery loop", async () => {
    const { lab, desk, check } = stage();
    let engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, "mail", { id: "m" }));
    ({ engine } = await lab.afterCrash(engine, [pay], "m"));
    await check();
    expect(desk.news()).toEqual(["opened in-doubt P1 m"]);
    await lab.drive(engine.resolve("m", "mail", { action: "done" }));
    await lab.drive(engine.result("m"));
    await check();
    expect(desk.news()).toEqual(["cleared in-doubt P1 m"]);
    const recovery = { recovery: { maxAttempts: 1 } };
    for (let death = 0; death < 3; death++) {
      await lab.crash(engine);
      await lab.clock.advance(20_000);
      engine = lab.engine([pay], recovery);
      if (death === 0) await lab.drive(engine.start(pay, "long", { id: "l" }));
      else await lab.drive(engine.recover());
      await lab.clock.settle();
    }
    await check();
    expect(desk.news()).toEqual(["opened recovery-loop P1 l"]);
  });

  it("calls for a stalled run, for a reached budget, and for a run that nobody may continue", async () => {
    const { lab, desk, check } = stage();
    const engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, "dear", { id: "d", budget: { costUsd: 1 } }));
    await lab.drive(engine.settled("d"));
    await lab.drive(engine.start(pay, "long", { id: "l" }));
    await check();
    expect(desk.news()).toEqual(["opened budget P2 d"]);
    await lab.crash(engine);
    await lab.clock.skip(10_000 + 11_000);
    await check();
    expect(desk.news()).toEqual(["opened run-stalled P2 l"]);
    const next = lab.engine([pay]);
    await lab.drive(next.recover());
    await lab.drive(next.resume("d", { budget: { costUsd: 9 } }));
    await lab.drive(next.result("d"));
    await check();
    expect(desk.news().sort()).toEqual(["cleared budget P2 d", "cleared run-stalled P2 l"]);
  });

  it("reminds, makes a forgotten alert more urgent, and is quiet once somebody looks after it", async () => {
    const { lab, desk, check, watcher } = stage();
    const engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, "broken", { id: "p" }));
    await lab.drive(engine.settled("p"));
    await lab.drive(engine.close());
    await watcher.slo.setTarget("completion", { alarm: null, goal: null });
    await check();
    for (const [hours, news] of [
      [3.9, []],
      [0.2, ["reminder run-failed P2 p"]],
      [4, ["escalated run-failed P1 p"]],
      [0.4, []],
      [0.2, ["reminder run-failed P1 p"]],
    ] as const) {
      if (hours === 3.9) desk.news();
      await lab.clock.skip(hours * HOUR);
      await check();
      expect(desk.news()).toEqual(news);
    }
    await watcher.alerts.ack("run-failed:p", { actor: "ada", reason: "on it" });
    await lab.clock.skip(12 * HOUR);
    const { alerts } = await check();
    expect(desk.news()).toEqual([]);
    expect(alerts).toMatchObject([{ key: "run-failed:p", acked: { by: "ada", reason: "on it" } }]);
    await expect(watcher.alerts.ack("run-failed:none")).rejects.toMatchObject({ code: "HF-6120" });
  });

  it("lets one process of several notify, and another go on when it is gone", async () => {
    const { lab, desk, alerts } = stage();
    const engine = lab.engine([pay]);
    const watchers = [1, 2, 3].map((n) => lab.engine([], { alerts, owner: `w${n}`, execute: false }));
    await lab.drive(engine.start(pay, "broken", { id: "p" }));
    await lab.drive(engine.settled("p"));
    await Promise.all(watchers.map((one) => lab.drive(one.alerts.check())));
    await Promise.all(watchers.map((one) => lab.drive(one.alerts.check())));
    expect(desk.news().filter((one) => one.includes("run-failed"))).toEqual(["opened run-failed P2 p"]);
    await lab.drive(engine.delete("p"));
    // The one that had the lease is heard of no more.
    await lab.clock.skip(MINUTE);
    await lab.drive((watchers[1] as (typeof watchers)[0]).alerts.check());
    expect(desk.news()).toContain("cleared run-failed P2 p");
  });

  it("keeps what could not be delivered, and sends it later under the same id to those who lack it", async () => {
    const { lab, alerts, desk } = stage();
    const other = createDesk("other");
    const watcher = lab.engine([], { alerts: { ...alerts, notify: [other, desk] }, execute: false });
    const engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, "broken", { id: "p" }));
    await lab.drive(engine.settled("p"));
    await lab.drive(engine.close());
    desk.isDown = true;
    await watcher.slo.setTarget("completion", { alarm: null, goal: null });
    const { alerts: open } = await lab.drive(watcher.alerts.check());
    expect(open[0]?.pending).toEqual([{ news: "opened", tries: 1, error: "desk: the desk is closed" }]);
    await watcher.close({ drainMs: 0 });
    desk.isDown = false;
    await lab.clock.skip(MINUTE);
    const next = lab.engine([], { alerts: { ...alerts, notify: [other, desk] }, execute: false });
    await lab.drive(next.alerts.check());
    expect(desk.all).toHaveLength(1);
    expect(other.all).toHaveLength(1);
    expect(desk.all[0]?.id).toBe(other.all[0]?.id);
    expect((await next.alerts.list()).alerts[0]?.pending).toEqual([]);
  });

  it("tells many alerts that open at once in a few messages", async () => {
    const { lab, desk, check } = stage();
    const engine = lab.engine([pay]);
    for (let n = 0; n < 30; n++) await lab.drive(engine.start(pay, "broken", { id: `p${n}` }));
    for (let n = 0; n < 30; n++) await lab.drive(engine.settled(`p${n}`));
    expect((await check()).open.P2).toBe(31);
    const failed = desk.all.filter(({ kind }) => kind === "run-failed");
    expect(failed.map(({ others }) => others)).toEqual([24, 0, 0, 0, 0, 0]);
    expect(failed[0]?.title).toContain("(and 24 more like it)");
    await check();
    expect(desk.all.filter(({ kind }) => kind === "run-failed")).toHaveLength(6);
  });

  it("calls while the store is away, from one process, and says when it is back", async () => {
    const lab = createLab();
    const desk = createDesk();
    let isAway = false;
    const store: typeof lab.store = {
      ...lab.store,
      now: () => (isAway ? Promise.reject(new Error("connection refused")) : lab.store.now()),
    };
    const watchers = [1, 2].map((n) =>
      lab.engine([], { store, alerts: { notify: [desk] }, owner: `w${n}`, execute: false }),
    );
    const check = async (): Promise<void> => {
      for (const one of watchers) await one.alerts.check().catch(() => undefined);
    };
    await check();
    isAway = true;
    for (let pass = 0; pass < 6; pass++) {
      await check();
      await lab.clock.skip(15_000);
    }
    expect(desk.news()).toEqual(["opened store-away P1"]);
    isAway = false;
    await check();
    await check();
    expect(desk.news()).toEqual(["cleared store-away P1"]);
    await watchers[0]?.slo.flush();
    expect((await watchers[0]?.slo.report())?.probes).toMatchObject({ failed: 12 });
  });

  it("lists alerts through the API, takes them over, and tests the channels", async () => {
    const desk = createDesk();
    const closed = createDesk("closed");
    closed.isDown = true;
    const { lab, engine, client } = createApiStage([pay], { engine: { alerts: { notify: [desk, closed] } } });
    await lab.drive(engine.start(pay, "broken", { id: "p" }));
    await lab.drive(engine.settled("p"));
    await lab.drive(engine.alerts.check());
    const { alerts, open } = await client.listAlerts();
    expect([alerts.map(({ key }) => key), open]).toEqual([
      ["run-failed:p", "slo-completion"],
      { P1: 0, P2: 2 },
    ]);
    expect(alerts[0]?.links).toEqual({ page: null, runbook: "docs/runbooks/run-failed.md" });
    const taken = await client.ackAlert({ alert: "run-failed:p", reason: "mine" });
    expect(taken.acked).toMatchObject({ by: "ada", reason: "mine" });
    await expect(client.ackAlert({ alert: "nothing", reason: "x" })).rejects.toMatchObject({ status: 404 });
    expect((await client.testAlerts({ reason: "try" })).results).toEqual([
      { channel: "desk", ok: true, error: null },
      { channel: "closed", ok: false, error: "the desk is closed" },
    ]);
  });
});

describe("budgets of a month", () => {
  it("warn at 80 %, call at 100 %, by label, and never count an unknown price as nothing (S1-61)", async () => {
    const { lab, desk, check, watcher } = stage();
    const engine = lab.engine([pay]);
    const { budgets } = watcher.alerts;
    await budgets.set("payments", { usd: 4.8, label: "team=payments" }, { actor: "ada" });
    const spend = async (id: string, team: string): Promise<void> => {
      await lab.drive(engine.start(pay, "dear", { id, labels: { team } }));
      await lab.drive(engine.result(id));
    };
    await spend("a", "payments");
    await spend("b", "other");
    expect(await budgets.list()).toMatchObject([
      { name: "payments", spentUsd: 2, unpriced: 0, state: "within" },
    ]);
    await spend("c", "payments");
    await check();
    expect(desk.news()).toEqual(["opened budget P2"]);
    await spend("d", "payments");
    await lab.clock.skip(301_000);
    await check();
    expect(desk.news()).toEqual(["escalated budget P1"]);
    expect(desk.all.at(-1)?.summary).toBe(
      "the budget payments of 2026-01 is reached: $6.00 of $4.80 (125 %)",
    );
    await budgets.set("payments", { usd: 100, label: "team=payments" });
    await lab.clock.skip(301_000);
    await check();
    expect(desk.news()).toEqual(["cleared budget P1"]);
  });
});
