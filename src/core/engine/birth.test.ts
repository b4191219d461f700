import { describe, expect, it } from "vitest";
import { createLab, hangs, signalled } from "../../../test/support/lab.ts";
import { type Effect, type EngineEvent, HoldfastError, workflow } from "../../index.ts";
import { createFaultyStore } from "../../testing/faulty-store.ts";
import { seededIds } from "../ids.ts";
import { parseEntry } from "../journal/journal.ts";
import type { Append, Store } from "../store/contract.ts";

const counting = (count: number) =>
  workflow("counting", async (ctx) => {
    for (let n = 0; n < count; n++) await ctx.step("s", () => n);
    return count;
  });

const kindsOf = async (store: Store, id: string): Promise<string[][]> =>
  (await store.entries(id, { from: 1, limit: 100 })).map((entry) =>
    parseEntry(id, entry).events.map(({ kind }) => kind),
  );

describe("a run that is started without an id", () => {
  it.each([0, 1, 10])("needs %i + 1 flushes for as many steps (issue 16)", async (count) => {
    const lab = createLab();
    const flow = counting(count);
    const engine = lab.engine([flow]);
    const run = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(run.result())).toBe(count);
    expect(engine.flushes).toBe(count + 1);
    const [first] = await kindsOf(lab.store, run.id);
    expect(first).toEqual(["run_created", "run_claimed", count === 0 ? "run_completed" : "step_started"]);
    const row = await lab.store.read(run.id);
    expect(row?.claim).toMatchObject({ epoch: 1, token: null, until: 0 });
    expect((await engine.get(run.id))?.damage).toBeUndefined();
    const other = lab.engine([flow]);
    expect(await lab.drive(other.result(run.id))).toBe(count);
  });

  it("calls nothing, and isn't acknowledged, before the append that creates it is durable", async () => {
    const lab = createLab();
    const [held, seen]: [ReturnType<typeof signalled>, string[]] = [signalled(), []];
    const store: Store = {
      ...lab.store,
      append: async (batch) => {
        await held.promise;
        return lab.store.append(batch);
      },
    };
    const flow = workflow("flow", (ctx) => ctx.step("s", () => seen.push("called")));
    const engine = lab.engine([flow], { store });
    engine.on("step_started", () => seen.push("told"));
    const starting = engine.start(flow, undefined).then((run) => (seen.push("started"), run));
    await lab.clock.advance(1_000);
    expect(seen).toEqual([]);
    held.resolve(undefined);
    const run = await lab.drive(starting);
    await lab.drive(run.result());
    expect(seen).toEqual(["told", "started", "called"]);
  });

  it("is known to whoever starts it before its first call", async () => {
    const lab = createLab();
    let known = "nothing";
    const flow = workflow("flow", (ctx) => ctx.step("s", () => known));
    const engine = lab.engine([flow]);
    const starting = engine.start(flow, undefined).then((run) => {
      known = run.id;
      return run;
    });
    const run = await lab.drive(starting);
    expect(await lab.drive(run.result())).toBe(run.id);
  });

  it("has its long input, its config and its limits in the store before its function begins", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx, input: string) => {
      await ctx.step("s", () => 1);
      return [input.length, ctx.config["model"]];
    });
    const engine = lab.engine([flow]);
    const options = [{}, { config: { model: "small" } }, { budget: { tokens: 5 } }, { actor: "ada" }];
    const inputs = ["x".repeat(20_000), "x", "x", "x"];
    for (const [index, input] of inputs.entries()) {
      const run = await lab.drive(engine.start(flow, input, options[index]));
      const model = index === 1 ? "small" : undefined;
      expect(await lab.drive(run.result())).toEqual([input.length, model]);
      const [first = []] = await kindsOf(lab.store, run.id);
      expect(first).not.toContain("step_started");
    }
  });
});

