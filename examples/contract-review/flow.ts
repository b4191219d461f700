import { workflow } from "holdfast";
import { type AgentTool, runAgent } from "holdfast/agent";
import { CLAUSES } from "./contract.ts";
import { model } from "./model.ts";

const readClause: AgentTool = {
  name: "read_clause",
  description: "Reads one clause of the contract",
  parameters: {
    type: "object",
    properties: { number: { type: "integer", minimum: 1, maximum: CLAUSES.length } },
    required: ["number"],
  },
  effect: "repeatable",
  run: ({ number }: { number: number }) => CLAUSES[number - 1],
};

/** An agent reads the contract clause by clause and says what must change. */
export const review = workflow("contract-review", async (ctx) => {
  const { output } = await runAgent(ctx, "reviewer", {
    provider: model,
    model: "offline",
    prompt: `Review the contract of ${CLAUSES.length} clauses for the buyer.`,
    tools: [readClause],
    // A rate limit stops the run at once, so that a person can look at what there is.
    retry: false,
  });
  return output;
});
