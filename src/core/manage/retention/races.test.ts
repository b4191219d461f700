import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../../test/support/lab.ts";
import {
  chat,
  journal,
  namedBlobs,
  pin,
  rowOf,
  run,
  stateAt,
  verify,
} from "../../../../test/support/retention.ts";
import { type RetentionPolicy, workflow } from "../../../index.ts";
import type { Append, Store } from "../../store/contract.ts";

/** What a run still holds: entries with values, and blobs. */
async function held(lab: Lab, id: string): Promise<[number[], string[]]> {
  const entries = (await journal(lab.store, id)).filter(({ data }) => data !== null).map(({ seq }) => seq);
  return [entries, [...(await lab.store.blobs(id, await namedBlobs(lab.store, id))).keys()].sort()];
}

/** Calls `act` once, just before a write that drops values reaches the store. */
function beforeDrop(lab: Lab, act: () => Promise<unknown>): void {
  const append = lab.store.append.bind(lab.store);
  let done = false;
  Object.assign(lab.store, {
    append: async (batch: readonly Append[]) => {
      if (!done && batch.some(({ drop }) => drop)) {
        done = true;
        await act();
      }
      return append(batch);
    },
  });
}

/** A loop with values of every size, some of them the same again and again. */
const busy = (turns: number) =>
  workflow("busy", async (ctx) => {
    const { total } = await ctx.loop("turn", { total: 0, last: "" }, async (draft, turn) => {
      const repeated = await ctx.step("again", () => `${turn.index % 7}${"r".repeat(1_500)}`);
      draft.last = await ctx.step("new", () => `${turn.index}${"x".repeat(700)}`);
      draft.total += repeated.length + draft.last.length;
      ctx.memory.set("last", { turn: turn.index, text: repeated });
      return turn.index === turns - 1 ? turn.done() : undefined;
    });
    return { total, last: ctx.memory.get("last") };
  });

/** The store of a process that dies at its nth append, before or after it was written. */
function mortal(store: Store, nth: number, side: "before" | "after"): Store {
  let writes = 0;
  const dead = () => writes >= nth;
  return {
    ...store,
    append: async (batch) => {
      if (dead()) return hangs();
      writes++;
      if (dead() && side === "before") return hangs();
      const results = await store.append(batch);
      return dead() ? hangs() : results;
    },
    renew: (batch) => (dead() ? hangs() : store.renew(batch)),
  };
}

const LAST: RetentionPolicy = { keepLast: 1, maxAge: 0 };

describe("two prunes at once", () => {
  it("come to the same end as one, and none of them fails", async () => {
    const ends: unknown[] = [];
    for (const count of [1, 2, 3]) {
      const lab = createLab();
      const flow = chat(90);
      const engine = lab.engine([flow]);
      await run(lab, engine, flow, "living", "");
      await run(lab, engine, flow, "over", "");
      await lab.drive(engine.cancel("over"));
      const before = await stateAt(lab.store, "living");
      const pruners = Array.from({ length: count }, () => lab.engine([], { execute: false }).retention);
      await lab.drive(Promise.all(pruners.map((one) => one.prune(LAST, { batch: 5 }))));
      await lab.drive(engine.retention.prune(LAST));
      expect(await stateAt(lab.store, "living")).toEqual(before);
      for (const id of ["living", "over"]) await verify(lab.store, id);
      ends.push([await held(lab, "living"), await held(lab, "over")]);
    }
    expect(ends[1]).toEqual(ends[0]);
    expect(ends[2]).toEqual(ends[0]);
  });
});

