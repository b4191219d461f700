import { readFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createDesk } from "../../../../test/support/alert-desk.ts";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { auditKey, newAuditKey } from "../../../security/audit-key.ts";
import type { FakeClock } from "../../../testing/fake-clock.ts";
import type { Store } from "../../store/contract.ts";
import { ALERT_KINDS } from "./kinds.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const work = workflow("work", async (ctx, kind: string) => {
  await ctx.step("one", () => ctx.usage({ tokens: 10, costUsd: 3, model: "m" }));
  await ctx.loop("turns", { n: 0 }, (state, turn) => (++state.n < 5 ? undefined : turn.done()));
  if (kind === "slow") await ctx.step("two", hangs);
});

const asks = workflow("asks", (ctx) => ctx.gate("ok", { choices: ["yes", "no"] }));

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
    expect(desk.news().sort()).toEqual([
      "opened slo-cost P2",
      "opened slo-iterations P1",
      "opened slo-recovery-rate P2",
    ]);
    for (const name of ["recovery-rate", "iterations", "cost"] as const)
      await watcher.slo.setTarget(name, null);
    await lab.clock.advance(MINUTE);
    await check();
    await check();
    expect(desk.news().sort()).toEqual([
      "cleared slo-cost P2",
      "cleared slo-iterations P1",
      "cleared slo-recovery-rate P2",
    ]);
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

  it("call once for a run that came from another store, and clear when somebody has accepted it", async () => {
    const here = createLab();
    const home = here.engine([asks]);
    await here.drive(home.start(asks, undefined, { id: "r" }));
    await here.drive(home.settled("r"));
    const bundle: string[] = [];
    for await (const line of home.transfer.exportRun("r")) bundle.push(line);
    await here.crash(home);
    const { lab, desk, watcher, check } = stage();
    await lab.drive(watcher.transfer.importRuns(Readable.from(bundle)));
    await check();
    await check();
    expect(desk.news()).toEqual(["opened run-held P2 r"]);
    const { digest } = await lab.drive(watcher.transfer.review("r"));
    await lab.drive(watcher.transfer.accept("r", { digest, actor: "ops", reason: "looked at" }));
    await check();
    await check();
    expect(desk.news()).toEqual(["cleared run-held P2 r"]);
  });

  it("call once for a run that kills its workers, and clear when it is cancelled", async () => {
    const { lab, desk, check } = stage();
    let engine = lab.engine([work], { recovery: { maxAttempts: 1 } });
    await lab.drive(engine.start(work, "slow", { id: "l" }));
    for (let death = 0; death < 2; death++) {
      await lab.crash(engine);
      await lab.clock.advance(20_000);
      engine = lab.engine([work], { recovery: { maxAttempts: 1 } });
      await lab.drive(engine.recover());
      await lab.clock.settle();
    }
    const told = () => desk.news().filter((one) => one.includes("recovery-loop"));
    await check();
    await check();
    expect(told()).toEqual(["opened recovery-loop P1 l"]);
    await lab.drive(engine.cancel("l"));
    await check();
    await check();
    expect(told()).toEqual(["cleared recovery-loop P1 l"]);
    await lab.drive(engine.close());
  });

  it("are of every kind that there is, and each is cleared (S1-57)", () => {
    const tests = ["alerts.test.ts", "fired.test.ts", "../../../../test/crash/alerts.test.ts"]
      .map((file) => readFileSync(path.join(import.meta.dirname, file), "utf8"))
      .join("\n");
    const missing = ALERT_KINDS.filter((kind) => kind !== "test").flatMap((kind) =>
      ["opened", "cleared"].filter((news) => !new RegExp(`"${news} ${kind}[ "]`).test(tests)),
    );
    expect(missing).toEqual([]);
  });
});
