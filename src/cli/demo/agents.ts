import type { StepCall, Workflow } from "../../core/context.ts";
import { workflow } from "../../core/workflow.ts";
import type { WitnessClient } from "../../testing/witness/witness.ts";

/** Ten agents and their usage. The ninth meets a rate limit. */
export const agents = [
  { name: "planner", tokens: 3_120 },
  { name: "market-research", tokens: 9_480 },
  { name: "news", tokens: 6_120 },
  { name: "financials", tokens: 12_760 },
  { name: "peers", tokens: 8_050 },
  { name: "legal", tokens: 5_310 },
  { name: "risk", tokens: 7_940 },
  { name: "valuation", tokens: 11_200 },
  { name: "reviewer", tokens: 4_870 },
  { name: "publisher", tokens: 2_400 },
] as const;

/** An invented price, so that the sums mean something: dollars per token. */
export const PRICE = 0.000_008;
export const THINKING_MS = 250;

export const RUN_ID = "ten-agents";

/** The demo's workflow: each agent is one step, and the witness records its effect. */
export function tenAgents(
  witness: WitnessClient,
  think: () => Promise<void>,
): Workflow<{ question: string }, string> {
  return workflow("ten-agents", { version: "1.0" }, async (ctx, input: { question: string }) => {
    let report = input.question;
    for (const { name, tokens } of agents) {
      const work = async (call: StepCall): Promise<string> => {
        await think();
        const refuse = name === "reviewer" ? 1 : 0;
        await witness.call(call, { effect: "keyed", args: { agent: name }, refuse });
        ctx.usage({ tokens, costUsd: tokens * PRICE });
        return `${name} done`;
      };
      report = await ctx.step(name, work, {
        effect: "keyed",
        input: { agent: name },
        retry: { attempts: 5, maxWaitMs: 60_000 },
      });
    }
    return report;
  });
}
