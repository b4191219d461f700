import { describe, expect, it, vi } from "vitest";
import { FakeTemporal } from "../../../test/support/engines/fake-temporal.ts";
import { HoldfastError } from "../../core/errors.ts";
import { SeenStore } from "../../core/store/seen.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, creation, outsideAct, step, take } from "../../testing/conformance/index.ts";
import { Holds } from "./holds.ts";
import { said } from "./link.ts";
import { TemporalStore } from "./store.ts";

const settings = { heartbeatMs: 1_000, appendsPerExecution: 1_000 };
const TOKEN = new Uint8Array([1]);

/** Processes on one server: each is a store as an engine sees it, with the claims that it has. */
function stage() {
  const server = new FakeTemporal();
  const process = () => {
    const left: string[] = [];
    const givenUp: string[] = [];
    const holds = new Holds(
      {
        beat: () => undefined,
        quiet: () => undefined,
        join: async () => "life",
        leave: (runId) => void left.push(runId),
        giveUp: (runId) => void givenUp.push(runId),
      },
      () => true,
    );
    const base = new TemporalStore({ link: server.link(), settings, holds, isWorking: () => true });
    const problems: HoldfastError[] = [];
    const store = new SeenStore(base, (error) => void problems.push(error));
    return { store, holds, left, givenUp, problems };
  };
  return { server, process };
}

const renewal = ({ id, claim }: RunRow) => ({
  runId: id,
  epoch: claim.epoch,
  token: claim.token ?? "",
  ttlMs: 1_000,
});

