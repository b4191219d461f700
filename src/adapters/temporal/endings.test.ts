import { describe, expect, it, vi } from "vitest";
import { signalled } from "../../../test/support/lab.ts";
import { Endings } from "./endings.ts";

/** A server that answers when the test says that a run has ended. */
function stage() {
  const asked: { readonly run: string; readonly signal: AbortSignal }[] = [];
  const ends = new Map<string, ReturnType<typeof signalled<void>>>();
  const endings = new Endings({
    untilEnded(run, signal) {
      asked.push({ run, signal });
      const end = signalled<void>();
      ends.set(run, end);
      return end.promise;
    },
  });
  const told: string[] = [];
  const hear = () => endings.hear(({ runs }) => told.push(...(runs ?? [])));
  const settled = () => vi.advanceTimersByTimeAsync(0);
  return { endings, asked, ends, told, hear, settled };
}

describe("the end of a run on Temporal", () => {
  it("is told at once to whoever waits, with one request for each run", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { endings, asked, ends, told, hear, settled } = stage();
      endings.await("nobody listens");
      hear();
      for (const run of ["a", "b", "a"]) endings.await(run);
      expect(asked.map(({ run }) => run)).toEqual(["a", "b"]);
      ends.get("a")?.resolve();
      ends.get("b")?.reject(new Error("the run has failed"));
      await settled();
      expect(told).toEqual(["a", "b"]);
      // A server that refuses is not asked again and again.
      endings.await("b");
      expect(asked).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(1_000);
      endings.await("b");
      expect(asked).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it("isn't waited for any more when nobody has listened for a while", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { endings, asked, hear } = stage();
      const leave = hear();
      endings.await("a");
      leave();
      await vi.advanceTimersByTimeAsync(4_000);
      hear()();
      await vi.advanceTimersByTimeAsync(4_000);
      expect(asked[0]?.signal.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(asked[0]?.signal.aborted).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is waited for without a look, however it ends, and no longer than the engine is open", async () => {
    const { endings, asked, ends } = stage();
    const [good, bad] = [endings.ended("good"), endings.ended("bad")];
    ends.get("good")?.resolve();
    ends.get("bad")?.reject(new Error("the run has failed"));
    await Promise.all([good, bad]);
    const open = endings.ended("open");
    endings.close();
    expect(asked.at(-1)?.signal.aborted).toBe(true);
    ends.get("open")?.reject(new Error("aborted"));
    await open;
    await endings.ended("late");
    expect(asked.map(({ run }) => run)).toEqual(["good", "bad", "open"]);
  });
});
