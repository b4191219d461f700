import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { stallOf } from "../../../manage.ts";
import { createFaultyStore } from "../../../testing/faulty-store.ts";
import { UNCLAIMED } from "../../store/claim.ts";
import type { RunRow } from "../../types.ts";

const HOUR = 3_600_000;
const held = (until: number): RunRow["claim"] => ({ epoch: 1, owner: "w", token: "t", until });
const row = (more: Partial<RunRow>) => ({
  status: "running" as const,
  wakeAt: 0,
  claim: UNCLAIMED,
  updatedAt: 0,
  ...more,
});

describe("stallOf", () => {
  it("finds a run that is due and that nobody takes, after a moment of grace", () => {
    for (const status of ["queued", "running", "waiting"] as const) {
      expect(stallOf(row({ status }), 9_000)).toBeNull();
      expect(stallOf(row({ status }), 60_000)).toEqual({
        kind: "unclaimed",
        since: 0,
        reason: "no worker has taken it since 1970-01-01T00:00:00.000Z",
      });
    }
    expect(stallOf(row({ claim: held(50_000) }), 55_000)).toBeNull();
    expect(stallOf(row({ claim: held(50_000) }), 61_000)?.since).toBe(50_000);
  });

  it("leaves alone what has ended, is paused, or waits for something that has a name or a time", () => {
    for (const status of ["completed", "failed", "cancelled", "paused"] as const)
      expect(stallOf(row({ status }), HOUR)).toBeNull();
    expect(stallOf(row({ status: "waiting", wakeAt: null }), HOUR)).toBeNull();
    expect(stallOf(row({ status: "waiting", wakeAt: 2 * HOUR }), HOUR)).toBeNull();
  });

  it("leaves alone what stands in line in a queue, however long the line is", () => {
    expect(stallOf(row({ status: "queued", queue: "mail" }), HOUR)).toBeNull();
    expect(stallOf(row({ status: "running", queue: "mail" }), HOUR)).toMatchObject({ kind: "unclaimed" });
  });

  it("finds a run whose worker is known to be gone before its claim has run out", () => {
    const one = row({ claim: held(HOUR), updatedAt: 5 });
    expect(stallOf(one, 60_000)).toBeNull();
    expect(stallOf(one, 60_000, true)).toMatchObject({ kind: "abandoned", since: 5 });
  });

  it("finds a run that is held and has saved nothing for a long time", () => {
    const one = row({ claim: held(2 * HOUR) });
    expect(stallOf(one, 599_000)).toBeNull();
    expect(stallOf(one, 600_000)).toMatchObject({ kind: "quiet", since: 0 });
    // It has been handed over, and waits for its claim to run out.
    expect(stallOf({ ...one, status: "queued" }, HOUR)).toBeNull();
  });
});

describe("the status of a run that gets nowhere", () => {
  const flow = workflow("flow", async (ctx) => {
    await ctx.step("first", () => 1);
    await ctx.step("slow", hangs);
  });

  it("says that no worker takes it, or that nothing is saved, and since when", async () => {
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    expect(await engine.status("r")).toMatchObject({ headline: "running: slow", stalled: null });
    await lab.clock.advance(HOUR);
    expect(await engine.status("r")).toMatchObject({
      headline: expect.stringMatching(/^running: slow; none of its work was saved since 2026-01-01T00:00:0/),
      stalled: { kind: "quiet" },
    });
    await lab.crash(engine);
    await lab.clock.advance(60_000);
    const other = lab.engine([], { execute: false });
    expect(await other.status("r")).toMatchObject({
      headline: expect.stringMatching(/^running: slow; no worker has taken it since 2026-01-01T01:00:/),
      stalled: { kind: "unclaimed" },
    });
  });

  it("says since which position nothing is saved, also while the store does not answer at all", async () => {
    for (const methods of [["append"], ["append", "read", "entries", "due", "renew"]]) {
      const lab = createLab();
      let isDown = false;
      const store = createFaultyStore(lab.store, {
        choose: (method) => (isDown && methods.includes(method) ? { kind: "fail" } : undefined),
      });
      const engine = lab.engine([flow], { store });
      const cut = workflow("cut", async (ctx) => {
        await ctx.step("first", () => 1);
        await ctx.step("second", () => void (isDown = true));
        await ctx.step("third", () => 3);
      });
      await lab.drive(engine.start(cut, undefined, { id: "r" }));
      await lab.clock.advance(5_000);
      const seq = (await lab.store.read("r"))?.seq ?? 0;
      expect(await engine.status("r")).toMatchObject({
        headline: expect.stringMatching(new RegExp(`^running.*; not saved since #${seq}$`)),
        notSavedSince: seq,
      });
      isDown = false;
      await lab.clock.advance(5_000);
      expect(await engine.status("r")).toMatchObject({ headline: "completed", notSavedSince: null });
    }
  });
});
