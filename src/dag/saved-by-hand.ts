import type { Workflow } from "../core/context.ts";
import { BY_HAND } from "../core/outside-workflows.ts";
import { currentOf } from "../core/values/patch.ts";
import { workflow } from "../core/workflow.ts";
import { checkpointId, layerLabel } from "./checkpoint-id.ts";
import { type FullConfig, fullConfig } from "./config.ts";
import { wholeRow } from "./record.ts";
import { LAYERS } from "./run-dag.ts";
import { emptyState, type Held } from "./state.ts";
import type { DAGStructure, WorkflowState } from "./types.ts";

export const SAVE = "save";

/** A save that was asked for. */
export interface Save {
  readonly id: string;
  readonly state: WorkflowState;
  readonly dag: DAGStructure;
  readonly layerIndex: number;
  readonly config: FullConfig;
}

/** Waits for states, and marks each as a checkpoint. `saved` is called when one is durable. */
export const savedByHand = (
  saved: (runId: string, checkpointId: string, save: string) => void,
): Workflow<undefined, never> =>
  workflow(BY_HAND, async (ctx) => {
    let last = "";
    const held = await ctx.loop(LAYERS, nothingSaved(), async (draft, turn) => {
      if (turn.index > 0) {
        const current = currentOf(draft);
        const record = { table: "workflow_checkpoints", row: wholeRow(ctx.runId, current) } as const;
        await ctx.checkpoint(layerLabel(current.layers), { trigger: "user_requested", record });
        saved(ctx.runId, current.checkpoint_id ?? "", last);
      }
      const { payload } = await ctx.signal<Save>(SAVE);
      take(draft, payload);
      last = payload.id;
      draft.checkpoint_id = checkpointId(ctx.runId, draft.layers, ctx.uuid("checkpoint"));
    });
    return held as never;
  });

const nothingSaved = (): Held => ({
  ...emptyState(),
  dag: { tasks: [] },
  config: fullConfig(),
  status: "running",
  skipped: [],
  errors: [],
  discarded: [],
  warnings: [],
  layers: 0,
  heard: 0,
  replanned: null,
});

function take(draft: Held, { state, dag, layerIndex, config }: Save): void {
  const { messages, tasks, decisions, context } = state;
  Object.assign(draft, { messages, tasks, decisions, context, dag, config, layers: layerIndex });
}
