import { describe, expect, it } from "vitest";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine, type EngineOptions, workflow } from "../../src/index.ts";
import { hangs, signalled } from "./lab.ts";

/** How one kind of store is backed up and restored. */
export interface Keeper {
  open(): Promise<Store>;
  /** True when it is backed up while processes use it; otherwise it is closed. */
  readonly online: boolean;
  /** Makes a backup and returns a function that restores it while the store is closed. */
  backUp(): Promise<() => Promise<void>>;
}

const STEPS = 60;
const STOP_AT = 10;
/** Long enough for a busy machine; when waiting for a claim to expire, no longer than that. */
const [PATIENT_MS, SHORT_MS] = [60_000, 3_000];

interface Call {
  readonly step: string;
  readonly key: string;
}

/** Sixty calls with an effect. `hold` decides which of them hangs. */
function program(hold: (step: string) => Promise<unknown> | undefined) {
  const calls: Call[] = [];
  const pay = workflow("pay", async (ctx, _: null) => {
    for (let i = 0; i < STEPS; i++)
      await ctx.step(
        `pay-${i}`,
        async ({ step, key }) => {
          calls.push({ step, key });
          await hold(step);
        },
        { effect: i % 2 === 0 ? "keyed" : "once" },
      );
    return "paid";
  });
  return { calls, pay };
}

const GONE = "gone";
const here = { mark: "here", isGone: (token: string): boolean => token.endsWith(`.${GONE}`) };
/** Known to be dead by all others, so that nobody waits for its claims to expire. */
const dead = { mark: GONE, isGone: () => false };

const engineOn = (store: Store, pay: ReturnType<typeof program>["pay"], more: Partial<EngineOptions> = {}) =>
  createEngine({ store, workflows: [pay], claimMs: PATIENT_MS, sweepMs: 20, processes: here, ...more });

/**
 * A run that hangs in a call, with a killed worker, when the backup is made; then everything is done, and the backup is
 * restored.
 */
async function lostTail(keeper: Keeper): Promise<{ store: Store; lost: readonly Call[]; secret: string }> {
  const reached = signalled();
  const first = program((step) => (step === `pay-${STOP_AT}` ? (reached.resolve(), hangs()) : undefined));
  let store = await keeper.open();
  const { secret } = await store.identity();
  const dying = engineOn(store, first.pay, { processes: dead });
  await dying.start(first.pay, null, { id: "run" });
  await reached.promise;
  await dying.close({ drainMs: 0 });
  if (!keeper.online) await store.close();
  const putBack = await keeper.backUp();
  if (!keeper.online) store = await keeper.open();
  const second = program(() => undefined);
  const engine = engineOn(store, second.pay);
  expect(await engine.result("run")).toBe("paid");
  await engine.close();
  await store.close();
  await putBack();
  return { store: await keeper.open(), lost: second.calls, secret };
}

/** Tests what every store guarantees after a restore. */
export function restoredBackups(name: string, keeperOf: () => Keeper): void {
  describe(`a ${name} backup that was put back`, () => {
    it("gives the store another incarnation, and lets no run repeat by itself what was lost", async () => {
      const { store, lost, secret } = await lostTail(keeperOf());
      expect(lost).toHaveLength(STEPS - STOP_AT);
      const before = await store.identity();
      const after = await store.markRestored?.();
      expect(after).toEqual({
        incarnation: expect.any(String),
        secret,
        restoredAt: expect.any(Number),
      });
      expect(after?.incarnation).not.toBe(before.incarnation);
      expect(await store.identity()).toEqual(after);

      const { calls, pay } = program(() => undefined);
      const engine = engineOn(store, pay);
      expect(await engine.recover()).toEqual([]);
      const run = await engine.settled("run");
      expect(run).toMatchObject({ status: "waiting", waiting: [{ kind: "review" }] });
      expect(run.waiting[0]?.detail).toMatch(/^HF-2130 .*restored from a backup/);
      await engine.recover();
      expect(calls).toEqual([]);

      await engine.resume("run", { actor: "ada", reason: "looked at it" });
      expect(await engine.result("run")).toBe("paid");
      // Everything that had begun is repeated, all under the keys that receivers know.
      expect(calls).toEqual(lost);
      await engine.close();
      const entries = await store.entries("run", { from: 1, limit: 1_000 });
      const resumed = entries.find(({ head }) => head.includes('"run_resumed"'));
      expect(resumed?.head).toContain('"ada"');
      await store.close();
    });

    it("goes on with runs that are made from then on, whoever makes and takes them", async () => {
      const { store } = await lostTail(keeperOf());
      await store.markRestored?.();
      const { calls, pay } = program(() => undefined);
      const starter = engineOn(store, pay, { execute: false });
      const worker = engineOn(store, pay);
      await starter.start(pay, null, { id: "new" });
      await worker.recover();
      expect(await starter.result("new")).toBe("paid");
      expect(calls).toHaveLength(STEPS);
      await starter.close();
      await worker.close();
      await store.close();
    });
  });
}

interface Regress {
  readonly open: () => Promise<Store>;
  /** Makes a copy and returns a function that restores it under a process that has the store open. */
  readonly disturb: () => Promise<() => Promise<void>>;
}

