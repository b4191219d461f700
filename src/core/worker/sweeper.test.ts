import { describe, expect, it, vi } from "vitest";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { RunRow } from "../types.ts";
import { Sweeper } from "./sweeper.ts";

const row = (id: string, updatedAt = 0): RunRow => ({ id, updatedAt }) as RunRow;
const rows = (count: number, name = "r"): RunRow[] =>
  Array.from({ length: count }, (_, n) => row(`${name}${String(n).padStart(5, "0")}`));

/** A worker as the sweeper sees it: `list` is what is due, `taken` what it advances. */
function stage(
  list: RunRow[],
  {
    concurrency = 1_000,
    busy = new Set<string>(),
    stuck = new Set<string>(),
    mute = new Map<string, Promise<void>>(),
    isApart = false,
  } = {},
) {
  const clock = createFakeClock();
  const taken: string[] = [];
  const active = new Set<string>();
  let [asked, deferred, checked] = [0, 0, 0];
  const sweeper = new Sweeper({
    clock: { ...clock, defer: (callback) => (deferred++, setImmediate(callback)) },
    now: () => 0,
    mayTake: () => true,
    room: () => concurrency - active.size,
    prepare: async () => undefined,
    check: async () => void checked++,
    due: async (limit) => (asked++, list.slice(0, limit)),
    isTaken: ({ id }) => busy.has(id),
    isApart,
    take: async ({ id }) => {
      if (mute.has(id)) busy.add(id);
      await mute.get(id);
      if (stuck.has(id)) return "left";
      list.splice(
        list.findIndex((one) => one.id === id),
        1,
      );
      active.add(id);
      taken.push(id);
      return "taken";
    },
    nextRound: () => false,
    failed: (error) => {
      throw error;
    },
  });
  const end = (id: string): void => {
    active.delete(id);
    sweeper.freed();
  };
  return {
    sweeper,
    clock,
    taken,
    active,
    end,
    asked: () => asked,
    deferred: () => deferred,
    checked: () => checked,
  };
}

describe("runs that are woken together", () => {
  it("cost two looks at the store's identity, and not one each", async () => {
    const due = rows(1_000);
    const { sweeper, taken, checked } = stage([...due]);
    await Promise.all(due.map((one) => sweeper.one(one)));
    expect(taken).toHaveLength(1_000);
    expect(checked()).toBe(2);
  });
});

describe("sweeps", () => {
  it("ends although a full page of due runs is being seen to by others (E1)", async () => {
    const busy = new Set(rows(100).map(({ id }) => id));
    const { sweeper, asked } = stage(rows(100), { busy });
    expect(await sweeper.sweep()).toEqual([]);
    expect(asked()).toBe(1);
  });

  it("looks past runs that are being seen to only when they stay where they are (E8)", async () => {
    const list = [...rows(800, "a"), row("z")];
    const busy = new Set(rows(800, "a").map(({ id }) => id));
    const { sweeper, clock, asked } = stage(list, { busy });
    for (let sweeps = 1; sweeps <= 5; sweeps++) {
      expect(await sweeper.sweep()).toEqual([]);
      expect(asked()).toBe(sweeps);
      await clock.advance(4_000);
      list.splice(0, 50);
    }
    expect(await sweeper.sweep()).toEqual([]);
    await clock.advance(5_000);
    expect(await sweeper.sweep()).toEqual(["z"]);
  });

  it("finds what stands behind hundreds of runs that nothing can be done about (E1)", async () => {
    const stuck = new Set(rows(750, "a").map(({ id }) => id));
    const { sweeper, asked } = stage([...rows(750, "a"), row("z")], { stuck });
    expect(await sweeper.sweep()).toEqual(["z"]);
    expect(asked()).toBeLessThan(10);
  });

  it("gives everything else its turn after every page (E1, E13)", async () => {
    const { sweeper, taken, deferred } = stage(rows(1_000));
    expect(await sweeper.sweep()).toHaveLength(1_000);
    expect(taken).toHaveLength(1_000);
    expect(deferred()).toBeGreaterThanOrEqual(9);
  });

  it("takes every due run as room is made, never more at once than there is room for (E13)", async () => {
    const { sweeper, taken, active, end } = stage(rows(100), { concurrency: 10 });
    let most = 0;
    const all = sweeper.all();
    for (let turns = 0; taken.length < 100 && turns < 10_000; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, active.size);
      for (const id of active) end(id);
    }
    expect(await all).toHaveLength(100);
    expect(most).toBe(10);
  });

  it("does not wait for runs that fell due later (E13)", async () => {
    const { sweeper } = stage([row("a", 5), row("b", 600_000)], { concurrency: 1 });
    const ids = await sweeper.all();
    expect(ids).toEqual(["a"]);
  });

  it("are not held up by a run that doesn't answer where runs are written independently", async () => {
    let answer = (): void => undefined;
    const silence = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const list = [row("mute"), row("b")];
    const { sweeper, taken } = stage(list, { isApart: true, mute: new Map([["mute", silence]]) });
    const first = sweeper.sweep();
    await vi.waitFor(() => expect(taken).toEqual(["b"]));
    list.push(row("c"));
    const second = sweeper.sweep();
    await vi.waitFor(() => expect(taken).toEqual(["b", "c"]));
    answer();
    expect(await Promise.all([first, second])).toEqual([
      ["b", "c", "mute"],
      ["b", "c", "mute"],
    ]);
  });
});
