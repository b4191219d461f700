import { describe, expect, it } from "vitest";
import { createDesk } from "../../../../test/support/alert-desk.ts";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { auditKey, newAuditKey } from "../../../security/audit-key.ts";
import type { FakeClock } from "../../../testing/fake-clock.ts";
import type { Store } from "../../store/contract.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const work = workflow("work", async (ctx, kind: string) => {
  await ctx.step("one", () => ctx.usage({ tokens: 10, costUsd: 3, model: "m" }));
  await ctx.loop("turns", { n: 0 }, (state, turn) => (++state.n < 5 ? undefined : turn.done()));
  if (kind === "slow") await ctx.step("two", hangs);
});

/** The store behind a disk that takes so long for each write. */
const onSlowDisk = (store: Store, clock: FakeClock, ms: number): Store =>
  new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      const call = found.bind(target) as (...args: unknown[]) => unknown;
      if (name !== "append") return call;
      return async (...args: unknown[]) => {
        await new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
        return call(...args);
      };
    },
  });

function stage() {
  const lab = createLab();
  const desk = createDesk();
  const watcher = lab.engine([], { alerts: { notify: [desk] }, owner: "watcher", execute: false });
  const check = () => lab.drive(watcher.alerts.check());
  return { lab, desk, watcher, check };
}

describe("alerts whose cause is made", () => {
  it("call once when writes are slow, and clear when an hour has passed without them (S1-57)", async () => {
    const { lab, desk, check } = stage();
    const engine = lab.engine([work], { store: onSlowDisk(lab.store, lab.clock, 80) });
    await lab.drive(engine.start(work, "fine", { id: "w" }));
    await lab.drive(engine.result("w"));
    await engine.slo.flush();
    await check();
    await check();
    expect(desk.news()).toEqual(["opened slo-write P2"]);
    expect(desk.all[0]?.title).toMatch(
      /writes are slow: 95 of 100 take up to \d+ ms \(goal 15 ms, alarm 50 ms\)/,
    );
    await lab.drive(engine.close());
    await lab.clock.advance(2 * HOUR);
    await check();
    await check();
    expect(desk.news()).toEqual(["cleared slo-write P2"]);
  });

  it("call once when nobody recovers a run for five minutes, and clear after a recovery's hour (S1-58)", async () => {
    const { lab, desk, check } = stage();
    const engine = lab.engine([work]);
    await lab.drive(engine.start(work, "slow", { id: "s" }));
    await lab.crash(engine);
    await lab.clock.advance(4 * MINUTE);
    await check();
    expect(desk.news().filter((one) => one.includes("slo-recovery"))).toEqual([]);
    await lab.clock.advance(2 * MINUTE);
    await check();
    await check();
    expect(desk.news().filter((one) => one.includes("slo-recovery"))).toEqual(["opened slo-recovery P1"]);
    const next = lab.engine([work]);
    await lab.drive(next.recover());
    await lab.drive(next.cancel("s"));
    await lab.drive(next.close());
    await lab.clock.advance(2 * HOUR);
    await check();
    await check();
    expect(desk.news().filter((one) => one.includes("slo-recovery"))).toEqual(["cleared slo-recovery P1"]);
  });

  it("call once when the store was away for longer than the month allows (S1-60)", async () => {
    const { lab, desk, watcher, check } = stage();
    const probe = (times: number, isAnswered: boolean): void => {
      for (let n = 0; n < times; n++) {
        watcher.slo.probed(isAnswered);
        lab.clock.jump(15_000);
      }
    };
    probe(1_000, true);
    probe(20, false);
    await watcher.slo.flush();
    await check();
    await check();
    expect(desk.news()).toEqual(["opened slo-availability P1"]);
    await lab.clock.advance(31 * DAY);
    probe(100, true);
    await watcher.slo.flush();
    await check();
    await check();
    expect(desk.news().filter((one) => one.startsWith("cleared"))).toEqual(["cleared slo-availability P1"]);
  });

  it("call once for recoveries, iterations and cost beyond lines that somebody has set (S1-61)", async () => {
    const { lab, desk, watcher, check } = stage();
    const engine = lab.engine([work]);
    await lab.drive(engine.start(work, "fine", { id: "a" }));
    await lab.drive(engine.result("a"));
    await lab.drive(engine.start(work, "slow", { id: "b" }));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([work]);
    await lab.drive(next.recover());
    await lab.drive(next.cancel("b"));
    await check();
    expect(desk.news()).toEqual([]);
    await watcher.slo.setTarget("recovery-rate", { goal: 0.1, alarm: 0.2 });
    await watcher.slo.setTarget("iterations", { goal: 2, alarm: 4, severity: "P1" });
    await watcher.slo.setTarget("cost", { goal: 1, alarm: 2 });
    await lab.clock.advance(MINUTE);
    await check();
    await check();
    const called = ["slo-cost P2", "slo-iterations P1", "slo-recovery-rate P2"];
    expect(desk.news().sort()).toEqual(called.map((one) => `opened ${one}`));
    for (const name of ["recovery-rate", "iterations", "cost"] as const)
      await watcher.slo.setTarget(name, null);
    await lab.clock.advance(MINUTE);
    await check();
    await check();
    expect(desk.news().sort()).toEqual(called.map((one) => `cleared ${one}`));
    await lab.drive(next.close());
  });

  it("call once when an anchor doesn't take the heads, and clear when it does (anchor-late)", async () => {
    const lab = createLab();
    const desk = createDesk();
    const anchor = {
      name: "notebook",
      isDown: true,
      async send() {
        if (this.isDown) throw new Error("the notebook is closed");
      },
    };
    const key = auditKey(newAuditKey("example.com/audit").privateKey);
    const engine = lab.engine([work], {
      audit: { key, anchors: [anchor] },
      alerts: { notify: [desk] },
      owner: "w",
    });
    const check = () => lab.drive(engine.alerts.check());
    await lab.drive(engine.start(work, "fine", { id: "a" }));
    await lab.drive(engine.result("a"));
    await lab.clock.advance(2 * MINUTE);
    await check();
    expect(desk.news()).toEqual([]);
    await lab.clock.advance(5 * MINUTE);
    await check();
    await check();
    expect(desk.news()).toEqual(["opened anchor-late P2"]);
    expect(desk.all[0]?.title).toContain("notebook");
    anchor.isDown = false;
    await lab.drive(engine.start(work, "fine", { id: "b" }));
    await lab.drive(engine.result("b"));
    await lab.clock.advance(2 * MINUTE);
    await check();
    await check();
    expect(desk.news()).toEqual(["cleared anchor-late P2"]);
    await lab.drive(engine.close());
  });
});
