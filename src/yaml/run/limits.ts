import { HoldfastError } from "../../core/errors.ts";
import type { Unit } from "../graph.ts";
import type { FlowRun } from "./machine.ts";

/** When max_iterations is reached, a person decides: allow more, or end. The answer is saved like any other. */
export async function allowExecutions(
  { ctx, flow, state }: FlowRun,
  unit: Unit,
  limit: { most: number },
): Promise<void> {
  const wanted = unit.kind === "parallel" ? unit.group.agents.length : 1;
  const { max_iterations: step } = flow.spec.workflow.limits;
  while (state.executions + wanted > limit.most) {
    const prompt = `${flow.spec.workflow.name} has used its ${limit.most} executions, and ${unit.name} is next. Continue with how many more? (${step} if none is named)`;
    const answer = await ctx.gate("max_iterations", {
      show: { prompt, executed: state.executions, limit: limit.most, next: unit.name },
      choices: ["continue", "stop"],
      text: true,
    });
    if (answer.choice === "stop") throw new HoldfastError("HF-4012", { limit: limit.most, step: unit.name });
    const more = Number.parseInt(answer.text ?? "", 10);
    limit.most += more > 0 ? more : Math.max(step, wanted);
  }
}

/** In audit mode an exceeded budget is recorded once and the run continues. In enforce mode the engine stops it. */
export function tellBudget({ ctx, flow, ledger, depth }: FlowRun): void {
  const { budget_usd: most, budget_mode: mode } = flow.spec.workflow.limits;
  if (depth > 0 || typeof most !== "number" || mode !== "audit" || ledger.told || ledger.costUsd <= most)
    return;
  ledger.told = true;
  const spent = ledger.costUsd.toFixed(4);
  ctx.decide({
    type: "budget",
    description: `budget_usd ${most} is exceeded: ${spent} USD spent. Its mode is audit, so the run continues.`,
  });
}
