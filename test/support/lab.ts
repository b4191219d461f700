import { seededIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine, type EngineOptions, type Run, type Workflow } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";

type Given = Partial<Omit<EngineOptions, "store" | "clock" | "workflows">> & { store?: Store };

/** A store and a clock that outlive engines: crash one, create another, and see what it finds. */
export interface Lab {
  readonly clock: FakeClock;
  readonly store: Store;
  /** An engine that knows `workflows`. */
  engine(workflows: readonly Workflow<never, unknown>[], options?: Given): Engine;
  /** Lets time pass until the promise settles. */
  drive<T>(promise: Promise<T>): Promise<T>;
  /** Stops the engine dead: nothing is released, and its claims expire on their own. */
  crash(engine: Engine): Promise<void>;
  /** Crashes, waits until the claims have expired, and continues in a new engine until the run is at rest. */
  afterCrash(
    engine: Engine,
    workflows: readonly Workflow<never, unknown>[],
    runId: string,
  ): Promise<{ engine: Engine; run: Run }>;
}

export function createLab(store?: Store, clock = createFakeClock()): Lab {
  const shared = store ?? createMemoryStore({ clock });
  let made = 0;
  const lab: Lab = {
    clock,
    store: shared,
    engine: (workflows, options = {}) =>
      createEngine({ store: shared, workflows, clock, ids: seededIds(++made), claimMs: 10_000, ...options }),
    async drive(promise) {
      let open = true;
      const done = promise.finally(() => {
        open = false;
      });
      done.catch(() => undefined);
      for (let turn = 0; open && turn < 5_000; turn++)
        await clock.advance(turn < 50 ? 10 : turn < 500 ? 500 : 10_000);
      if (open) throw new Error("nothing more happens, and the promise has not settled");
      return done;
    },
    async crash(engine) {
      const closing = engine.close({ drainMs: 0 });
      await clock.advance(1);
      await closing;
    },
    async afterCrash(engine, workflows, runId) {
      await lab.crash(engine);
      await clock.advance(20_000);
      const next = lab.engine(workflows);
      await lab.drive(next.recover());
      return { engine: next, run: await lab.drive(next.settled(runId)) };
    },
  };
  return lab;
}

/** A promise that the test settles: a call that hangs until then. */
export function signalled<T = void>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** A call that never returns, so that a crash interrupts it. */
export const hangs = (): Promise<never> => new Promise<never>(() => undefined);
