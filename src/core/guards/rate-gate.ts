import type { LimitUse } from "../rate-limit.ts";

/** The rate limits of the store, as guards see them. */
export interface RateGate {
  /** Takes one call's worth for a step; returns when to ask again if there is no room (`null`: it was taken). */
  take(use: LimitUse, who: string): Promise<number | null>;
  /** Grants nothing to anybody for so long, because the receiver asked for it. A limit that isn't defined is left. */
  heldBack(name: string, ms: number): Promise<void>;
}
