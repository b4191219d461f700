import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { silentLogger } from "../logger.ts";
import type { Entry, Store } from "../store/contract.ts";
import { loadRun } from "./load.ts";
import { Values } from "./values.ts";

const STEPS = 2_500;

const long = workflow("long", async (ctx, at: number) => {
  for (let n = 0; n < STEPS; n++) {
    await ctx.step("step", () => `value ${n}`);
    if (n === at) ctx.memory.set("seen", n);
  }
  await ctx.signal("go");
});

/** A store that can read entries without their data, and counts what it is asked for. */
function counted(store: Store, change: (entry: Entry) => Entry = (entry) => entry) {
  const asked: string[] = [];
  const read = async (what: string, runId: string, range: Parameters<Store["entries"]>[1]) => {
    asked.push(`${what} ${range.from}`);
    return (await store.entries(runId, range)).map(change);
  };
  const outlines: Store["outlines"] = async (runId, range) =>
    (await read("outlines", runId, range)).map((one) => ({ ...one, data: one.data === null ? null : "" }));
  const entries: Store["entries"] = (runId, range) => read("entries", runId, range);
  return { asked, store: { ...store, entries, outlines } satisfies Store };
}

async function longRun(at = -1): Promise<Store> {
  const lab = createLab();
  const engine = lab.engine([long]);
  await lab.drive(engine.start(long, at, { id: "long" }));
  await lab.drive(engine.settled("long"));
  await lab.crash(engine);
  return lab.store;
}

async function restored(store: Store, keeps: number) {
  const values = new Values(store, { valueBytes: 1e6, warnBytes: 1e6 }, silentLogger);
  const row = await store.read("long");
  if (!row) throw new Error("no run");
  return loadRun(store, values, row, row.seq, { keeps });
}

const plain = longRun();

describe("a long run that is restored", () => {
  it("leaves the values beyond a length in the store until they are asked for (E2)", async () => {
    const { store, asked } = counted(await plain);
    const state = await restored(store, 1);
    const record = (n: number) => state.find(n === 0 ? "step" : `step#${n + 1}`);
    expect(asked).toEqual(["entries 1", expect.stringMatching(/^outlines /)]);
    expect(record(10)).toMatchObject({ status: "completed", data: '"value 10"' });
    expect(record(2_400)).toMatchObject({ status: "completed", data: undefined });
    for (const n of [2_100, 2_101, 2_400]) {
      const seq = record(n)?.seq ?? 0;
      expect(await state.unread?.get(seq)).toBe(`"value ${n}"`);
    }
    expect(asked.length).toBe(3);
  });

  it("reads on whole where a value is needed at once (E2)", async () => {
    const { store, asked } = counted(await longRun(2_200));
    const state = await restored(store, 1);
    expect(asked.map((one) => one.split(" ")[0])).toEqual(["entries", "outlines", "entries"]);
    expect(state.memory).toMatchObject([{ name: "seen", data: "2200" }]);
    expect(state.find("step#2400")?.status).toBe("completed");
  });

  it("finds a changed value before it is used, and a changed head at once (E2, D2)", async () => {
    const sound = await plain;
    const changed = (text: string) => text.replace("value 2400", "value 2401");
    const value = counted(sound, (entry) => ({ ...entry, data: entry.data && changed(entry.data) }));
    const state = await restored(value.store, 1);
    const get = async (n: number) => state.unread?.get(state.find(`step#${n + 1}`)?.seq ?? 0);
    expect(await get(2_399)).toBe('"value 2399"');
    await expect(get(2_400)).rejects.toMatchObject({ code: "HF-3010" });
    const head = counted(sound, (entry) => ({
      ...entry,
      head: entry.head.replace("step#2402", "step#2403"),
    }));
    await expect(restored(head.store, 1)).rejects.toMatchObject({ code: "HF-3010" });
  });

  it("tells a missing entry and a lost value from one that was never there (E2, D11)", async () => {
    const sound = await plain;
    const lost = counted(sound, (entry) => (entry.seq > 4_500 ? { ...entry, data: null } : entry));
    await expect(restored(lost.store, 1)).rejects.toMatchObject({ code: "HF-3010" });
  });
});
