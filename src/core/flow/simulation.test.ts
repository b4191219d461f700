import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/support/exhaustive.ts";
import { workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { Workflow } from "../context.ts";
import { seededIds } from "../ids.ts";
import { silentLogger } from "../logger.ts";
import type { ScheduleOptions } from "../schedule-options.ts";
import { memoryDocuments } from "../store/documents.ts";
import { checkSchedule } from "./check-schedule.ts";
import type { FlowDeps } from "./flow-deps.ts";
import { newRecord, tickRunId, ticksOfRecord } from "./schedule-record.ts";
import { schedulesKept } from "./schedules.ts";
import { minds } from "./tick.ts";
import { ON_TIME_MS } from "./ticks.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Workers that share a store and may be killed at every write, and an outside count of the runs that were created. */
function stage(seed: number, options: ScheduleOptions, start: number) {
  const ids = seededIds(seed);
  const flow = workflow("flow", async () => undefined) as Workflow;
  const documents = memoryDocuments();
  const created = new Map<string, number>();
  let killed = 0;
  let isDeadly = false;
  const perhapsDie = () => {
    if (!isDeadly || ids.random() > 0.05) return;
    killed++;
    throw new Error("killed");
  };
  const worker = (): FlowDeps => ({
    store: createMemoryStore(),
    documents: () => ({
      ...documents,
      async write(batch) {
        perhapsDie();
        const written = await documents.write(batch);
        perhapsDie();
        return written;
      },
    }),
    hasDocuments: true,
    mindsSchedules: true,
    clock: createFakeClock(),
    logger: silentLogger,
    probe: () => undefined,
    workflows: new Map([["flow", flow]]),
    now: async () => 0,
    timeNow: () => 0,
    newVersion: () => ids.token(),
    newRunId: () => ids.runId(),
    register: () => undefined,
    checkReason: () => undefined,
    async start(_, runId) {
      perhapsDie();
      // As a store does: the first one creates it.
      if (!created.has(runId)) created.set(runId, 1);
      perhapsDie();
      return undefined;
    },
    cancel: async () => undefined,
  });
  const record = newRecord(checkSchedule("s", "flow", options), start, { at: start, act: "create" });
  const workers = [worker(), worker(), worker()];
  const pass = async (now: number) => {
    const each = workers.map(async (deps) => {
      const kept = schedulesKept(deps);
      const held = await kept.read("s");
      if (held) await minds(deps, kept, held, now);
    });
    await Promise.allSettled(each);
  };
  return {
    ids,
    record,
    created,
    put: () => schedulesKept(workers[0] as FlowDeps).replace("s", null, record),
    /** All workers look at once, and any may be killed. */
    async pass(now: number) {
      isDeadly = true;
      await pass(now);
      isDeadly = false;
    },
    /** Nobody is killed. */
    async calmPass(now: number) {
      await pass(now);
    },
    killed: () => killed,
    state: async () => (await schedulesKept(workers[0] as FlowDeps).read("s"))?.value,
  };
}

const SIZE = sampled(240, 10_000);

describe("10,000 simulated ticks", () => {
  it.each([
    ["Europe/Berlin", "2026-03-27T00:00:00Z"],
    ["America/New_York", "2026-10-30T00:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-03T00:00:00Z"],
  ])(
    "across daylight saving, downtime, clock jumps and kills start each run once in %s",
    async (zone, day) => {
      const start = Date.parse(day);
      const everything = { most: 1_000, withinMs: 366 * 24 * HOUR };
      const line = { cron: "*/15 * * * *", timezone: zone, overlap: "allow", catchUp: everything } as const;
      const stand = stage(start, line, start);
      await stand.put();
      const ticks = ticksOfRecord(stand.record);
      let [now, last] = [start, start];
      const count = SIZE / 3;
      for (let expected = 0; expected < count; ) {
        const kind = stand.ids.random();
        // A look every few minutes; now and then everything is down for hours, or the clock is wrong.
        const wrong = kind > 0.97 ? -40 * MINUTE : kind > 0.95 ? 5 * HOUR : 0;
        now += kind < 0.05 ? stand.ids.random() * 9 * HOUR : stand.ids.random() * 20 * MINUTE;
        await stand.pass(Math.round(now + wrong));
        last = Math.max(last, Math.round(now + wrong));
        expected = Math.floor((now - start) / (15 * MINUTE));
      }
      await stand.calmPass(last);
      const wanted: string[] = [];
      for (let tick = ticks.next(start); tick !== null && tick <= last; tick = ticks.next(tick))
        wanted.push(tickRunId("s", tick));
      expect([...stand.created.keys()].sort()).toEqual(wanted.sort());
      expect(stand.killed()).toBeGreaterThan(10);
      expect((await stand.state())?.counts.missed).toBe(0);
    },
    120_000,
  );

  it("after downtime make up for exactly what the rule allows", async () => {
    const start = Date.parse("2026-10-24T00:00:00Z");
    const catchUp = { most: 3, withinMs: 2 * HOUR };
    const line = { cron: "*/15 * * * *", timezone: "Europe/Berlin", overlap: "allow", catchUp } as const;
    const stand = stage(7, line, start);
    await stand.put();
    const ticks = ticksOfRecord(stand.record);
    const wanted = new Set<string>();
    for (let [now, from, n] = [start, start, 0]; n < SIZE / 3; n++) {
      now += Math.round(stand.ids.random() < 0.2 ? stand.ids.random() * 9 * HOUR : 15 * MINUTE);
      const since: number[] = [];
      for (let tick = ticks.next(from); tick !== null && tick <= now; tick = ticks.next(tick))
        since.push(tick);
      const late = since.filter((tick) => now - tick > ON_TIME_MS && now - tick <= catchUp.withinMs);
      const onTime = since.filter((tick) => now - tick <= ON_TIME_MS);
      for (const tick of [...late.slice(-catchUp.most), ...onTime]) wanted.add(tickRunId("s", tick));
      from = since.at(-1) ?? from;
      await stand.calmPass(now);
    }
    expect([...stand.created.keys()].sort()).toEqual([...wanted].sort());
  }, 120_000);
});

describe("a clock that was years ahead for a moment", () => {
  it("neither silences a schedule nor doubles a run", async () => {
    const start = Date.parse("2026-01-01T00:00:00Z");
    const stand = stage(3, { everyMs: HOUR, overlap: "allow" }, start);
    await stand.put();
    await stand.calmPass(start + HOUR);
    await stand.calmPass(start + 3 * 365 * 24 * HOUR);
    await stand.calmPass(start + HOUR + 1);
    const before = stand.created.size;
    await stand.calmPass(start + 2 * HOUR);
    await stand.calmPass(start + 3 * HOUR);
    expect(stand.created.size).toBe(before + 2);
  });
});
