import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../../test/support/lab.ts";
import { type Engine, type HoldfastError, type StepOptions, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { checkInvariants } from "../../../testing/invariants/invariants.ts";
import { childId } from "../../ids.ts";
import type { Store } from "../../store/contract.ts";

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "none",
    (error: HoldfastError) => error.code ?? error.message,
  );

/** Another place, with the same clock. `secret`: keys are made as in that store. */
function elsewhere(lab: Lab, secret?: Store): Lab {
  const store = createMemoryStore({ clock: lab.clock });
  const made = createLab(secret ? { ...store, identity: () => secret.identity() } : store);
  return {
    ...lab,
    store: made.store,
    engine: (flows, options) => lab.engine(flows, { store: made.store, ...options }),
  };
}

/** A run whose step `pay` does what `first` says at home and pays elsewhere. */
async function moved(
  options: Partial<StepOptions<string>>,
  first: () => Promise<string>,
  { isSame = false, resume = false } = {},
) {
  const lab = createLab();
  const keys: string[] = [];
  const verified: string[] = [];
  const flow = (work: () => Promise<string>) =>
    workflow("flow", (ctx) =>
      ctx.step("pay", ({ key }) => (keys.push(key), work()), {
        effect: "keyed",
        verify: ({ key }: { key: string }) => (verified.push(key), { status: "not-done" as const }),
        ...options,
      } as StepOptions<string>),
    );
  const home = lab.engine([flow(first)]);
  await lab.drive(home.start(flow(first), undefined, { id: "r" }));
  await lab.clock.advance(100);
  const target = elsewhere(lab, isSame ? lab.store : undefined);
  const engine = target.engine([flow(async () => "paid")]);
  await lab.drive(engine.transfer.importRuns(home.transfer.exportRun("r"), { accept: { actor: "ops" } }));
  await lab.crash(home);
  const plan = await lab.drive(engine.plan("r"));
  if (resume) await lab.drive(engine.resume("r"));
  await lab.drive(engine.recover());
  const run = await lab.drive(engine.settled("r"));
  return { lab, target, engine, keys, verified, run, plan };
}

async function decided(lab: Lab, engine: Engine, keys: readonly string[]): Promise<void> {
  await lab.clock.advance(1_000_000);
  await lab.drive(engine.resolve("r", "pay", { action: "rerun" }));
  expect(await lab.drive(engine.result("r"))).toBe("paid");
  expect(new Set(keys).size).toBe(2);
}

const fails = (error: object) => () => Promise.reject(Object.assign(new Error("no"), error));

describe("a call that was under way when its run was exported", () => {
  it("is not made again under another key, and its hook is not asked for a key that it cannot know", async () => {
    for (const effect of ["keyed", "once"] as const) {
      const { lab, engine, keys, verified, run, plan, target } = await moved({ effect }, hangs);
      expect(plan.inDoubt).toMatchObject([{ step: "pay", treatment: "asked of a person" }]);
      expect(run).toMatchObject({ status: "waiting", waiting: [{ kind: "decision", step: "pay" }] });
      expect([keys.length, verified]).toEqual([1, []]);
      await decided(lab, engine, keys);
      expect(await checkInvariants(target.store, { calls: [] })).toEqual([]);
    }
  });

  it("is made again under the same key where the keys are the same", async () => {
    const { lab, engine, keys } = await moved({}, hangs, { isSame: true });
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });

  it("is made again when it is repeatable", async () => {
    const { lab, engine, keys } = await moved({ effect: "repeatable" }, hangs);
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(keys).toHaveLength(2);
  });
});

describe("a call that had failed and was to be tried again", () => {
  const retry = { attempts: 2, baseMs: 60_000 };

  it("waits for a decision when its key would be another one", async () => {
    const { lab, engine, keys, run } = await moved({ retry }, fails({}));
    expect(run).toMatchObject({ status: "waiting", waiting: [{ kind: "retry" }] });
    await lab.clock.advance(200_000);
    expect(await lab.drive(engine.settled("r"))).toMatchObject({
      waiting: [{ kind: "decision", step: "pay" }],
    });
    await decided(lab, engine, keys);
  });

  it("is tried again where the keys are the same", async () => {
    const { lab, engine, keys } = await moved({ retry }, fails({}), { isSame: true });
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(new Set(keys).size).toBe(1);
  });

  it("is asked about by a resume, unless its error proves that nothing was done", async () => {
    const unknown = await moved({ retry: false }, fails({ fatal: true }), { resume: true });
    expect(unknown.run).toMatchObject({ status: "waiting", waiting: [{ kind: "decision" }] });
    const refused = await moved({ retry: false }, fails({ status: 400 }), { resume: true });
    expect(await refused.lab.drive(refused.engine.result("r"))).toBe("paid");
  });
});

