import { runChildFromArgs } from "../../../lab/crash/run-child.ts";
import { createScenarios, type ScenarioInput, withSequence } from "../../../lab/crash/scenarios.ts";
import type { Context, StepCall } from "../../../src/core/context.ts";
import type { Effect } from "../../../src/core/types.ts";
import { workflow } from "../../../src/core/workflow.ts";

/** A worker that makes the call first and announces the step afterwards: after a crash in between it calls again. */
await runChildFromArgs({
  scenarios: (witness, onCall) => {
    const act = async (ctx: Context, name: string, effect: Effect): Promise<string> => {
      const call: StepCall = {
        runId: ctx.runId,
        step: name,
        attempt: 1,
        epoch: 1,
        key: name,
        signal: ctx.abortSignal,
      };
      const value = await witness.call(call, { effect, args: null });
      return ctx.step(name, () => value);
    };
    const sequence = workflow("sequence", async (ctx, _: ScenarioInput) => [
      await act(ctx, "load", "repeatable"),
      await act(ctx, "mail", "once"),
      await act(ctx, "book", "once"),
    ]);
    return withSequence(createScenarios(witness, onCall), sequence);
  },
});
