import type { Store } from "../../core/store/contract.ts";

/** A clock that the suite can move, for stores whose clock can be replaced. */
export interface MovableClock {
  now(): number;
  advance(ms: number): void;
}

/** The tools of a case. */
export interface Bench {
  readonly store: Store;
  /** Only for behaviours that need it. */
  readonly clock: MovableClock;
  /** Reopens the same data after the first handle was closed. Only for behaviours that need it. */
  readonly reopen: () => Promise<Store>;
}

/** One guarantee of the contract, and the cases that test it. */
export interface Behaviour {
  readonly name: string;
  readonly needs?: "clock" | "reopen";
  readonly cases: Readonly<Record<string, (bench: Bench) => Promise<void>>>;
}
