import { describe, expect, it } from "vitest";
import { buildEntry } from "../core/journal/journal.ts";
import { newProjection } from "../core/journal/project.ts";
import type { Append } from "../core/store/contract.ts";
import { NO_TAGS } from "../core/tags.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createFakeClock } from "./fake-clock.ts";
import { createFaultyStore, type FaultPlan } from "./faulty-store.ts";
import type { AckedWrite } from "./witness/log.ts";

const creation = (id: string): Append => {
  const event = {
    kind: "run_created",
    step: "",
    meta: { workflow: "w", version: "1", lineage: id },
  } as const;
  const { entry, head } = buildEntry([event], { prev: "", seq: 1, at: 0, epoch: 0 });
  const identity = { id, workflow: "w", lineage: id, parent: null, origin: null, createdAt: 0, ...NO_TAGS };
  return {
    run: { ...identity, ...newProjection(0, "1", 1) },
    expect: null,
    claim: { kind: "keep" },
    entries: [entry],
    head,
    blobs: [],
  };
};

const setUp = (plan: FaultPlan) => {
  const inner = createMemoryStore();
  return { inner, store: createFaultyStore(inner, plan) };
};

const settled = async (promise: Promise<unknown>): Promise<string> => {
  const turns = async () => {
    for (let left = 5; left > 0; left--) await new Promise((resolve) => void setImmediate(resolve));
    return "pending";
  };
  return Promise.race([
    promise.then(
      () => "resolved",
      () => "rejected",
    ),
    turns(),
  ]);
};

