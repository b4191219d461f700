import { systemClock } from "../../core/clock.ts";
import type { Store } from "../../core/store/contract.ts";
import { createFaultyStore, type StoreFault, type StoreMethod } from "../faulty-store.ts";
import { withParts } from "../with-parts.ts";
import type { SceneConfig } from "./config.ts";
import type { Scene } from "./scene.ts";

/** How long the store is down. */
const DOWN_MS = 150;
/** How far the clock jumps: more than a claim, less than a process would wait. */
const JUMP_MS = 2_000;

/** Wraps the store with the fault that the process must survive; a kill needs none. */
export function withFault(store: Store, scene: Scene, config: SceneConfig): Store {
  const { fault, strike, claimMs } = config;
  if (fault === "sigkill" || strike === null) return store;
  if (fault === "throw") {
    scene.onStrike = () => {
      throw new Error("This call was made to fail by crash-test.");
    };
    return store;
  }
  const isAfter = "side" in strike && strike.side === "after";
  let struckAt: number | undefined;
  scene.onStrike = () => {
    struckAt = performance.now();
  };
  if (fault === "clock-skew") {
    const jump = isAfter ? JUMP_MS : -JUMP_MS;
    return withParts(store, { now: async () => (await store.now()) + (struckAt === undefined ? 0 : jump) });
  }
  const lasts = (ms: number): boolean => struckAt !== undefined && performance.now() - struckAt < ms;
  const choose =
    fault === "store-down"
      ? (): StoreFault | undefined => (lasts(DOWN_MS) ? { kind: "fail" } : undefined)
      : (): StoreFault | undefined => (lasts(3 * claimMs) ? { kind: "delay", ms: claimMs / 2 } : undefined);
  let isLost = isAfter && fault === "store-down";
  return createFaultyStore(store, {
    clock: systemClock,
    choose: (method: StoreMethod) => {
      // The write succeeds, but its acknowledgement is lost.
      const isWrite = method === "append" || method === "transaction";
      if (isLost && isWrite && "write" in strike && scene.writes === strike.write) {
        isLost = false;
        scene.strike(`after write ${strike.write}: made, but not acknowledged`);
        return { kind: "fail-after" };
      }
      return choose();
    },
  });
}
