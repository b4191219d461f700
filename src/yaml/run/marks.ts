import type { Unit } from "../graph.ts";
import type { FlowRun } from "./machine.ts";

/** Marks the checkpoint that a unit's file asks for at its end. */
export async function markPoint({ ctx }: FlowRun, unit: Unit): Promise<void> {
  const { checkpoint, name } = unit.kind === "agent" ? unit.agent : unit.group;
  if (!checkpoint) return;
  await ctx.checkpoint(checkpoint === true ? name : checkpoint);
}

/**
 * Shows the run in the table `checkpoints`, if its file asks for that: what is done, and which agent comes next. It is
 * written before that agent starts, so it is the intent of the one and the completion of the other.
 */
export async function markRow(run: FlowRun, next: string | null): Promise<void> {
  const { ctx, flow, state, depth } = run;
  const { name, checkpoint } = flow.spec.workflow;
  if (!checkpoint.table || depth > 0) return;
  const last = state.history.at(-1) ?? "";
  state.startedAt ??= new Date(ctx.now()).toISOString();
  await ctx.checkpoint(next === null ? "end" : `before ${next}`, {
    record: {
      table: "checkpoints",
      row: {
        id: ctx.runId,
        workflow_name: name,
        workflow_inputs: state.inputs,
        current_agent: next ?? last,
        in_progress: next,
        completed_agents: [...new Set(state.history)],
        agent_outputs: Object.fromEntries(state.outputs),
        context_snapshot: state.all(),
        iteration: state.executions,
        created_at: state.startedAt,
      },
    },
  });
}