describe("createFaultyStore", () => {
  it("passes everything through when nothing is planned", async () => {
    const { store, inner } = setUp({});
    expect(await store.append([creation("a")])).toEqual([{ ok: true }]);
    expect(await store.read("a")).toEqual(await inner.read("a"));
    expect((await store.list({ limit: 5 })).runs).toHaveLength(1);
    expect(await store.due({ workflows: ["w"], limit: 5 })).toHaveLength(1);
    expect(await store.renew([])).toEqual([]);
    expect(await store.blobs("a", [])).toEqual(new Map());
    expect(await store.identity()).toEqual(await inner.identity());
    expect([store.name, store.capabilities, typeof (await store.now())]).toEqual([
      "memory",
      inner.capabilities,
      "number",
    ]);
    await store.close();
    await expect(inner.read("a")).rejects.toThrow();
  });

  it("fails the planned call before anything happens, and no other", async () => {
    const { store, inner } = setUp({ faults: [{ method: "append", call: 2, fault: { kind: "fail" } }] });
    await store.append([creation("a")]);
    await expect(store.append([creation("b")])).rejects.toMatchObject({ code: "HF-3002" });
    expect(await inner.read("b")).toBeNull();
    expect(await store.append([creation("b")])).toEqual([{ ok: true }]);
  });

  it("applies a write whose acknowledgement is lost", async () => {
    const { store, inner } = setUp({
      faults: [{ method: "append", call: 1, fault: { kind: "fail-after" } }],
    });
    await expect(store.append([creation("a")])).rejects.toMatchObject({ code: "HF-3002" });
    expect(await inner.read("a")).not.toBeNull();
  });

  it("delays the request or the answer by the given time", async () => {
    const clock = createFakeClock();
    const { store, inner } = setUp({
      clock,
      faults: [
        { method: "append", call: 1, fault: { kind: "delay", ms: 100 } },
        { method: "append", call: 2, fault: { kind: "delay-after", ms: 100 } },
      ],
    });
    const [early, late] = [store.append([creation("a")]), store.append([creation("b")])];
    expect([await inner.read("a"), (await inner.read("b"))?.id]).toEqual([null, "b"]);
    expect(await settled(late)).toBe("pending");
    await clock.advance(100);
    expect([await settled(early), await settled(late)]).toEqual(["resolved", "resolved"]);
    expect((await inner.read("a"))?.id).toBe("a");
  });

  it("refuses a delay without a clock", async () => {
    const { store } = setUp({ choose: () => ({ kind: "delay", ms: 1 }) });
    await expect(store.read("a")).rejects.toMatchObject({ code: "HF-1003" });
  });

  it("never answers a call that stalls, and does not carry it out", async () => {
    const { store, inner } = setUp({ faults: [{ method: "append", call: 1, fault: { kind: "stall" } }] });
    expect(await settled(store.append([creation("a")]))).toBe("pending");
    expect(await inner.read("a")).toBeNull();
  });

  it("fails every call while it is down, whatever the method", async () => {
    const { store } = setUp({ down: [{ from: 2, to: 4 }] });
    const calls = [
      () => store.read("a"),
      () => store.now(),
      () => store.due({ workflows: [], limit: 1 }),
      () => store.renew([]),
      () => store.read("a"),
    ];
    const outcomes: string[] = [];
    for (const call of calls) outcomes.push(await settled(call()));
    expect(outcomes).toEqual(["resolved", "resolved", "rejected", "rejected", "resolved"]);
  });

  it("counts calls by method and tells of each fault", async () => {
    const faults: string[] = [];
    const { store } = setUp({
      choose: (method, call) => (method === "read" && call === 2 ? { kind: "fail" } : undefined),
      onFault: (method, fault) => void faults.push(`${method} ${fault.kind}`),
    });
    for (let left = 3; left > 0; left--) await store.read("a").catch(() => undefined);
    await store.blobs("a", []);
    expect(store.calls).toMatchObject({ read: 3, blobs: 1, append: 0 });
    expect(faults).toEqual(["read fail"]);
  });

  it("reports acknowledged writes only: not refused ones, nor those whose answer was lost", async () => {
    const acked: AckedWrite[] = [];
    const { store } = setUp({
      faults: [{ method: "append", call: 2, fault: { kind: "fail-after" } }],
      onAck: (write) => void acked.push(write),
    });
    await store.append([creation("a")]);
    await store.append([creation("b")]).catch(() => undefined);
    await store.append([creation("a"), creation("c")]);
    const head = creation("a").entries[0]?.head;
    expect(acked[0]).toEqual({ runId: "a", seq: 1, head });
    expect(acked.map(({ runId }) => runId)).toEqual(["a", "c"]);
  });

  it("reports every entry of an acknowledged write", async () => {
    const acked: AckedWrite[] = [];
    const { store } = setUp({ onAck: (write) => void acked.push(write) });
    const first = creation("a");
    const second = { seq: 2, count: 3, head: "second", data: null };
    await store.append([{ ...first, entries: [...first.entries, second] }]);
    expect(acked.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(acked[1]).toEqual({ runId: "a", seq: 2, head: "second" });
  });

  it("has transactions where the store has them, and loses their acknowledgements too", async () => {
    const acked: AckedWrite[] = [];
    const memory = createMemoryStore();
    const inner = {
      ...memory,
      transaction: async <T>(work: (sql: never) => T | Promise<T>, append: (value: T) => Append) => {
        const value = await work(undefined as never);
        const [result] = await memory.append([append(value)]);
        return { value, result: result ?? { ok: false as const, reason: "missing" as const, row: null } };
      },
    };
    const store = createFaultyStore(inner, {
      faults: [{ method: "transaction", call: 1, fault: { kind: "fail-after" } }],
      onAck: (write) => void acked.push(write),
    });
    expect(setUp({}).store.transaction).toBeUndefined();
    await expect(store.transaction?.(() => "b", creation)).rejects.toMatchObject({ code: "HF-3002" });
    expect(await store.transaction?.(() => "c", creation)).toEqual({ value: "c", result: { ok: true } });
    expect((await memory.list({ limit: 9 })).runs.map(({ id }) => id)).toEqual(["c", "b"]);
    expect(acked.map(({ runId }) => runId)).toEqual(["c"]);
  });
});