describe("a run that somebody holds", () => {
  it("comes without its holder and goes on at a higher epoch", async () => {
    const { lab, target, engine } = await moved({ effect: "repeatable" }, hangs);
    await lab.drive(engine.result("r"));
    expect((await target.store.read("r"))?.claim.epoch).toBe(2);
    expect((await lab.store.read("r"))?.claim.epoch).toBe(1);
    expect(await checkInvariants(target.store, { calls: [] })).toEqual([]);
  });
});

/** A parent that waits for its child, which waits at a gate. */
async function family() {
  const lab = createLab();
  let calls = 0;
  const child = workflow("child", async (ctx) => {
    await ctx.step("send", () => ++calls, { effect: "once" });
    await ctx.gate("go", { show: 1, choices: ["go"] });
    return "done below";
  });
  const parent = workflow("parent", async (ctx) => ctx.child("below", child, undefined));
  const flows = [parent, child];
  const engine = lab.engine(flows);
  await lab.drive(engine.start(parent, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return { lab, engine, flows, below: childId("r", "below"), calls: () => calls };
}

describe("a run that needs others", () => {
  it("is refused without a child that it waits for", async () => {
    const { lab, engine, below } = await family();
    const target = elsewhere(lab).engine([]);
    const alone = () => engine.transfer.exportRun("r");
    expect(await codeOf(lab.drive(target.transfer.importRuns(alone())))).toBe("HF-3017");
    expect(await target.get("r")).toBeNull();
    await lab.drive(
      target.transfer.importRuns(engine.transfer.exportRun(below), { accept: { actor: "ops" } }),
    );
    expect(await lab.drive(target.transfer.importRuns(alone(), { accept: { actor: "ops" } }))).toEqual({
      imported: ["r"],
      skipped: [],
      review: [],
    });
  });

  it("hears of a child that has ended before it came", async () => {
    const { lab, engine, flows, below, calls } = await family();
    const lines: string[] = [];
    for await (const line of engine.transfer.exportRun("r")) lines.push(line);
    await lab.drive(engine.answer(below, "go", { choice: "go" }));
    await lab.drive(engine.result("r"));
    const target = elsewhere(lab).engine(flows);
    await lab.drive(
      target.transfer.importRuns(engine.transfer.exportRun(below), { accept: { actor: "ops" } }),
    );
    async function* earlier() {
      yield* lines;
    }
    await lab.drive(target.transfer.importRuns(earlier(), { accept: { actor: "ops" } }));
    expect(await lab.drive(target.result("r"))).toBe("done below");
    expect(calls()).toBe(1);
  });

  it("brings the run that it was forked from, and is refused without that one's children", async () => {
    const { lab, engine, flows, calls } = await family();
    const [newest] = await lab.drive(engine.checkpoints.list("r", { limit: 1, all: true }));
    await lab.drive(engine.fork(newest?.id ?? "", { id: "fork" }));
    await lab.drive(engine.settled("fork"));
    const target = elsewhere(lab);
    const there = target.engine(flows);
    const alone = engine.transfer.exportRun("fork");
    expect(await codeOf(lab.drive(there.transfer.importRuns(alone)))).toBe("HF-3017");
    const whole = engine.transfer.exportRun("fork", { children: true });
    const { imported } = await lab.drive(there.transfer.importRuns(whole, { accept: { actor: "ops" } }));
    expect(imported).toHaveLength(4);
    await lab.drive(there.answer(childId("fork", "below"), "go", { choice: "go" }));
    expect(await lab.drive(there.result("fork"))).toBe("done below");
    expect(calls()).toBe(1);
    expect(await checkInvariants(target.store, { calls: [] })).toEqual([]);
  });
});

describe("a run whose values retention has dropped", () => {
  it("comes as it is, and what is left of it verifies", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => ctx.step("one", () => "x".repeat(20_000)));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    await lab.clock.advance(10);
    await lab.drive(engine.retention.prune({ maxAge: 0 }));
    expect((await lab.store.read("r"))?.prunedAt).not.toBeNull();
    const target = elsewhere(lab);
    const there = target.engine([flow]);
    await lab.drive(there.transfer.importRuns(engine.transfer.exportRun("r"), { accept: { actor: "ops" } }));
    expect(await there.checkpoints.validate("r")).toMatchObject({ ok: true });
    expect(await codeOf(lab.drive(there.result("r")))).toBe("HF-1023");
  });
});
