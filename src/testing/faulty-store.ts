import { badOption, checkKeys } from "../core/check-options.ts";
import type { Clock } from "../core/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkStore } from "../core/store/check-store.ts";
import type { Append, AppendResult, Store } from "../core/store/contract.ts";
import { sealOf } from "../core/store/hand-through.ts";
import type { AckedWrite } from "./witness/log.ts";

/** The methods of a store that can be made to fail. */
export type StoreMethod = "append" | "renew" | "read" | "entries" | "blobs" | "list" | "due" | "transaction";

/**
 * The fault of one call. `fail`: throws, and nothing happens. `fail-after`: throws after the call took effect, as when
 * the acknowledgement is lost. `fail-late`: throws, and the call takes effect just before the next one of its kind, as
 * when a server finishes a request that its client has abandoned. `delay` and `delay-after`: the request or the
 * response is slow. `stall`: nothing happens and the call never returns.
 */
export type StoreFault =
  | { readonly kind: "fail" | "fail-after" | "fail-late" | "stall" }
  | { readonly kind: "delay" | "delay-after"; readonly ms: number };

export interface PlannedFault {
  readonly method: StoreMethod;
  /** The call of this method, counted from 1. */
  readonly call: number;
  readonly fault: StoreFault;
}

/** Which calls of a store fail, and how. */
export interface FaultPlan {
  readonly faults?: readonly PlannedFault[];
  /** Every call from `from` up to, but not including, `to` fails. Calls of all methods are counted together, from 1. */
  readonly down?: readonly { readonly from: number; readonly to: number }[];
  /** Chooses the fault of calls that the plan doesn't mention. */
  readonly choose?: (method: StoreMethod, call: number) => StoreFault | undefined;
  /** Measures delays; required for `delay` and `delay-after`. */
  readonly clock?: Pick<Clock, "setTimer">;
  /** Called with every write that is acknowledged to the caller. */
  readonly onAck?: (write: AckedWrite) => void;
  readonly onFault?: (method: StoreMethod, fault: StoreFault) => void;
}

/** A store whose chosen calls fail. */
export interface FaultyStore extends Store {
  /** Calls so far, by method. */
  readonly calls: Readonly<Record<StoreMethod, number>>;
}

/**
 * Wraps a store so that chosen calls fail, hang, are delayed or lose their acknowledgement. The same plan and the same
 * calls always give the same faults.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "holdfast/stores/memory";
 * import { createFaultyStore } from "holdfast/testing";
 *
 * export const store = createFaultyStore(createMemoryStore(), {
 *   faults: [{ method: "append", call: 3, fault: { kind: "fail-after" } }],
 * });
 * ```
 */
export function createFaultyStore(store: Store, plan: FaultPlan): FaultyStore {
  checkStore("store", store);
  checkKeys(plan, ["faults", "down", "choose", "clock", "onAck", "onFault"], "plan");
  const calls = { append: 0, renew: 0, read: 0, entries: 0, blobs: 0, list: 0, due: 0, transaction: 0 };
  const around = injector(plan, calls);
  const acknowledge = (appends: readonly Append[], results: readonly AppendResult[]): void => {
    appends.forEach(({ run, entries }, index) => {
      if (!results[index]?.ok) return;
      for (const { seq, head } of entries) plan.onAck?.({ runId: run.id, seq, head });
    });
  };
  const transaction: Store["transaction"] = async (work, append) => {
    let built: Append | undefined;
    const keep = (value: Parameters<typeof append>[0]): Append => {
      built = append(value);
      return built;
    };
    const done = await around("transaction", async () => inner(work, keep));
    if (built) acknowledge([built], [done.result]);
    return done;
  };
  const inner: NonNullable<Store["transaction"]> = (work, append) => {
    if (!store.transaction) throw new HoldfastError("HF-1017", { store: store.name, feature: "transaction" });
    return store.transaction(work, append);
  };
  return {
    name: store.name,
    capabilities: store.capabilities,
    ...sealOf(store),
    calls,
    identity: () => store.identity(),
    now: () => store.now(),
    async append(batch) {
      const results = await around("append", () => store.append(batch));
      acknowledge(batch, results);
      return results;
    },
    renew: (batch) => around("renew", () => store.renew(batch)),
    read: (runId) => around("read", () => store.read(runId)),
    entries: (runId, range) => around("entries", () => store.entries(runId, range)),
    blobs: (runId, hashes) => around("blobs", () => store.blobs(runId, hashes)),
    list: (query) => around("list", () => store.list(query)),
    due: (query) => around("due", () => store.due(query)),
    ...(store.transaction ? { transaction } : {}),
    ...(store.markRestored ? { markRestored: store.markRestored.bind(store) } : {}),
    close: () => store.close(),
  };
}

type Around = <T>(method: StoreMethod, call: () => Promise<T>) => Promise<T>;

function injector(plan: FaultPlan, calls: Record<StoreMethod, number>): Around {
  let total = 0;
  const planned = (method: StoreMethod, call: number): StoreFault | undefined => {
    if (plan.down?.some(({ from, to }) => total >= from && total < to)) return { kind: "fail" };
    const found = plan.faults?.find((one) => one.method === method && one.call === call);
    return found?.fault ?? plan.choose?.(method, call);
  };
  const pause = (ms: number): Promise<void> => {
    const { clock } = plan;
    if (!clock) throw badOption("clock", "a delay needs one");
    return new Promise((resolve) => void clock.setTimer(resolve, ms));
  };
  const late = new Map<StoreMethod, () => Promise<unknown>>();
  return async (method, call) => {
    total++;
    await late
      .get(method)?.()
      .catch(() => undefined);
    late.delete(method);
    const fault = planned(method, ++calls[method]);
    if (!fault) return call();
    plan.onFault?.(method, fault);
    if (fault.kind === "stall") return new Promise(() => undefined);
    if (fault.kind === "fail-late") late.set(method, call);
    if (fault.kind === "fail" || fault.kind === "fail-late") throw unavailable(method);
    if (fault.kind === "delay") await pause(fault.ms);
    const answer = await call();
    if (fault.kind === "fail-after") throw unavailable(method);
    if (fault.kind === "delay-after") await pause(fault.ms);
    return answer;
  };
}

const unavailable = (method: StoreMethod): HoldfastError =>
  new HoldfastError("HF-3002", { message: `planned failure of ${method}`, ms: 0 });
