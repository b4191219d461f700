import { describe, expect, it } from "vitest";
import { creation, step } from "../../testing/conformance/index.ts";
import { appendBatch, renewBatch, type Writing } from "./append.ts";
import type { Commands } from "./commands.ts";

/** A server whose replies the test gives, by the key of the row. */
function answering() {
  const waiting = new Map<string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  const sent: string[] = [];
  const run: Commands["run"] = (_program, keys) =>
    new Promise((resolve, reject) => {
      const id = /run:(.*)$/.exec(keys[1] ?? "")?.[1] ?? "";
      sent.push(id);
      waiting.set(id, { resolve, reject });
    });
  const commands: Commands = { isCluster: false, run, send: async () => null, close: async () => undefined };
  const to: Writing = {
    commands,
    layout: { prefix: "x", buckets: 4 },
    incarnation: "i",
    ttlMs: null,
    standings: new Map(),
  };
  return { to, sent, answer: (id: string) => waiting.get(id) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a batch of appends", () => {
  it("fails only when everything that was sent is answered, so that what is looked up then is settled", async () => {
    const { to, sent, answer } = answering();
    let failed: unknown;
    const pending = appendBatch(
      to,
      ["a", "b"].map((id) => creation({ run: { id } })),
    ).catch((error: unknown) => {
      failed = error;
    });
    expect(sent).toEqual(["a", "b"]);
    answer("a")?.reject(new Error("gone"));
    await turn();
    expect(failed).toBeUndefined();
    answer("b")?.resolve(["ok"]);
    await pending;
    expect(failed).toMatchObject({ message: "gone" });
  });

  it("does not send the next append of a run before the one before it is answered, nor after it failed", async () => {
    const { to, sent, answer } = answering();
    const first = creation({ run: { id: "a" } });
    const row = {
      ...first.run,
      claim: { epoch: 1, owner: "ada", token: "ada-token", until: 0 },
      seq: 1,
      head: "",
    };
    const pending = appendBatch(to, [first, step(row), step({ ...row, seq: 2 })]).catch(
      (error: unknown) => error,
    );
    await turn();
    expect(sent).toEqual(["a"]);
    answer("a")?.resolve(["ok"]);
    await turn();
    expect(sent).toEqual(["a", "a"]);
    answer("a")?.reject(new Error("gone"));
    expect(await pending).toMatchObject({ message: "gone" });
    expect(sent).toEqual(["a", "a"]);
  });

  it("asks again, and only then, when the run stands in other lists than was thought", async () => {
    const { to, sent, answer } = answering();
    const pending = renewBatch(to, [{ runId: "a", epoch: 1, token: "t", ttlMs: 1 }]);
    answer("a")?.resolve(["elsewhere", "orders", "running.0", "orders"]);
    await turn();
    expect(sent).toEqual(["a", "a"]);
    answer("a")?.resolve(["gone"]);
    expect(await pending).toEqual([null]);
    expect(to.standings.get("a")).toEqual({ workflow: "orders", place: "running.0", lane: "orders" });
  });
});
