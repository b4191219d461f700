import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";

let isHanging = true;
const called: string[] = [];
const slow = (step: string) => () => {
  called.push(step);
  return isHanging ? hangs() : 2;
};
const flow = workflow("flow", async (ctx) => {
  await ctx.step("first", () => 1);
  return ctx.step("slow", slow("slow"));
});
const mailing = workflow("mailing", (ctx) => ctx.step("mail", slow("mail"), { effect: "once" }));

const HOUR = 3_600_000;

/** Processes by name; those in `dead` are gone. */
function town() {
  const dead = new Set<string>();
  const isGone = (token: string): boolean => dead.has(token.slice(token.indexOf(".") + 1));
  return { dead, process: (mark: string) => ({ claimMs: HOUR, processes: { mark, isGone } }) };
}

async function begin(lab: Lab, engine: Engine, flowOf = flow): Promise<void> {
  isHanging = true;
  called.length = 0;
  await lab.drive(engine.start(flowOf, undefined, { id: "r" }));
  await lab.clock.advance(100);
  isHanging = false;
}

describe("a run whose process has died on this machine", () => {
  it("is taken at once by a process that starts, however long its claim lasts", async () => {
    const lab = createLab();
    const { dead, process } = town();
    const first = lab.engine([flow], process("a"));
    await begin(lab, first);
    await lab.crash(first);
    dead.add("a");
    const second = lab.engine([flow], process("b"));
    expect(await lab.drive(second.recover())).toEqual(["r"]);
    expect(await lab.drive(second.result("r"))).toBe(2);
    expect((await lab.store.read("r"))?.claim.epoch).toBe(3);
    await lab.drive(second.close());
  });

  it("counts as one recovery, from the process that died, with all the time that nobody was at it (S1-58)", async () => {
    const lab = createLab();
    const { dead, process } = town();
    const first = lab.engine([flow], { ...process("a"), owner: "first" });
    await begin(lab, first);
    await lab.crash(first);
    dead.add("a");
    await lab.clock.advance(5_000);
    const second = lab.engine([flow], { ...process("b"), owner: "second" });
    await lab.drive(second.recover());
    await lab.drive(second.result("r"));
    const { incidents } = await lab.drive(second.reports.recoveries());
    expect(incidents).toMatchObject([{ attempt: 1, lost: "first", takenBy: "second", result: "went on" }]);
    expect(incidents[0]?.silentMs).toBeGreaterThanOrEqual(5_000);
    expect(incidents[0]?.interrupted).toEqual([{ step: "slow", effect: "repeatable" }]);
    expect((await lab.drive(second.checkpoints.show("r@last"))).recoveries).toBe(1);
    expect(await lab.drive(second.reports.outline("r"))).toMatchObject({ recoveries: 1 });
    expect((await lab.drive(second.reports.costs({ run: "r" }))).total.saved.steps).toBe(1);
    await lab.drive(second.close());
  });

  it("is taken within a sweep by a process that was there before", async () => {
    const lab = createLab();
    const { dead, process } = town();
    const first = lab.engine([flow], process("a"));
    await begin(lab, first);
    const second = lab.engine([flow], process("b"));
    await second.work();
    await lab.clock.advance(10_000);
    expect((await lab.store.read("r"))?.claim.epoch).toBe(1);
    await lab.crash(first);
    dead.add("a");
    await lab.clock.advance(1_100);
    expect(await second.status("r")).toMatchObject({ headline: "completed" });
    await lab.drive(second.close());
  });

  it("stays with a process that is alive or unknown until its claim expires", async () => {
    const lab = createLab();
    const { process } = town();
    const first = lab.engine([flow], process("a"));
    await begin(lab, first);
    await lab.crash(first);
    const second = lab.engine([flow], process("b"));
    await second.work();
    await lab.clock.advance(HOUR - 60_000);
    expect((await lab.store.read("r"))?.claim.epoch).toBe(1);
    await lab.clock.advance(120_000);
    expect(await second.status("r")).toMatchObject({ headline: "completed" });
    await lab.drive(second.close());
  });

  it("may call a step of unknown outcome again at once, because nothing can still be at it", async () => {
    for (const isKnown of [true, false]) {
      const lab = createLab();
      const { dead, process } = town();
      const first = lab.engine([mailing], process("a"));
      await begin(lab, first, mailing);
      await lab.crash(first);
      if (isKnown) dead.add("a");
      else await lab.clock.advance(2 * HOUR);
      const second = lab.engine([mailing], process("b"));
      await second.work();
      await lab.clock.advance(1_000);
      expect(await second.status("r")).toMatchObject({
        headline: expect.stringContaining("outcome of mail is unknown"),
      });
      const again = lab.drive(second.resolve("r", "mail", { action: "rerun" }));
      if (isKnown) await again;
      else await expect(again).rejects.toMatchObject({ code: "HF-1012" });
      await lab.drive(second.close());
    }
  });

  it("is left to a store that finds out itself who has died", async () => {
    const lab = createLab();
    const { dead, process } = town();
    const first = lab.engine([flow], process("a"));
    await begin(lab, first);
    await lab.crash(first);
    dead.add("a");
    const store = { ...lab.store, capabilities: { ...lab.store.capabilities, endsClaims: true } };
    const second = lab.engine([flow], { ...process("b"), store });
    await second.work();
    await lab.clock.advance(10_000);
    expect((await lab.store.read("r"))?.claim.epoch).toBe(1);
    await lab.drive(second.close());
  });
});
