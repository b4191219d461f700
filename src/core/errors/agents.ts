import { entries, SAVED } from "./entry.ts";

/** 22xx: calls with an effect, and the agents that make them. */
export const agentErrors = entries({
  "HF-2200": {
    what: "{step} threw, and whether it was done is unknown: {message}",
    why: "A call with an effect may have acted before it threw, and this error does not prove the contrary.",
    safe: "It is not called again by itself, and what comes after it does not go on.",
    fix: "Check the outside world, then resolve the step: done, failed, run again or cancel. Give it a verify hook to have this found out; let errors after which nothing was done say so with notDone: true.",
  },
  "HF-2201": {
    what: "The budget limits the cost of this run, and nothing says what model {model} costs.",
    why: "Neither its provider nor the prices of agent {agent} say so, so that the limit of {limit} US dollars could not be kept.",
    safe: "What the model has answered is saved, and it is not asked again before this is settled.",
    fix: "Give prices for {model} and resume the run, or start it with a limit of tokens instead.",
  },
  "HF-2203": {
    what: "{step} was told to wait longer than it may: {message}",
    why: "{times}",
    safe: SAVED,
    fix: "Resume the run: it waits as long as the receiver asks, then tries again. `resume --now` ({ now: true }) tries at once. Raise retry.maxWaitMs to have it wait by itself.",
  },
});
