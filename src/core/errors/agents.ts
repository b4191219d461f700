import type { ErrorEntry } from "./entry.ts";

/** 22xx: calls with an effect, and the agents that make them. */
export const agentErrors = {
  "HF-2200": {
    what: "{step} threw, and whether it was done is unknown: {message}",
    why: "A call with an effect may have acted before it threw, and this error does not prove the contrary.",
    safe: "It is not called again by itself, and what comes after it does not go on.",
    fix: "Check the outside world, then resolve the step: done, failed, run again or cancel. Give it a verify hook to have this found out; let errors after which nothing was done say so with notDone: true.",
  },
} as const satisfies Record<string, ErrorEntry>;
