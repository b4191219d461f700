import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

interface Chat {
  messages: string[];
  total: number;
}

/** A loop of `count` turns, each with a model call; the call of turn `hangAt` hangs the first time. */
function chat(count: number, hangAt = -1, size = 10) {
  const asked: number[] = [];
  const bodies: number[] = [];
  const flow = workflow("chat", async (ctx) => {
    const state = await ctx.loop("turn", { messages: [], total: 0 } as Chat, async (draft, turn) => {
      bodies.push(turn.index);
      const text = await ctx.step("ask", () => {
        asked.push(turn.index);
        if (turn.index === hangAt && asked.filter((one) => one === hangAt).length === 1) return hangs();
        return `${turn.index}:${"x".repeat(size)}`;
      });
      draft.messages.push(text);
      draft.total += turn.index;
      ctx.memory.set("last", turn.index);
      return turn.index === count - 1 ? turn.done() : undefined;
    });
    return {
      count: state.messages.length,
      total: state.total,
      last: ctx.memory.get("last"),
      first: state.messages[0]?.slice(0, 2),
    };
  });
  return { flow, asked, bodies };
}

describe("a loop", () => {
  it("goes on at the next iteration after a crash, without running the finished bodies again (S1-03, S1-11, S1-19, S1-39)", async () => {
    const lab = createLab();
    const { flow, asked, bodies } = chat(45, 38);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    expect(bodies.at(-1)).toBe(38);
    bodies.length = 0;
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toEqual({
      count: 45,
      total: 990,
      last: 44,
      first: "0:",
    });
    expect(bodies[0]).toBe(38);
    expect(asked).toHaveLength(46);
  });

  it("continues from a snapshot and the tail after it as from the whole journal (S1-26)", async () => {
    const lab = createLab();
    const { flow, bodies } = chat(300, 290, 1500);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    expect((await engine.get("r"))?.snapshotSeq).toBeGreaterThan(0);
    bodies.length = 0;
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toEqual({
      count: 300,
      total: 44_850,
      last: 299,
      first: "0:",
    });
    expect(bodies[0]).toBe(290);
  });

  it("stores what does not change once, so that its cost grows with the new data only (S3-30, S4-23)", async () => {
    const lab = createLab();
    const stored: number[] = [];
    const blobs = new Set<string>();
    const counting = {
      ...lab.store,
      append: (batch: Parameters<typeof lab.store.append>[0]) => {
        for (const { entries, blobs: given } of batch) {
          let bytes = entries.reduce((sum, { head, data }) => sum + head.length + (data?.length ?? 0), 0);
          for (const blob of given)
            if (!blobs.has(blob.hash)) bytes += (blobs.add(blob.hash), blob.data.length);
          stored.push(bytes);
        }
        return lab.store.append(batch);
      },
    };
    const { flow } = chat(400, -1, 2048);
    const engine = lab.engine([flow], { store: counting });
    await lab.drive(engine.result((await lab.drive(engine.start(flow, undefined))).id));
    const total = stored.reduce((sum, one) => sum + one, 0);
    expect(total).toBeLessThan(1.5 * 400 * 2048);
  });

  it("keeps memory as it was at the end of the last finished iteration", async () => {
    const lab = createLab();
    const seen: unknown[] = [];
    let hung = false;
    const flow = workflow("flow", async (ctx) => {
      ctx.memory.set("n", 100);
      await ctx.loop("turn", {}, async (_, turn) => {
        seen.push(ctx.memory.get("n"));
        await ctx.step("work", () => (turn.index === 2 && !hung ? ((hung = true), hangs()) : 1));
        ctx.memory.set("n", turn.index);
        return turn.index === 3 ? turn.done() : undefined;
      });
      return ctx.memory.get("n");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toBe(3);
    expect(seen).toEqual([100, 0, 1, 1, 2]);
  });

  it("may stand inside another loop", async () => {
    const lab = createLab();
    const calls: string[] = [];
    let hung = false;
    const flow = workflow("flow", (ctx) =>
      ctx.loop("outer", { sums: [] as number[] }, async (outer, turn) => {
        const inner = await ctx.loop("inner", { sum: 0 }, async (state, step) => {
          state.sum += await ctx.step("add", ({ step: key }) => {
            calls.push(key);
            return key === "outer[1]/inner[1]/add" && !hung ? ((hung = true), hangs()) : step.index;
          });
          return step.index === 2 ? step.done() : undefined;
        });
        outer.sums.push(inner.sum);
        return turn.index === 2 ? turn.done() : undefined;
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toEqual({ sums: [3, 3, 3] });
    expect(calls).toHaveLength(10);
  });

  it("refuses to go past its limit, and the run can go on when the limit is raised", async () => {
    const lab = createLab();
    let limit = 2;
    const flow = workflow("flow", (ctx) =>
      ctx.loop(
        "turn",
        { n: 0 },
        (state, turn) => {
          state.n++;
          return turn.index === 3 ? turn.done() : undefined;
        },
        { maxIterations: limit },
      ),
    );
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    await expect(lab.drive(engine.result(id))).rejects.toThrow("limit of 2 iterations");
    limit = 10;
    await lab.drive(engine.resume(id));
    expect(await lab.drive(engine.result(id))).toEqual({ n: 4 });
  });
});
