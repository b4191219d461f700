import { isRecord } from "../../check-options.ts";
import { baseName, firstSegment } from "../../keys.ts";
import type { Checkpoint } from "./checkpoint-view.ts";
import { checkCheckpoint } from "./checkpoint-view.ts";

/** A checkpoint of a multi-agent workflow, under the names of Conductor's `CheckpointData`. Times are ISO 8601. */
export interface FlowCheckpoint {
  readonly checkpoint_id: string;
  readonly workflow_name: string;
  readonly workflow_inputs: unknown;
  /** The agent or group that the run is at, or was at last. */
  readonly current_agent: string;
  /** The agent that was begun and hasn't ended well; `null` when there is none. */
  readonly in_progress: string | null;
  readonly completed_agents: readonly string[];
  readonly agent_outputs: Readonly<Record<string, unknown>>;
  readonly context_snapshot: {
    readonly memory: Readonly<Record<string, unknown>>;
    readonly history: readonly string[];
  };
  /** Finished agents, counting each time. */
  readonly iteration: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * Converts a checkpoint to the shape of Conductor's `CheckpointData`: agents instead of steps.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { checkpointToFlow } from "holdfast/manage";
 *
 * export async function whereIs(engine: Engine, runId: string): Promise<string | null> {
 *   return checkpointToFlow(await engine.checkpoints.show(runId)).in_progress;
 * }
 * ```
 */
export function checkpointToFlow(checkpoint: Checkpoint): FlowCheckpoint {
  checkCheckpoint(checkpoint);
  const { id, workflow, input, memory, createdAt, at, phase, pending } = checkpoint;
  const open = [...checkpoint.current.map(({ step }) => step), ...checkpoint.failed].map(unitOf);
  const history = completedUnits(checkpoint, new Set(open));
  const completed = [...new Set(history)];
  const [inProgress = null] = open;
  const { [DEFINITION]: _, ...kept } = memory;
  return {
    checkpoint_id: id,
    workflow_name: workflow,
    workflow_inputs: input,
    current_agent: inProgress ?? pending[0] ?? completed.at(-1) ?? phase,
    in_progress: checkpoint.status === "completed" ? null : inProgress,
    completed_agents: completed,
    agent_outputs: outputsOf(checkpoint, completed),
    context_snapshot: { memory: kept, history },
    iteration: history.length,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(at).toISOString(),
  };
}

/** A YAML run keeps its own file there. */
const DEFINITION = "workflow:definition";

/** The agent, group or loop that a step belongs to, with its visit: `plan#2`. */
const visitOf = (step: string): string => firstSegment(step).replace(/\[[^\]]*\]$/, "");
const unitOf = (step: string): string => baseName(firstSegment(step));

/** Agents that have ended, in order, once for each visit. */
function completedUnits({ history }: Checkpoint, open: ReadonlySet<string>): string[] {
  const visits = new Map<string, string>();
  for (const { step, status } of history) {
    const unit = unitOf(step);
    if (status === "completed" && !open.has(unit)) visits.set(visitOf(step), unit);
  }
  return [...visits.values()];
}

function outputsOf({ steps, loops }: Checkpoint, units: readonly string[]): Record<string, unknown> {
  const outputs: Record<string, unknown> = {};
  for (const unit of units) {
    const members = Object.entries(steps).filter(([step]) => unitOf(step) === unit);
    const own =
      members.find(([step]) => step === unit) ?? members.findLast(([step]) => visitOf(step) === step);
    const loop = loops[unit];
    if (own) outputs[unit] = own[1];
    else if (loop !== undefined) outputs[unit] = answerOf(loop);
    else if (members.length > 0) outputs[unit] = Object.fromEntries(members);
  }
  return outputs;
}

/** An agent's loop ends with its answer. */
const answerOf = (loop: unknown): unknown =>
  isRecord(loop) && isRecord(loop["answer"]) && "output" in loop["answer"] ? loop["answer"]["output"] : loop;
