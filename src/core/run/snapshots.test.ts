import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { type Context, workflow } from "../../index.ts";
import type { Append } from "../store/contract.ts";

/** Enough that a snapshot is due after five of them. */
const bulk = (): string[] => Array.from({ length: 7 }, () => "x".repeat(1000));

/** A loop whose turn `hangAt` hangs the first time it gets there. */
function looping(count: number, hangAt: number, body: (ctx: Context, index: number) => unknown) {
  let hung = false;
  return workflow("flow", async (ctx) => {
    const state = await ctx.loop("turn", { sum: 0 }, async (draft, turn) => {
      await body(ctx, turn.index);
      await ctx.step("bulk", bulk);
      await ctx.step("work", () => (turn.index === hangAt && !hung ? ((hung = true), hangs()) : undefined));
      draft.sum += turn.index;
      return turn.index === count - 1 ? turn.done() : undefined;
    });
    return state.sum;
  });
}

describe("a snapshot", () => {
  it("keeps memory as it was where the loop goes on from, not only as it is now", async () => {
    const lab = createLab();
    const seen: unknown[] = [];
    const flow = looping(7, 5, (ctx, index) => {
      seen.push(ctx.memory.get("n"));
      ctx.memory.set("n", index);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    expect((await engine.get("r"))?.snapshotSeq).toBeGreaterThan(0);
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toBe(21);
    expect(seen).toEqual([undefined, 0, 1, 2, 3, 4, 4, 5]);
  });

  it("is not written behind something from outside that it does not hold", async () => {
    for (const act of ["signal", "answer"] as const) {
      const lab = createLab();
      let acted = false;
      const store = {
        ...lab.store,
        append: async (batch: readonly Append[]) => {
          const heads = batch.flatMap(({ entries }) => entries.map(({ head }) => head));
          if (!acted && heads.some((head) => head.includes("snapshot_taken"))) {
            acted = true;
            if (act === "signal") await other.signal("r", "news", "in between");
            else await other.answer("r", "ok", { choice: "yes" });
          }
          return lab.store.append(batch);
        },
      };
      const flow = workflow("flow", async (ctx) => {
        const outside =
          act === "answer"
            ? ctx.gate("ok", { choices: ["yes"] }).then(({ choice }) => choice)
            : ctx.signal("news").then(({ payload }) => payload);
        await ctx.loop("turn", {}, async (_, turn) => {
          await ctx.step("bulk", bulk);
          return turn.index === 6 ? turn.done() : undefined;
        });
        await ctx.step("hang", ({ attempt }) => (attempt === 1 ? hangs() : undefined));
        return outside;
      });
      const other = lab.engine([], { execute: false });
      const engine = lab.engine([flow], { store });
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(1_000);
      expect(acted).toBe(true);
      expect((await engine.get("r"))?.snapshotSeq).toBeGreaterThan(0);
      const after = await lab.afterCrash(engine, [flow], "r");
      expect(after.run.status, act).toBe("completed");
      expect(await lab.drive(after.engine.result("r"))).toBe(act === "signal" ? "in between" : "yes");
    }
  });

  it.each(["completed", "failed"])(
    "is taken as often after a resume when a finished loop lies inside a step that has %s (E3)",
    async (outcome) => {
      const lab = createLab();
      const inner = async (ctx: Context) => {
        const { n } = await ctx.loop("inner", { n: 0 }, async (draft, turn) => {
          await ctx.step("work", () => turn.index);
          draft.n++;
          return turn.index === 4 ? turn.done() : undefined;
        });
        if (outcome === "failed") throw new Error("after all");
        return n;
      };
      let hung = false;
      const flow = workflow("flow", async (ctx) => {
        await ctx.step("outer", () => inner(ctx), { retry: false }).catch(() => undefined);
        await ctx.step("hang", () => (hung ? undefined : ((hung = true), hangs())));
        await ctx.loop("turn", {}, async (_, turn) => {
          await ctx.step("bulk", bulk);
          return turn.index === 30 ? turn.done() : undefined;
        });
      });
      const taken = async (id: string): Promise<number> => {
        const entries = await lab.store.entries(id, { from: 1, limit: 1_000 });
        return entries.filter(({ head }) => head.includes("snapshot_taken")).length;
      };
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "resumed" }));
      await lab.clock.advance(1_000);
      const next = await lab.afterCrash(engine, [flow], "resumed");
      await lab.drive(next.engine.start(flow, undefined, { id: "straight" }));
      await lab.drive(next.engine.result("straight"));
      expect(await taken("straight")).toBeGreaterThan(2);
      expect(await taken("resumed")).toBeGreaterThanOrEqual((await taken("straight")) - 1);
    },
  );
});
