import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

describe("a group", () => {
  it("gives results in order, with no more at once than allowed", async () => {
    const lab = createLab();
    let now = 0;
    let most = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.each(
        "item",
        [5, 3, 1, 4, 2],
        async (n) => {
          most = Math.max(most, ++now);
          await new Promise<void>((resolve) => lab.clock.setTimer(resolve, n * 10));
          now--;
          return n * 2;
        },
        { concurrency: 2 },
      ),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(id))).toEqual([10, 6, 2, 8, 4]);
    expect(most).toBe(2);
  });

  it.each([0, 1, 2, 3, 4, 5])(
    "runs only the missing branches after a crash with %i of 5 done (S3-27)",
    async (done) => {
      const lab = createLab();
      const calls = new Map<number, number>();
      const flow = workflow("flow", (ctx) =>
        ctx.each("branch", [0, 1, 2, 3, 4], (n) => {
          calls.set(n, (calls.get(n) ?? 0) + 1);
          return n < done || calls.get(n) === 2 ? n : hangs();
        }),
      );
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(100);
      const after = await lab.afterCrash(engine, [flow], "r");
      expect(await lab.drive(after.engine.result("r"))).toEqual([0, 1, 2, 3, 4]);
      expect([0, 1, 2, 3, 4].map((n) => calls.get(n))).toEqual(
        [0, 1, 2, 3, 4].map((n) => (n < done ? 1 : 2)),
      );
    },
  );

  it("stops at the first failure, keeps what finished, and runs the rest when resumed", async () => {
    const lab = createLab();
    let broken = true;
    const calls: number[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.each(
        "item",
        [0, 1, 2, 3],
        (n) => {
          calls.push(n);
          if (n === 1 && broken) throw Object.assign(new Error("item 1 broke"), { retryable: false });
          return n;
        },
        { concurrency: 1 },
      ),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("item 1 broke");
    expect(calls).toEqual([0, 1]);
    broken = false;
    await lab.drive(engine.resume(id));
    expect(await lab.drive(engine.result(id))).toEqual([0, 1, 2, 3]);
    expect(calls).toEqual([0, 1, 1, 2, 3]);
  });

  it("tells running branches to abort when one fails, and reopens them too", async () => {
    const lab = createLab();
    let broken = true;
    const flow = workflow("flow", (ctx) =>
      ctx.all("both", {
        bad: () =>
          broken ? Promise.reject(Object.assign(new Error("bad"), { retryable: false })) : "mended",
        slow: () =>
          new Promise((resolve, reject) => {
            if (!broken) return resolve("slow");
            ctx.abortSignal.addEventListener("abort", () => reject(ctx.abortSignal.reason as Error));
          }),
      }),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("bad");
    broken = false;
    await lab.drive(engine.resume(id));
    expect(await lab.drive(engine.result(id))).toEqual({ bad: "mended", slow: "slow" });
  });

  it("goes on past failures when told to, and remembers them", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      const results = await ctx.all(
        "mixed",
        [() => 1, () => (calls++, Promise.reject(new Error("no"))), () => 3],
        { failure: "continue", retry: false },
      );
      await ctx.sleep("pause", 60_000);
      return results.map((one) => (one.ok ? one.value : (one.error as Error).message));
    });
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(id))).toEqual([1, "no", 3]);
    expect(calls).toBe(1);
  });

  it("ends when a quorum has succeeded, and fails when that has become impossible", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx, failing: number) => {
      const work = (n: number) => (n < failing ? Promise.reject(new Error(`vote ${n}`)) : n);
      const votes = await ctx.each("vote", [0, 1, 2], work, { failure: "quorum", quorum: 2, retry: false });
      return votes.filter((vote) => vote.ok).length;
    });
    const engine = lab.engine([flow]);
    const good = await lab.drive(engine.start(flow, 1));
    expect(await lab.drive(engine.result(good.id))).toBe(2);
    const bad = await lab.drive(engine.start(flow, 2));
    await expect(lab.drive(engine.result(bad.id))).rejects.toThrow("1 of 3 succeeded; 2 were needed");
  });

  it("gives each branch a key of its own, the same after a crash", async () => {
    const lab = createLab();
    const keys = new Map<string, string[]>();
    const seen = (branch: string, key: string) => {
      keys.set(branch, [...(keys.get(branch) ?? []), key]);
      return keys.get(branch)?.length === 2 ? key : hangs();
    };
    const flow = workflow("flow", async (ctx) => {
      const [paid, sent] = await Promise.all([
        ctx.each("pay", ["a", "b"], (item, _, { key }) => seen(item, key), { effect: "keyed" }),
        ctx.all("send", { mail: ({ key }) => seen("mail", key) }, { effect: "keyed" }),
      ]);
      return [...paid, sent.mail];
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const after = await lab.afterCrash(engine, [flow], "r");
    const paid = (await lab.drive(after.engine.result("r"))) as string[];
    expect(new Set(paid).size).toBe(3);
    expect([...keys.values()]).toEqual(paid.map((key) => [key, key]));
  });

  it("has addresses that do not depend on what runs beside it", async () => {
    const lab = createLab();
    const seen: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.each("doc", ["a", "b"], async () => {
        await ctx.step("read", ({ step }) => void seen.push(step));
        await ctx.step("read", ({ step }) => void seen.push(step));
      });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.result((await lab.drive(engine.start(flow, undefined))).id));
    expect(seen.sort()).toEqual(["doc[0]/read", "doc[0]/read#2", "doc[1]/read", "doc[1]/read#2"]);
  });

  it("refuses a concurrency or a quorum that makes no sense", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx, options: object) => ctx.each("x", [1], (n) => n, options));
    const engine = lab.engine([flow]);
    for (const options of [{ concurrency: 0 }, { concurrency: 1.5 }, { failure: "quorum", quorum: 2 }]) {
      const { id } = await lab.drive(engine.start(flow, options));
      await expect(lab.drive(engine.result(id))).rejects.toThrow("Invalid ");
    }
  });

  it("refuses a branch whose name could not be found again", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", (ctx) => ctx.all("both", { "a/b": () => calls.push("a/b") }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const run = await lab.drive(engine.settled("r"));
    expect([run.status, calls]).toEqual(["failed", []]);
    expect(run.error).toContain("a/b");
  });
});
