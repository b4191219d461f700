import { runChildFromArgs } from "../../../lab/crash/run-child.ts";
import { createScenarios, type ScenarioInput, withSequence } from "../../../lab/crash/scenarios.ts";
import type { Context } from "../../../src/core/context.ts";
import type { Effect } from "../../../src/core/types.ts";
import { workflow } from "../../../src/core/workflow.ts";

/** A worker that treats every step as repeatable: nothing keeps a fork from repeating what its source has done. */
await runChildFromArgs({
  scenarios: (witness, onCall) => {
    const act = (ctx: Context, name: string, effect: Effect): Promise<string> =>
      ctx.step(name, (call) => witness.call(call, { effect, args: null }));
    const sequence = workflow("sequence", async (ctx, _: ScenarioInput) => [
      await act(ctx, "load", "repeatable"),
      await act(ctx, "charge", "keyed"),
      await act(ctx, "mail", "once"),
    ]);
    return withSequence(createScenarios(witness, onCall), sequence);
  },
});