/** Tests every engine's reaction to a store that is restored without notice. `isEmpty`: nothing is left to repeat. */
export function regressedStore(name: string, regressOf: () => Regress, isEmpty = false): void {
  const reports = (engine: Engine) => engine.health().store;

  describe(`a ${name} store that goes back under a living engine`, () => {
    it("stops the run that is under way, and everything else of it", async () => {
      const [early, late, held] = [signalled(), signalled(), signalled()];
      const { calls, pay } = program((step) => {
        if (step === "pay-1") return early.resolve(), held.promise;
        return step === "pay-9" ? (late.resolve(), hangs()) : undefined;
      });
      const { open, disturb } = regressOf();
      const store = await open();
      const engine = engineOn(store, pay);
      await engine.start(pay, null, { id: "run" });
      await early.promise;
      const goBack = await disturb();
      held.resolve();
      await late.promise;
      const made = calls.length;
      await goBack();
      // Its next request finds out.
      await expect(engine.result("run")).rejects.toMatchObject({ code: "HF-3020" });
      expect(reports(engine)).toMatchObject({ state: "back", error: expect.stringContaining("lost writes") });
      expect(engine.health().worker.running).toBe(0);
      await expect(engine.start(pay, null, { id: "other" })).rejects.toMatchObject({ code: "HF-3020" });
      await expect(engine.pause("run")).rejects.toMatchObject({ code: "HF-3020" });
      expect(calls).toHaveLength(made);
      await engine.close();
      await store.close();
    });

    it.skipIf(isEmpty)("does not do again what a run had done that was finished here", async () => {
      const early = signalled();
      const held = signalled();
      const { calls, pay } = program((step) =>
        step === "pay-1" ? (early.resolve(), held.promise) : undefined,
      );
      const { open, disturb } = regressOf();
      const store = await open();
      const failed = signalled();
      const engine = engineOn(store, pay, { claimMs: SHORT_MS });
      engine.on("store_failing", ({ error }) => {
        if ((error as { code?: string }).code === "HF-3020") failed.resolve();
      });
      await engine.start(pay, null, { id: "run" });
      await early.promise;
      const goBack = await disturb();
      held.resolve();
      expect(await engine.result("run")).toBe("paid");
      await engine.work();
      await goBack();
      // In the older state its worker is dead: it is due as soon as the claim has expired.
      await failed.promise;
      expect(reports(engine).state).toBe("back");
      expect(calls).toHaveLength(STEPS);
      await engine.close();
      await store.close();
    });
  });
}

interface Strange {
  /** Opens it again, as another process would. */
  readonly open: () => Promise<Store>;
  /** Replaces this store with another one while it is open elsewhere. */
  readonly replace?: () => Promise<void>;
}

/** Tests every engine's reaction when its store isn't the one it opened: it starts and writes nothing more. */
export function strangeStore(name: string, strangeOf: () => Strange): void {
  const isOut = { code: "HF-3020" };

  describe(`a ${name} store that is another one by now (R2, D8)`, () => {
    it("takes no start, no act and no step of a process that was not told of the restore", async () => {
      const [reached, held] = [signalled(), signalled()];
      const { calls, pay } = program((step) =>
        step === "pay-3" ? (reached.resolve(), held.promise) : undefined,
      );
      const ask = workflow("ask", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
      const { open } = strangeOf();
      const [store, elsewhere] = [await open(), await open()];
      // One works on a run, the other has only created one, and neither polls the store in the meantime.
      const worker = engineOn(store, pay, { sweepMs: PATIENT_MS });
      const starter = engineOn(store, pay, { execute: false, sweepMs: PATIENT_MS });
      await worker.start(ask, undefined, { id: "asking" });
      await worker.settled("asking");
      await worker.start(pay, null, { id: "run" });
      await reached.promise;
      await elsewhere.markRestored?.();
      await expect(starter.start(pay, null, { id: "new" })).rejects.toMatchObject(isOut);
      await expect(starter.pause("run")).rejects.toMatchObject(isOut);
      const stopped = new Promise((resolve) => worker.on("store_failing", resolve));
      held.resolve();
      await stopped;
      await expect(worker.answer("asking", "ok", { choice: "yes" })).rejects.toMatchObject(isOut);
      await expect(worker.start(pay, null, { id: "new" })).rejects.toMatchObject(isOut);
      expect(calls).toHaveLength(4);
      expect(worker.health().store.state).toBe("back");
      expect(await elsewhere.read("new")).toBeNull();
      expect((await elsewhere.read("asking"))?.status).toBe("waiting");
      for (const engine of [worker, starter]) await engine.close({ drainMs: 0 });
      for (const one of [store, elsewhere]) await one.close();
    });

    it.skipIf(strangeOf().replace === undefined)(
      "takes nothing of a process that knew the one before",
      async () => {
        const { calls, pay } = program(() => undefined);
        const { open, replace } = strangeOf();
        const store = await open();
        const engine = engineOn(store, pay, { sweepMs: PATIENT_MS });
        await engine.start(pay, null, { id: "run" });
        expect(await engine.result("run")).toBe("paid");
        await replace?.();
        await expect(engine.start(pay, null, { id: "other" })).rejects.toMatchObject(isOut);
        await expect(engine.start(pay, null, { id: "run" })).rejects.toMatchObject(isOut);
        expect(calls).toHaveLength(STEPS);
        await engine.close();
        await store.close();
        const now = await open();
        expect(await now.read("other")).toBeNull();
        await now.close();
      },
    );
  });
}
