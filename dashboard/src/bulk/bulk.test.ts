import { describe, expect, it } from "vitest";
import { allIds, durationOf, groupedRefusals, inBulk, PACES } from "./bulk.ts";

const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `r${i}`);
const usage = { tokens: 1, costUsd: 0.5 };
const accept = async (runs: readonly string[]) => ({ done: [...runs], refused: [], usage });

describe("an act on many runs", () => {
  it("is sent in parts that the API takes, and adds up what came of it (S1-32)", async () => {
    const sizes: number[] = [];
    const outcome = await inBulk(ids(250), async (runs) => {
      sizes.push(runs.length);
      return accept(runs);
    });
    expect(sizes).toEqual([100, 100, 50]);
    expect(outcome).toMatchObject({ total: 250, usage: { tokens: 3, costUsd: 1.5 } });
    expect(outcome.done).toHaveLength(250);
  });

  it("pauses between parts, and tells how far it is", async () => {
    const pauses: number[] = [];
    const progress: number[] = [];
    await inBulk(ids(25), accept, {
      pace: PACES[1],
      pause: async (ms) => void pauses.push(ms),
      onProgress: ({ done }) => progress.push(done.length),
    });
    expect(pauses).toEqual([1_000, 1_000]);
    expect(progress).toEqual([10, 20, 25]);
    expect(durationOf(25, PACES[1])).toBe(2_000);
    expect(durationOf(25, PACES[0])).toBe(0);
  });

  it("stops when it is told to, and says what was done", async () => {
    const abort = new AbortController();
    const outcome = await inBulk(
      ids(30),
      async (runs) => {
        abort.abort();
        return accept(runs);
      },
      { pace: PACES[1], signal: abort.signal, pause: async () => undefined },
    );
    expect(outcome.done).toHaveLength(10);
    expect(outcome.total).toBe(30);
  });

  it("shows equal refusals as one", () => {
    const refusal = (run: string) => ({ run, code: "HF-1007", what: `Run ${run} can't be resumed.` });
    expect(groupedRefusals([refusal("a"), refusal("b")])).toEqual([
      { code: "HF-1007", what: "Run … can't be resumed.", runs: ["a", "b"] },
    ]);
    expect(groupedRefusals([refusal("a")])[0]?.what).toBe("Run a can't be resumed.");
  });

  it("finds the ids of all pages, also when one is empty", async () => {
    const pages = [["a", "b"], [], ["c"]];
    const found = await allIds(async (cursor) => {
      const at = Number(cursor ?? 0);
      const runs = (pages[at] ?? []).map((id) => ({ id }));
      return { runs, cursor: at < 2 ? String(at + 1) : null } as never;
    });
    expect(found).toEqual(["a", "b", "c"]);
  });
});