describe("the first append of a run", () => {
  it.each(["before", "after"] as const)(
    "may fail %s it is applied: the result and the number of effects stay the same",
    async (when) => {
      for (let nth = 1; nth <= 6; nth++) {
        const lab = createLab();
        const calls: string[] = [];
        const step = (name: string, effect: Effect) => [name, () => calls.push(name), { effect }] as const;
        const flow = workflow("flow", async (ctx) => {
          const a = await ctx.step(...step("a", "once"));
          return [a, await ctx.step(...step("b", "keyed"))];
        });
        const appends = { count: 0 };
        const store: Store = {
          ...lab.store,
          append: async (batch: readonly Append[]) => {
            const fails = ++appends.count === nth;
            if (fails && when === "before") throw new Error("disk away");
            const results = await lab.store.append(batch);
            if (fails) throw new Error("answer lost");
            return results;
          },
        };
        const engine = lab.engine([flow], { store });
        const run = await lab.drive(engine.start(flow, undefined));
        expect(await lab.drive(run.result())).toEqual([1, 2]);
        expect(calls).toEqual(["a", "b"]);
      }
    },
  );

  it("is refused while the store is down: the start fails, and nothing of the run has happened", async () => {
    const lab = createLab();
    let isDown = true;
    const calls: string[] = [];
    const flow = workflow("flow", (ctx) => ctx.step("s", () => calls.push("called")));
    for (const onSaveFailure of ["stop", "continue"] as const) {
      isDown = true;
      const store = createFaultyStore(lab.store, {
        clock: lab.clock,
        choose: (method) => (isDown && method === "append" ? { kind: "fail" } : undefined),
      });
      const engine = lab.engine([flow], { store, onSaveFailure });
      const failure = await lab.drive(engine.start(flow, undefined).catch((error: unknown) => error));
      expect(HoldfastError.is(failure, "HF-3002")).toBe(true);
      isDown = false;
      await lab.clock.advance(60_000);
      expect(calls).toEqual([]);
      expect((await lab.store.list({ limit: 10 })).runs).toEqual([]);
      await lab.drive(engine.close());
    }
  });

  it("leaves the run to the next worker when its process dies right after it", async () => {
    const lab = createLab();
    let attempts = 0;
    const flow = workflow("flow", (ctx) => ctx.step("s", () => (++attempts === 1 ? hangs() : attempts)));
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    const { engine: next, run } = await lab.afterCrash(engine, [flow], id);
    expect(run.status).toBe("completed");
    expect(await lab.drive(next.result(id))).toBe(2);
  });

  it("leaves a call of unknown outcome to a person when its process dies right after it", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("s", () => (calls++, hangs()), { effect: "once" }));
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    const { run } = await lab.afterCrash(engine, [flow], id);
    expect(run.waiting[0]?.kind).toBe("decision");
    expect(calls).toBe(1);
  });

  it("is written although the engine is closed in the meantime, as long as the store is open", async () => {
    for (const drainMs of [0, 1_000]) {
      const lab = createLab();
      const calls: string[] = [];
      const flow = workflow("flow", (ctx) => ctx.step("s", () => calls.push("called")));
      const engine = lab.engine([flow]);
      // The worker is there.
      await lab.drive(engine.recover());
      const starting = engine.start(flow, undefined);
      const closing = engine.close({ drainMs });
      const { id } = await lab.drive(starting);
      await lab.drive(closing);
      expect(await lab.store.read(id)).not.toBeNull();
      await lab.clock.advance(20_000);
      const next = lab.engine([flow]);
      expect(await lab.drive(next.result(id))).toBe(1);
      expect(calls).toEqual(["called"]);
    }
  });

  it("never touches a run that has the id already", async () => {
    const lab = createLab();
    const calls: number[] = [];
    const flow = workflow("flow", (ctx, n: number) => ctx.step("s", () => calls.push(n)));
    const ids = { ...seededIds(1), runId: () => "the-same" };
    const engine = lab.engine([flow], { ids });
    await lab.drive((await lab.drive(engine.start(flow, 1))).result());
    const before = await lab.store.read("the-same");
    await expect(lab.drive(engine.start(flow, 2))).rejects.toMatchObject({ code: "HF-1041" });
    await lab.clock.advance(60_000);
    expect(await lab.store.read("the-same")).toEqual(before);
    expect(calls).toEqual([1]);
  });

  it("is told to listeners and observers as one, with every event", async () => {
    const lab = createLab();
    const flow = counting(1);
    const written: string[][] = [];
    const observe = {
      observe: () => ({
        wrote: (_: unknown, events: readonly { readonly kind: string }[]) =>
          void written.push(events.map(({ kind }) => kind)),
      }),
    };
    const engine = lab.engine([flow], { observe });
    const told: string[] = [];
    for (const type of ["run_created", "run_claimed", "step_started"] as const)
      engine.on(type, (event: EngineEvent) => told.push(event.type));
    await lab.drive((await lab.drive(engine.start(flow, undefined))).result());
    expect(written[0]).toEqual(["run_created", "run_claimed", "step_started"]);
    expect(told).toEqual(["run_created", "run_claimed", "step_started"]);
  });
});

describe("a run that is started under an id", () => {
  it.each([0, 3])(
    "needs %i + 1 flushes, where the store says at once that there is none (issue 16)",
    async (count) => {
      const lab = createLab();
      const flow = counting(count);
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      expect(await lab.drive(engine.result("r"))).toBe(count);
      expect(engine.flushes).toBe(count + 1);
    },
  );

  it("isn't begun again when it is started twice, at once or later, by one process or by two", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", (ctx, input: string) => ctx.step("s", () => calls.push(input)));
    const [one, two] = [lab.engine([flow]), lab.engine([flow])];
    const start = (engine: typeof one) => engine.start(flow, "first", { id: "r" });
    await lab.drive(Promise.all([start(one), start(one), start(two)]));
    await lab.drive(one.result("r"));
    await lab.drive(start(two));
    await expect(lab.drive(two.start(flow, "second", { id: "r" }))).rejects.toMatchObject({
      code: "HF-1041",
    });
    expect(await lab.drive(two.result("r"))).toBe(1);
    expect(calls).toEqual(["first"]);
    const created = (await kindsOf(lab.store, "r")).flat().filter((kind) => kind === "run_created");
    expect(created).toHaveLength(1);
  });

  it("is left to the process that created it in the meantime", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", (ctx) => ctx.step("s", () => calls.push("called")));
    const aside = createLab();
    const appends: Append[] = [];
    const keeping: Store = {
      ...aside.store,
      append: (batch) => {
        appends.push(...batch);
        return aside.store.append(batch);
      },
    };
    const desk = aside.engine([flow], { store: keeping, execute: false });
    await aside.drive(desk.start(flow, undefined, { id: "r" }));
    const store: Store = {
      ...lab.store,
      read: async (id) => {
        const row = await lab.store.read(id);
        await lab.store.append(appends.splice(0));
        return row;
      },
    };
    const engine = lab.engine([flow], { store });
    const run = await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(run.result())).toBe(1);
    expect(calls).toEqual(["called"]);
    expect((await kindsOf(lab.store, "r")).flat().filter((kind) => kind === "run_created")).toHaveLength(1);
  });
});
