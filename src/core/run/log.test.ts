import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import type { LogLine } from "../log-line.ts";
import { silentLogger } from "../logger.ts";

const texts = (lines: readonly LogLine[]): readonly string[] => lines.map(({ message }) => message);

describe("ctx.log", () => {
  it("tells the run, the step and the attempt, and stores the lines a moment later", async () => {
    const lab = createLab();
    const told: unknown[] = [];
    const logger = { ...silentLogger, info: (...said: unknown[]) => void told.push(said) };
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      ctx.log.info("begins", { of: 2 });
      await ctx.step("load", () => {
        ctx.log.info("loading");
        if (calls++ === 0) throw Object.assign(new Error("busy"), { retryable: true });
      });
      ctx.log.debug("a detail");
      ctx.log.warn("ends");
    });
    const engine = lab.engine([flow], { logger });
    await lab.drive(engine.start(flow, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    expect(told).toEqual([
      ["begins", { of: 2, runId: "a", workflow: "flow" }],
      ["loading", { runId: "a", workflow: "flow", step: "load", attempt: 1 }],
      ["loading", { runId: "a", workflow: "flow", step: "load", attempt: 2 }],
    ]);
    const { lines, more } = await engine.reports.logs("a");
    expect(more).toBe(false);
    expect(lines.map(({ at: _, ...line }) => line)).toEqual([
      { level: "info", message: "begins", fields: { of: 2 } },
      { level: "info", message: "loading", step: "load", attempt: 1 },
      { level: "info", message: "loading", step: "load", attempt: 2 },
      { level: "warn", message: "ends" },
    ]);
    expect(texts((await engine.reports.logs("a", { level: "warn" })).lines)).toEqual(["ends"]);
    expect(texts((await engine.reports.logs("a", { step: "load", limit: 1 })).lines)).toEqual(["loading"]);
    // Another engine on the same store reads them too.
    await lab.drive(engine.close());
    expect((await lab.engine([]).reports.logs("a")).lines).toHaveLength(4);
  });

  it("is not repeated for what the journal already holds", async () => {
    const lab = createLab();
    let isFirst = true;
    const flow = workflow("flow", async (ctx) => {
      ctx.log.info("before one");
      await ctx.step("one", () => 1);
      ctx.log.info("between");
      await ctx.each("item", [1, 2], (item) => ctx.log.info(`item ${item}`));
      await ctx.loop("turn", { n: 0 }, async (state, turn) => {
        ctx.log.info(`turn ${turn.index}`);
        state.n = await ctx.step("add", () => state.n + 1);
        return state.n === 2 ? turn.done() : undefined;
      });
      ctx.log.info("before two");
      await ctx.step("two", () => {
        ctx.log.info("in two");
        return isFirst ? hangs() : 2;
      });
      ctx.log.info("after two");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "a" }));
    await lab.clock.advance(2_000);
    isFirst = false;
    const { engine: next, run } = await lab.afterCrash(engine, [flow], "a");
    expect(run.status).toBe("completed");
    const { lines } = await next.reports.logs("a");
    expect(texts(lines)).toEqual([
      "before one",
      "between",
      "item 1",
      "item 2",
      "turn 0",
      "turn 1",
      "before two",
      "in two",
      // The second attempt is a call of its own.
      "in two",
      "after two",
    ]);
  });

  it("speaks again where code does something new, whatever was recorded under other names", async () => {
    const lab = createLab();
    const old = workflow("flow", async (ctx) => {
      await ctx.step("gone", () => 1);
      await ctx.step("hang", () => hangs());
    });
    const engine = lab.engine([old]);
    await lab.drive(engine.start(old, undefined, { id: "a" }));
    await lab.clock.advance(2_000);
    const changed = workflow("flow", async (ctx) => {
      ctx.log.info("repeated");
      await ctx.step("new", () => 2);
      ctx.log.info("new");
    });
    const { engine: next } = await lab.afterCrash(engine, [changed], "a");
    expect(texts((await next.reports.logs("a")).lines)).toEqual(["new"]);
  });

  it("is silent in plans and replays", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      ctx.log.info("begins");
      await ctx.step(
        "fail",
        () => {
          throw new Error("no");
        },
        { retry: false },
      );
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "a" }));
    await lab.drive(engine.settled("a"));
    await lab.drive(engine.plan("a"));
    await lab.drive(engine.replay("a"));
    expect(texts((await engine.reports.logs("a")).lines)).toEqual(["begins"]);
  });

  it("keeps secrets out, however deep, and takes whatever it is given", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const circle: Record<string, unknown> = {};
      circle["itself"] = circle;
      ctx.log.info("key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA", {
        deep: { list: ["the word hunter2-hunter2 is secret"] },
      });
      ctx.log.info("a circle", circle);
      ctx.log.warn("an error", new Error("hunter2-hunter2") as never);
      ctx.log.info(7 as never, "text" as never);
      ctx.log.info("\ud800 half");
      ctx.log.info("x".repeat(100_000), { many: Array.from({ length: 1_000 }, () => "y".repeat(900)) });
    });
    const redact = { values: ["hunter2-hunter2"] };
    const engine = lab.engine([flow], { redact });
    await lab.drive(engine.start(flow, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    const { lines } = await engine.reports.logs("a");
    expect(lines).toHaveLength(6);
    const stored = JSON.stringify(lines);
    expect(stored).not.toContain("hunter2");
    expect(stored).not.toContain("sk-ant");
    expect(lines[2]?.fields).toMatchObject({ err: { type: "Error", message: "[redacted:value]" } });
    expect(lines[3]).toMatchObject({ message: "7" });
    expect(stored.length).toBeLessThan(20_000);
  });

  it("keeps the newest lines of a run that writes without end, and says what is missing", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      for (let part = 0; part < 4; part++)
        await ctx.step("part", async () => {
          for (let line = 0; line < 6_000; line++) ctx.log.info(`${part}/${line} ${"x".repeat(80)}`);
          await engine.reports.storeLogs();
        });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    const { lines, more } = await engine.reports.logs("a", { limit: 10_000 });
    expect(more).toBe(false);
    expect(lines.at(-1)?.message).toBe("1000 more lines came faster than they could be stored");
    expect(lines.at(-2)?.message).toMatch(/^3\/4999 /);
    expect(lines[0]?.message).not.toMatch(/^0\/0 /);
    expect(JSON.stringify(lines).length).toBeLessThan(1_100_000);
  }, 20_000);

  it("disappears with its run, and with the values of its run", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => ctx.log.info("hello"));
    const engine = lab.engine([flow]);
    for (const id of ["a", "a/000001", "b"]) {
      await lab.drive(engine.start(flow, undefined, { id: id.replace("/", "-") }));
      await lab.drive(engine.result(id.replace("/", "-")));
    }
    const kept = async (): Promise<number> => {
      await engine.reports.storeLogs();
      return (await lab.store.documents?.list("run-log", { limit: 100 }))?.length ?? 0;
    };
    expect(await kept()).toBe(3);
    await lab.drive(engine.delete("a"));
    expect(await kept()).toBe(2);
    await lab.clock.advance(60_000);
    await lab.drive(engine.retention.prune({ maxAge: 30_000 }));
    expect(await kept()).toBe(0);
  });
});
