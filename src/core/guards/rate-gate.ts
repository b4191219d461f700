import type { LimitUse } from "../rate-limit.ts";

/**
 * Permission for one call. The call counts from a date shortly after it was granted, and must begin by then: what a
 * receiver sees stays within the limit, too.
 */
export interface Grant {
  /** True when the call may begin now. Asked right before it does. */
  isTimely(): boolean;
  /** Dates the call anew, because it didn't begin in time. Returns when to ask again if there is no room for it. */
  renew(): Promise<number | null>;
}

/** The rate limits of the store, as guards see them. */
export interface RateGate {
  /** Takes one call's worth for a step; returns when to ask again if there is no room. */
  take(use: LimitUse, who: string): Promise<number | Grant>;
  /** Grants nothing to anybody for so long, because the receiver asked for it. A limit that isn't defined is left. */
  heldBack(name: string, ms: number): Promise<void>;
}