describe("a prune of a run that is under way", () => {
  it("harms neither the run nor itself, whichever of them writes first", async () => {
    const plain = createLab();
    const flow = busy(200);
    const alone = plain.engine([flow]);
    await plain.drive(alone.start(flow, undefined, { id: "r" }));
    const expected = await plain.drive(alone.result("r"));
    const lab = createLab();
    const outside = lab.engine([], { execute: false });
    const refused = { owner: 0, pruner: 0 };
    let [writes, drops] = [0, 0];
    const append = lab.store.append.bind(lab.store);
    const store: Store = {
      ...lab.store,
      append: async (batch) => {
        if (++writes % 6 === 0) await pruner.prune({ keepLast: 2 }, { batch: 20 });
        const results = await append(batch);
        refused.owner += results.filter(({ ok }) => !ok).length;
        return results;
      },
    };
    const dropping: Store = {
      ...lab.store,
      append: async (batch) => {
        if (++drops % 3 === 0) await outside.signal("r", "noise", "n".repeat(2_000));
        const results = await append(batch);
        refused.pruner += results.filter(({ ok }) => !ok).length;
        return results;
      },
    };
    const pruner = lab.engine([], { execute: false, store: dropping }).retention;
    const engine = lab.engine([flow], { store });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toEqual(expected);
    await verify(lab.store, "r");
    expect(refused.owner).toBeGreaterThan(5);
    expect(refused.pruner).toBeGreaterThan(5);
    expect((await held(lab, "r"))[0].length).toBeLessThan((await journal(lab.store, "r")).length / 2);
  });

  it("lets it go on after a crash at any of its writes", { timeout: 60_000 }, async () => {
    const flow = busy(120);
    const plain = createLab();
    const alone = plain.engine([flow]);
    await plain.drive(alone.start(flow, undefined, { id: "r" }));
    const expected = await plain.drive(alone.result("r"));
    const prune = { keepLast: 1 } as const;
    for (let nth = 20; nth < 240; nth += 20) {
      for (const side of ["before", "after"] as const) {
        const lab = createLab();
        const pruner = lab.engine([], { execute: false }).retention;
        const store = mortal(lab.store, nth, side);
        const engine = lab.engine([flow], { store });
        await lab.drive(engine.start(flow, undefined, { id: "r" }));
        await lab.clock.advance(100);
        await lab.drive(pruner.prune(prune));
        await lab.crash(engine);
        await lab.clock.advance(20_000);
        const next = lab.engine([flow], { store: mortal(lab.store, 7, side) });
        await lab.drive(next.recover());
        await lab.clock.advance(100);
        await lab.drive(pruner.prune(prune, { batch: 3 }));
        await lab.clock.advance(20_000);
        const last = lab.engine([flow]);
        await lab.drive(last.recover());
        expect(await lab.drive(last.result("r")), `${side} write ${nth}`).toEqual(expected);
        await verify(lab.store, "r");
        await lab.crash(last);
      }
    }
  });
});

describe("an act that comes before a prune's write", () => {
  it("may pin a checkpoint that was about to go", async () => {
    const lab = createLab();
    const flow = chat(90);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    const early = 40;
    const before = await stateAt(lab.store, "a", early);
    beforeDrop(lab, () => pin(lab.store, "a", early, 1));
    await lab.drive(engine.retention.prune({ keepLast: 1 }));
    expect(await stateAt(lab.store, "a", early)).toEqual(before);
  });

  it("may resume a failed run whose time had come", async () => {
    const lab = createLab();
    let broken = true;
    const flow = workflow("flow", async (ctx) => {
      const value = await ctx.step("work", () => "x".repeat(100));
      await ctx.step("end", () => (broken ? Promise.reject(new Error("no")) : 1), { retry: false });
      return value.length;
    });
    const engine = lab.engine([flow]);
    expect(await run(lab, engine, flow, "a")).toMatchObject({ status: "failed" });
    broken = false;
    const other = lab.engine([], { execute: false });
    beforeDrop(lab, () => other.resume("a"));
    const report = await lab.drive(engine.retention.prune({ failedMaxAge: 0 }));
    expect(report.runs).toEqual([]);
    expect((await rowOf(lab.store, "a")).prunedAt).toBeNull();
    expect(await lab.drive(engine.result("a"))).toBe(100);
  });

  it("leaves a run for the next time that changes before every write", async () => {
    const lab = createLab();
    const flow = chat(90);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    const append = lab.store.append.bind(lab.store);
    Object.assign(lab.store, {
      append: async (batch: readonly Append[]) => {
        if (batch.some(({ drop }) => drop)) await pin(lab.store, "a", (await rowOf(lab.store, "a")).seq, 1);
        return append(batch);
      },
    });
    const report = await lab.drive(engine.retention.prune({ keepLast: 1 }));
    expect(report).toMatchObject({ runs: [], skipped: [{ runId: "a", why: "in use" }] });
  });
});
