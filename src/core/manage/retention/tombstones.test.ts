import { describe, expect, it } from "vitest";
import { createLab, type Lab, signalled } from "../../../../test/support/lab.ts";
import { codeOf, journal, rowOf, run, verify } from "../../../../test/support/retention.ts";
import { testKeyring } from "../../../../test/support/sealed.ts";
import { type Engine, type RetentionPolicy, workflow } from "../../../index.ts";
import { sealStore } from "../../../security/index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";

const fails = workflow("fails", async (ctx, input: string) => {
  await ctx.step("work", () => input);
  await ctx.step("break", () => Promise.reject(new Error("no")), { retry: false });
});
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
const ALL: RetentionPolicy = { maxAge: 0, failedMaxAge: 0 };

/** Prunes and is broken off after the first write. */
async function brokenOff(lab: Lab, engine: Engine): Promise<void> {
  const stop = new AbortController();
  const off = engine.on("values_dropped", () => stop.abort());
  expect(await lab.drive(engine.retention.prune(ALL, { batch: 1, signal: stop.signal }))).toMatchObject({
    complete: false,
  });
  off();
}

const valuesIn = async (lab: Lab, id: string): Promise<number> =>
  (await journal(lab.store, id)).filter(({ data }) => data !== null).length;

describe("a run that has lost its values", () => {
  it("takes no value any more, by whatever act, and says so with one code (R9)", async () => {
    const lab = createLab();
    const engine = lab.engine([fails]);
    await run(lab, engine, fails, "a", "input");
    await lab.drive(engine.retention.prune(ALL));
    const { seq } = await rowOf(lab.store, "a");
    const acts: Record<string, () => Promise<unknown>> = {
      signal: () => engine.signal("a", "late", "value"),
      "signal with an id": () => engine.signal("a", "late", "value", { id: "once" }),
      resume: () => engine.resume("a", { inject: "value" }),
      answer: () => engine.answer("a", "gate", { choice: "yes" }),
      label: () => engine.checkpoints.label("a", "name"),
      pin: () => engine.checkpoints.pin("a"),
      mark: () => engine.checkpoints.mark("a", "name"),
      fork: () => engine.fork("a"),
      result: () => engine.result("a"),
      pause: () => engine.pause("a"),
      resolve: () => engine.resolve("a", "work", { action: "rerun" }),
    };
    for (const [name, act] of Object.entries(acts))
      expect(await codeOf(lab.drive(act())), name).toBe("HF-1023");
    expect((await rowOf(lab.store, "a")).seq).toBe(seq);
    expect(await valuesIn(lab, "a")).toBe(0);
    await verify(lab.store, "a");
  });

  it("is not made anew by a start with its id, and says that its result is gone", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "Ada");
    await lab.drive(engine.retention.prune(ALL));
    const before = await journal(lab.store, "a");
    const again = await lab.drive(engine.start(greet, "Ben", { id: "a" }));
    const row = await again.row();
    expect(row).toMatchObject({ status: "completed" });
    expect(row?.prunedAt).not.toBeNull();
    expect(await codeOf(lab.drive(engine.result("a")))).toBe("HF-1023");
    expect(await journal(lab.store, "a")).toEqual(before);
  });

  it("does not take the result of a call whose worker had lost it", async () => {
    for (const store of [
      createMemoryStore(),
      await sealStore(createMemoryStore(), { keyring: testKeyring("k") }),
    ]) {
      const lab = createLab(store);
      const sent = signalled<string>();
      const flow = workflow("flow", (ctx) => ctx.step("mail", () => sent.promise, { effect: "once" }));
      const worker = lab.engine([flow]);
      await lab.drive(worker.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(100);
      const other = lab.engine([], { execute: false });
      await lab.drive(other.cancel("r"));
      await lab.drive(other.retention.prune(ALL));
      const { seq, prunedAt } = await rowOf(lab.store, "r");
      expect(prunedAt).not.toBeNull();
      sent.resolve("late ".repeat(3_000));
      await lab.clock.advance(60_000);
      expect((await rowOf(lab.store, "r")).seq).toBe(seq);
      expect(await valuesIn(lab, "r")).toBe(0);
      await lab.crash(worker);
    }
  });
});

describe("a run that has begun to lose its values", () => {
  it("can do nothing more, and is not held by a pin", async () => {
    const lab = createLab();
    const engine = lab.engine([fails]);
    await run(lab, engine, fails, "a", "input");
    await brokenOff(lab, engine);
    const acts: Record<string, () => Promise<unknown>> = {
      resume: () => engine.resume("a"),
      signal: () => engine.signal("a", "late", "value"),
      pin: () => engine.checkpoints.pin("a"),
      "pin of the run": () => engine.retention.pin("a"),
      label: () => engine.checkpoints.label("a", "name"),
      mark: () => engine.checkpoints.mark("a", "name"),
      fork: () => engine.fork("a"),
    };
    for (const [name, act] of Object.entries(acts))
      expect(await codeOf(lab.drive(act())), name).toBe("HF-1023");
    expect(await lab.drive(engine.checkpoints.list("a", { all: true }))).toEqual([]);
    expect((await lab.drive(engine.retention.prune(ALL))).runs).toMatchObject([{ runId: "a", pruned: true }]);
  });

  it("does not count as a successful one that is kept", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    for (const id of ["older", "newer"]) {
      await run(lab, engine, greet, id, id);
      await lab.clock.advance(1_000);
    }
    await brokenOff(lab, engine);
    const report = await lab.drive(engine.retention.prune({ maxAge: 0, keepSuccessful: 1 }));
    expect(report.skipped).toEqual([{ runId: "older", workflow: "greet", why: "keepSuccessful" }]);
    expect(report.runs).toMatchObject([{ runId: "newer", pruned: true }]);
    expect(await lab.drive(engine.result("older"))).toBe("Hello older");
  });
});
