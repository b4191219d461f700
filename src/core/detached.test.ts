import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { code } from "../../test/support/code.ts";
import { createLab, hangs } from "../../test/support/lab.ts";
import { HoldfastError, type Logger, type Workflow, workflow } from "../index.ts";
import type { Append, Store } from "./store/contract.ts";

const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => void process.on("unhandledRejection", note));
afterEach(async () => {
  // Node tells of them after the microtasks of the turn they were left in.
  await turn();
  process.off("unhandledRejection", note);
  expect(unhandled.splice(0)).toEqual([]);
});

const waiting = workflow("waiting", (ctx) => ctx.signal("never"));
const failing = (): Promise<never> => Promise.reject(new Error("away"));

function logged(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const say = (message: string): void => void lines.push(message);
  return { lines, logger: { debug: say, info: say, warn: say, error: say } };
}

describe("work that nobody waits for", () => {
  it("lets a pause stand when the process cannot work on the run (E5)", async () => {
    const lab = createLab();
    const first = lab.engine([waiting]);
    await lab.drive(first.start(waiting, undefined, { id: "r" }));
    await lab.drive(first.settled("r"));
    await lab.crash(first);
    const store: Store = { ...lab.store, identity: failing };
    const { logger, lines } = logged();
    const engine = lab.engine([waiting], { store, logger });
    expect((await lab.drive(engine.pause("r"))).status).toBe("paused");
    await turn();
    expect(lines).toContain("looking at what was written failed");
  });

  it("is logged when a run cannot be taken up, and the run is taken up later (E5)", async () => {
    const lab = createLab();
    let isAway = false;
    const store: Store = {
      ...lab.store,
      entries: (...args) =>
        isAway
          ? Promise.reject(new HoldfastError("HF-3030", { message: "away", kek: "k" }))
          : lab.store.entries(...args),
      append: (batch: readonly Append[]) => {
        const heads = batch.flatMap(({ entries }) => entries.map(({ head }) => head)).join();
        return isAway && heads.includes("run_waiting") ? failing() : lab.store.append(batch);
      },
    };
    const flow = workflow("flow", async (ctx) => (await ctx.signal<string>("go")).payload);
    const { logger, lines } = logged();
    const engine = lab.engine([flow], { store, logger });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    isAway = true;
    await lab.drive(lab.engine([], { execute: false }).signal("r", "go", "on"));
    await lab.clock.advance(20_000);
    expect(lines).toContain("taking up a run failed");
    isAway = false;
    await lab.clock.advance(600_000);
    expect(await lab.drive(engine.result("r"))).toBe("on");
    expect((await engine.get("r"))?.recoveries).toBe(0);
  });

  it("leaves a run to a person whose input cannot be read, instead of holding it for ever (E5)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx, _: string) => ctx.step("work", hangs));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, "x".repeat(10_000), { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const gone = () => Promise.reject(new HoldfastError("HF-1023", { run: "r", seq: 1 }));
    const next = lab.engine([flow], { store: { ...lab.store, blobs: gone } });
    await lab.drive(next.recover());
    const run = await lab.drive(next.settled("r"));
    expect([run.status, run.waiting.map(({ kind }) => kind)]).toEqual(["waiting", ["review"]]);
    expect(run.waiting[0]?.detail).toContain("HF-1023");
  });

  it("harms nobody when a listener fails later, or the log itself fails", async () => {
    const lab = createLab();
    const broken = (): never => {
      throw new Error("the log is full");
    };
    const logger: Logger = { debug: broken, info: broken, warn: broken, error: broken };
    const flow = workflow("flow", (ctx) => ctx.step("work", () => 1));
    const engine = lab.engine([flow], { logger });
    // oxlint-disable-next-line typescript/no-misused-promises -- what users do all the same
    engine.on("step_completed", () => failing());
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe(1);
  });
});

describe("a flush of several runs", () => {
  /** A loop whose state grows by patches, each of them small. */
  const growing = workflow("growing", (ctx, turns: number) =>
    ctx.loop("turn", { lines: [] as string[] }, async (draft, { index, done }) => {
      await ctx.step("work", () => index);
      draft.lines.push(`${index} `.repeat(200));
      return index === turns ? done() : undefined;
    }),
  );

  it("ends them all when a snapshot of one is larger than a value may be (E4)", async () => {
    const lab = createLab();
    const small = workflow("small", async (ctx) => {
      for (let index = 0; index < 120; index++) await ctx.step("work", () => index);
      return "ended";
    });
    const { logger, lines } = logged();
    const engine = lab.engine([growing, small], {
      logger,
      limits: { valueBytes: 20_000, warnBytes: 10_000 },
    });
    await lab.drive(engine.start(growing, 120, { id: "large" }));
    await lab.drive(engine.start(small, undefined, { id: "small" }));
    const results = [code(engine.result("large")), engine.result("small")];
    const [large, other] = await lab.drive(Promise.all(results));
    // Its result is as large as its state was: that is refused where it is returned, and nowhere else.
    expect([large, other]).toEqual(["HF-2101", "ended"]);
    const skipped = lines.filter((line) => line === "snapshot was not taken");
    expect(skipped.length).toBeGreaterThan(0);
    expect(skipped.length).toBeLessThan(5);
  });

  it("tells the other runs when one of them cannot take its answer, and stops that one for review (E4)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx, turns: number) => {
      for (let index = 0; index < turns; index++) await ctx.step("work", () => index);
      return "ended";
    });
    let isBroken = false;
    const engine = lab.engine([flow as Workflow<never, unknown>], {
      probe: (point, { runId, step }) => {
        if (point !== "C09:after-completion" || runId !== "a" || step !== "work#3" || isBroken) return;
        isBroken = true;
        throw new Error("broken");
      },
    });
    for (const id of ["a", "b", "c"]) await lab.drive(engine.start(flow, 20, { id }));
    expect(await lab.drive(Promise.all([engine.result("b"), engine.result("c")]))).toEqual([
      "ended",
      "ended",
    ]);
    const run = await lab.drive(engine.settled("a"));
    expect(run.waiting[0]).toMatchObject({ kind: "review" });
    expect(run.waiting[0]?.detail).toContain("HF-2189");
    await lab.drive(engine.resume("a"));
    expect(await lab.drive(engine.result("a"))).toBe("ended");
  });
});

describe("the limit of a value's size", () => {
  it("counts below the size that is warned of, too (E6)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("work", () => "x".repeat(200_000), { retry: false }));
    const engine = lab.engine([flow], { limits: { valueBytes: 50_000 } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const error = await lab.drive(engine.result("r").catch((thrown: HoldfastError) => thrown));
    expect((error as HoldfastError).cause).toMatchObject({ code: "HF-2002" });
  });
});