/** Sends an append and holds its answer back, which has been applied by then, until `release`. */
async function slowly(server: FakeTemporal, send: () => Promise<unknown>) {
  let release = (): void => undefined;
  const applied = new Promise<void>((asked) => {
    server.beforeAnswer = () => {
      server.beforeAnswer = async () => undefined;
      asked();
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
  });
  const sent = send();
  await applied;
  return { sent, release: () => release() };
}

describe("a store behind Temporal", () => {
  it.each([
    ["an act that came later", outsideAct],
    ["a worker that took the run over", (row: RunRow) => outsideAct(row, { claim: { kind: "revoke" } })],
  ])(
    "S1-64: renews no claim from an answer that is older than what it has seen of %s (HF-3020)",
    async (_, after) => {
      const { server, process } = stage();
      const [one, other] = [process(), process()];
      const row = await accepted(one.store, creation());
      const { sent, release } = await slowly(server, () => one.store.append([step(row)]));
      const moved = (await other.store.read(row.id)) as RunRow;
      expect(moved.seq).toBe(2);
      await accepted(other.store, after(moved));
      expect(await one.store.read(row.id)).toMatchObject({ seq: 3 });
      release();
      expect(await sent).toEqual([{ ok: true }]);
      const [renewed] = await one.store.renew([renewal(row)]);
      expect(renewed?.seq ?? 3).toBe(3);
      expect(one.problems).toEqual([]);
    },
  );

  it("S1-64: keeps a claim whose answer got lost, once the journal shows it", async () => {
    const { server, process } = stage();
    const { store, holds, left } = process();
    const row = await accepted(store, creation({ claim: { kind: "release" } }));
    const offered = holds.take({ row }, TOKEN);
    server.beforeAnswer = async () => {
      throw new HoldfastError("HF-7003", { run: row.id, queue: "fake" });
    };
    const claim = outsideAct(row, { claim: take("ada") });
    await expect(store.append([claim])).rejects.toMatchObject({ code: "HF-7003" });
    server.beforeAnswer = async () => undefined;
    expect(await store.entries(row.id, { from: 2, limit: 1 })).toHaveLength(1);
    expect(await offered).toBe("claimed");
    expect(left).toEqual([]);
    const held = (await store.read(row.id)) as RunRow;
    await accepted(store, step(held, { claim: { kind: "release" } }));
    expect(left).toEqual([row.id]);
  });

  it("S1-64: keeps a claim when another part of its process acts on the run from outside", async () => {
    const { process } = stage();
    const { store, holds, left } = process();
    const row = await accepted(store, creation({ claim: { kind: "release" } }));
    const offered = holds.take({ row }, TOKEN);
    const held = await accepted(store, outsideAct(row, { claim: take("ada") }));
    expect(await offered).toBe("claimed");
    await accepted(store, outsideAct(held));
    expect(left).toEqual([]);
  });

  it("S1-64: gives a claim up that its engine has stopped renewing without a word, after its time", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const { process } = stage();
      const { store, holds, givenUp } = process();
      const row = await accepted(store, creation({ claim: { kind: "release" } }));
      void holds.take({ row }, TOKEN);
      const held = await accepted(store, outsideAct(row, { claim: take("ada", 15_000) }));
      for (let seconds = 0; seconds < 60; seconds += 5) {
        vi.advanceTimersByTime(5_000);
        expect(await store.renew([renewal(held)])).toMatchObject([{ id: row.id }]);
      }
      vi.advanceTimersByTime(14_000);
      expect(givenUp).toEqual([]);
      vi.advanceTimersByTime(1_000);
      expect(givenUp).toEqual([row.id]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the journal of a run on Temporal", () => {
  it("is read with one query, to its end", async () => {
    const { server, process } = stage();
    const { store } = process();
    const row = await accepted(store, step(await accepted(store, creation())));
    server.queries.length = 0;
    expect(await store.entries(row.id, { from: 1, limit: 100 })).toHaveLength(2);
    expect(server.queries).toEqual(["entries"]);
  });
});

describe("a claim of a run on Temporal whose step takes long", () => {
  it.each<[string, { countsOnly?: true }]>([
    ["whole rows", {}],
    ["counts, which the server doesn't show", { countsOnly: true }],
  ])("S1-64: is renewed without asking a worker, after writes of %s", async (_, how) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const { server, process } = stage();
      const { store, problems } = process();
      const row = await accepted(store, creation());
      const held = await accepted(store, { ...step(row), ...how });
      vi.setSystemTime(Date.now() + 10_000);
      server.queries.length = 0;
      expect(await store.renew([renewal(held)])).toMatchObject([{ id: row.id, seq: 2 }]);
      expect(server.queries).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ["an act", {}, { seq: 3 }],
    ["a worker that took the run over", { claim: { kind: "revoke" } as const }, null],
  ])("S1-64: hears with its renewal of %s", async (_, how, expected) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const { process } = stage();
      const [one, other] = [process(), process()];
      const held = await accepted(one.store, step(await accepted(one.store, creation())));
      await accepted(other.store, outsideAct((await other.store.read(held.id)) as RunRow, how));
      vi.setSystemTime(Date.now() + 10_000);
      const [renewed] = await one.store.renew([renewal(held)]);
      if (expected) expect(renewed).toMatchObject(expected);
      else expect(renewed).toBeNull();
      expect(one.problems).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a run on Temporal that has ended", () => {
  it("is asked of a worker once, however much is read of it, until it goes on", async () => {
    const { server, process } = stage();
    const { store } = process();
    const begun = await accepted(store, creation({ blobs: [{ hash: "a", data: "long" }] }));
    const ending = step(begun, {
      run: { status: "failed", wakeAt: null, error: "no" },
      claim: { kind: "release" },
    });
    const failed = await accepted(store, ending);
    server.queries.length = 0;
    for (let times = 0; times < 3; times++) {
      expect(await store.read(failed.id)).toMatchObject({ seq: 2, status: "failed" });
      expect(await store.entries(failed.id, { from: 1, limit: 10 })).toHaveLength(2);
      expect(await store.blobs(failed.id, ["a"])).toEqual(new Map([["a", "long"]]));
    }
    expect(server.queries).toEqual(["carried"]);
    await accepted(store, outsideAct(failed, { run: { status: "queued", wakeAt: 1 } }));
    expect(await store.read(failed.id)).toMatchObject({ seq: 3, status: "queued" });
    expect(await store.entries(failed.id, { from: 1, limit: 10 })).toHaveLength(3);
  });

  it("needs no query while it is waited for, and one for its result", async () => {
    const { server, process } = stage();
    const [worker, other] = [process(), process()];
    const row = await accepted(worker.store, creation());
    server.queries.length = 0;
    expect(await other.store.glance?.(row.id)).toMatchObject({ seq: 1 });
    expect(server.queries).toEqual([]);
    await accepted(
      worker.store,
      step(row, { run: { status: "completed", wakeAt: null }, claim: { kind: "release" } }),
    );
    server.queries.length = 0;
    expect(await other.store.glance?.(row.id)).toMatchObject({ seq: 2, status: "completed" });
    expect(await other.store.read(row.id)).toMatchObject({ seq: 2, status: "completed" });
    expect(await other.store.entries(row.id, { from: 2, limit: 1 })).toHaveLength(1);
    expect(server.queries).toEqual(["carried"]);
  });
});

describe("an error of Temporal's", () => {
  const place = { address: "host:7233", namespace: "n", taskQueue: "q" };
  const grpc = (code: number, message: string): Error =>
    Object.assign(new Error("the request failed"), { cause: Object.assign(new Error(message), { code }) });

  it.each([
    ["HF-7003", grpc(4, "deadline exceeded")],
    ["HF-7003", grpc(9, "Unable to query workflow due to Workflow Task in failed state.")],
    ["HF-7003", grpc(9, "no poller seen for task queue recently, worker may be down")],
    ["HF-7001", grpc(14, "no connection")],
    ["HF-7002", Object.assign(new Error("n"), { name: "NamespaceNotFoundError" })],
    ["HF-7004", grpc(3, "Blob data size exceeds limit")],
    ["HF-7006", grpc(3, "odd")],
  ])("is told as %s, so that only what may pass is tried again", (code, error) => {
    expect(said(error, "r", place)).toMatchObject({ code });
  });
});
