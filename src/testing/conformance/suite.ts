import type { Store } from "../../core/store/contract.ts";

/** A clock the suite can move, when the store's own can be replaced by it. */
export interface MovableClock {
  now(): number;
  advance(ms: number): void;
}

/** What a case works with. */
export interface Bench {
  readonly store: Store;
  /** Only in behaviours that need it. */
  readonly clock: MovableClock;
  /** Opens the same data again, after the first handle was closed. Only in behaviours that need it. */
  readonly reopen: () => Promise<Store>;
}

/** One promise of the contract, and the cases that hold a store to it. */
export interface Behaviour {
  readonly name: string;
  readonly needs?: "clock" | "reopen";
  readonly cases: Readonly<Record<string, (bench: Bench) => Promise<void>>>;
}
