import { runChildFromArgs } from "../../../lab/crash/run-child.ts";
import { createScenarios, type ScenarioInput, withSequence } from "../../../lab/crash/scenarios.ts";
import type { Context } from "../../../src/core/context.ts";
import type { Effect } from "../../../src/core/types.ts";
import { workflow } from "../../../src/core/workflow.ts";

/** A worker that records each outcome before the effect: after a crash in between the effect is lost for good. */
await runChildFromArgs({
  scenarios: (witness, onCall) => {
    const act = async (ctx: Context, name: string, effect: Effect): Promise<string> => {
      const handle = await ctx.beginStep<string>(name, { effect });
      if (handle.done) return handle.value;
      const value = await ctx.completeStep(handle, name);
      await ctx.checkpoint(name);
      await witness.call(handle, { effect, args: null });
      return value;
    };
    const sequence = workflow("sequence", async (ctx, _: ScenarioInput) => [
      await act(ctx, "load", "repeatable"),
      await act(ctx, "charge", "keyed"),
      await act(ctx, "mail", "once"),
    ]);
    return withSequence(createScenarios(witness, onCall), sequence);
  },
});
