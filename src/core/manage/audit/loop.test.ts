import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import type { KeptHead } from "../../audit/log.ts";
import { silentLogger } from "../../logger.ts";
import { AuditLoop } from "./loop.ts";

const head: KeptHead = { size: 1, note: "", parts: [], at: 0 };

/** A loop whose heads take this long to sign and to send. */
function stage(takes: { readonly sign: number; readonly send: number }) {
  const clock = createFakeClock();
  const signed: number[] = [];
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
  const loop = new AuditLoop({
    clock,
    logger: silentLogger,
    everyMs: 60_000,
    events: 1_000,
    async sign() {
      signed.push(clock.monotonic());
      await wait(takes.sign);
      return head;
    },
    send: () => wait(takes.send),
  });
  loop.start();
  const write = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      loop.heard(400);
      await clock.advance(10);
    }
  };
  return { loop, signed, write, clock };
}

describe("heads that are signed in the background", () => {
  it("take less than a hundredth of the time, however much is written (U2)", async () => {
    const { signed, write } = stage({ sign: 20, send: 0 });
    await write(10_000);
    const gaps = signed.slice(1).map((at, index) => at - (signed[index] ?? 0));
    expect(gaps).toHaveLength(2);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4_020);
    expect(Math.max(...gaps)).toBeLessThan(4_060);
  });

  it("take less than a hundredth of what the processor does, however long the process waits for its disk (U2)", async () => {
    const clock = createFakeClock();
    let used = 0;
    const signed: { readonly from: number; readonly to: number }[] = [];
    const loop = new AuditLoop({
      clock: { ...clock, processor: () => used },
      logger: silentLogger,
      everyMs: 60_000,
      events: 1_000,
      sign() {
        signed.push({ from: used, to: (used += 2) });
        return Promise.resolve(head);
      },
      send: () => Promise.resolve(),
    });
    loop.start();
    // A tenth of the time the process works; the rest it waits.
    for (let passed = 0; passed < 20_000; passed += 10) {
      loop.heard(400);
      used += 1;
      await clock.advance(10);
    }
    const work = signed.slice(1).map(({ from }, index) => from - (signed[index]?.to ?? 0));
    expect(signed.length).toBeGreaterThanOrEqual(4);
    expect(Math.min(...work)).toBeGreaterThanOrEqual(400);
    expect(Math.max(...work)).toBeLessThan(420);
    await loop.stop(false);
    expect(clock.pending()).toBe(0);
  });

  it("are signed at least once in a minute, however long one takes", async () => {
    const { signed, write } = stage({ sign: 5_000, send: 0 });
    await write(150_000);
    expect(signed.length).toBeGreaterThanOrEqual(3);
  });

  it("don't wait because an anchor is slow", async () => {
    const { signed, write } = stage({ sign: 0, send: 1_000 });
    await write(3_000);
    expect(signed.length).toBe(3);
  });

  it("are no longer waited for once the loop is stopped", async () => {
    const { loop, signed, clock } = stage({ sign: 20, send: 0 });
    loop.heard(1_000);
    await clock.advance(100);
    loop.heard(1_000);
    await clock.advance(100);
    await loop.stop(false);
    expect(signed).toEqual([0]);
    expect(clock.pending()).toBe(0);
  });
});
