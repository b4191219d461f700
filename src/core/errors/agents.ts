import { entries, SAVED } from "./entry.ts";

/** 22xx: calls with an effect, and the agents that make them. */
export const agentErrors = entries({
  "HF-2200": {
    what: "{step} threw, and it is unknown whether it happened: {message}",
    why: "A call with an effect may have acted before it threw, and this error doesn't rule that out.",
    safe: "It won't be called again on its own, and the run doesn't continue past it.",
    fix: "Check whether it happened, then resolve the step: done, failed, run again or cancel. A verify hook can find this out for you. Errors after which nothing happened can say so with notDone: true.",
  },
  "HF-2201": {
    what: "This run has a budget in US dollars, but the price of model {model} is unknown.",
    why: "Neither its provider nor the prices of agent {agent} give one, so the limit of {limit} US dollars couldn't be enforced.",
    safe: "The model's answers so far are saved. It isn't called again until this is settled.",
    fix: "Add prices for {model} and resume the run, or start it with a limit in tokens instead.",
  },
  "HF-2203": {
    what: "{step} was asked to wait longer than it may: {message}",
    why: "{times}",
    safe: SAVED,
    fix: "Resume the run: it waits as long as the receiver asks, then tries again. `resume --now` ({ now: true }) tries at once. To have it wait on its own, raise retry.maxWaitMs.",
  },
});
