import type { Context } from "../../core/context.ts";
import { type AgentJson, type CheckpointJson, stateText } from "../../core/phase-checkpoint.ts";
import { confidenceSnapshot, type TeamState } from "./state.ts";

interface Given {
  /** A UUID. */
  readonly id: string;
  readonly phase: number;
  readonly timestamp: string;
  readonly trigger: string;
  readonly where: CheckpointJson["state"];
}

/** The content of a checkpoint file: the whole state of a run after a phase, or in the middle of one. */
export function phaseRow(
  ctx: Pick<Context, "runId" | "metrics">,
  state: TeamState,
  threshold: number,
  { id, phase, timestamp, trigger, where }: Given,
): CheckpointJson & { readonly trigger: string } {
  const { elapsedMs, calls, tokens, memoryPeakMb } = ctx.metrics();
  const agents = Object.entries(state.agents).map(([name, agent]): [string, AgentJson] => [
    name,
    { ...agent, state: agent.state === null ? null : stateText(agent.state) },
  ]);
  return {
    version: "1.0",
    checkpoint_id: id,
    workflow_id: ctx.runId,
    timestamp,
    phase,
    status: "in_progress",
    trigger,
    resumable: true,
    agents: Object.fromEntries(agents),
    decisions: [...state.decisions].sort((a, b) =>
      a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0,
    ),
    outputs: state.outputs,
    metrics: {
      elapsed_time: elapsedMs / 1_000,
      api_calls: calls,
      tokens_used: tokens,
      memory_peak: Math.round(memoryPeakMb * 10) / 10,
    },
    confidence: confidenceSnapshot(state, threshold),
    state: where,
  };
}
