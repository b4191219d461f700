import { describe, expect, it } from "vitest";
import { type RunItem, RunList } from "./run-list.ts";

const run = (n: number, change: Partial<RunItem> = {}): RunItem =>
  ({ id: `r${n}`, createdAt: n, seq: 1, ...change }) as RunItem;

/** A server with runs 1…n, newest first, and pages of three. */
function served(n: number) {
  const stored = new Map(Array.from({ length: n }, (_, i) => [i + 1, run(i + 1)]));
  let asked = 0;
  const list = new RunList(async ({ cursor }) => {
    asked++;
    const from = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
    const all = [...stored.values()]
      .sort((a, b) => b.createdAt - a.createdAt)
      .filter(({ createdAt }) => createdAt < from);
    const runs = all.slice(0, 3);
    return { runs, cursor: all.length > 3 ? String(runs.at(-1)?.createdAt) : null };
  });
  const ids = (): string =>
    list
      .shown()
      .rows.map(({ id }) => id)
      .join(" ");
  return { list, stored, ids, asked: () => asked };
}

describe("a long list of runs", () => {
  it("reads page after page, and knows its end", async () => {
    const { list, ids } = served(7);
    await list.loadMore();
    expect(ids()).toBe("r7 r6 r5");
    await Promise.all([list.loadMore(), list.loadMore()]);
    expect(ids()).toBe("r7 r6 r5 r4 r3 r2");
    await list.loadMore();
    expect(list.shown()).toMatchObject({ isWhole: true, isLoading: false });
    await list.loadMore();
    expect(ids()).toBe("r7 r6 r5 r4 r3 r2 r1");
  });

  it("lets new runs wait, so that no row jumps, until somebody asks for them (S1-32)", async () => {
    const { list, stored, ids } = served(3);
    await list.loadMore();
    stored.set(4, run(4));
    stored.set(5, run(5));
    await list.refresh(0, 2);
    expect(ids()).toBe("r3 r2 r1");
    expect(list.shown().newer.map(({ id }) => id)).toEqual(["r5", "r4"]);
    await list.reload();
    expect(ids()).toBe("r5 r4 r3");
    expect(list.shown().newer).toEqual([]);
  });

  it("reads only the pages that are looked at, and keeps rows that are the same", async () => {
    const { list, stored, asked } = served(9);
    for (let i = 0; i < 3; i++) await list.loadMore();
    const before = list.shown().rows;
    stored.set(5, run(5, { seq: 2 }));
    const already = asked();
    await list.refresh(4, 5);
    expect(asked() - already).toBe(1);
    const { rows } = list.shown();
    expect(rows[4]).toMatchObject({ id: "r5", seq: 2 });
    expect(rows.filter((row, index) => row === before[index])).toHaveLength(8);
  });

  it("takes out what no longer matches, and takes in what does", async () => {
    const { list, stored, ids } = served(6);
    await list.loadMore();
    await list.loadMore();
    stored.delete(2);
    await list.refresh(3, 5);
    expect(ids()).toBe("r6 r5 r4 r3 r1");
    stored.set(2, run(2));
    await list.refresh(3, 4);
    expect(ids()).toBe("r6 r5 r4 r3 r2 r1");
    stored.delete(6);
    stored.delete(5);
    await list.refresh(0, 2);
    expect(ids()).toBe("r4 r3 r2 r1");
  });

  it("keeps what it has when the server doesn't answer", async () => {
    let isUp = true;
    const list = new RunList(async () => {
      if (!isUp) throw new TypeError("no connection");
      return { runs: [run(1)], cursor: null };
    });
    await list.loadMore();
    isUp = false;
    await list.refresh(0, 0);
    expect(list.shown()).toMatchObject({ rows: [{ id: "r1" }], error: expect.any(TypeError) });
    isUp = true;
    await list.refresh(0, 0);
    expect(list.shown().error).toBeNull();
  });
});
