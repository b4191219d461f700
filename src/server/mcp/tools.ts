import { z } from "zod";
import type { Declared } from "../contract/declare.ts";
import { operations } from "../contract/operations.ts";
import type { OperationId } from "../contract/paths.ts";
import { at, reason, runId } from "../contract/shapes.ts";

/** What an assistant may call: an operation of the API under a name that assistants expect. */
export interface McpTool {
  readonly name: string;
  readonly operation: Declared;
  /** `values` shows what is stored, and is recorded. `write` changes something. */
  readonly kind: "read" | "values" | "write";
  readonly description: string;
  readonly input: z.ZodObject;
  /** What it can't undo. */
  readonly isDestructive: boolean;
}

type Row = readonly [name: string, id: OperationId, hint?: string];

const READS: readonly Row[] = [
  ["list_runs", "listRuns"],
  ["count_runs", "countRuns"],
  ["needs_you", "needsYou"],
  ["get_run", "getRun"],
  ["get_outline", "getOutline"],
  ["get_step", "getStep"],
  ["list_events", "listEvents"],
  ["get_lineage", "getLineage"],
  ["list_checkpoints", "listCheckpoints"],
  ["plan_resume", "planResume", "Its `token` is what resume_run takes as `plan`."],
  ["diff", "diff"],
  ["get_cost", "getCost"],
  ["list_costs", "listCosts"],
  ["list_errors", "listErrors"],
  ["list_gates", "listGates"],
  ["get_gate", "getGate", "Its `digest` is what answer_gate takes."],
  ["explain_error", "explainError"],
  ["report_reliability", "reportReliability"],
  ["report_recoveries", "reportRecoveries"],
  ["report_effects", "reportEffects"],
  ["get_trail", "getTrail"],
  ["verify_run", "validateRun"],
  ["verify_store", "verifyStore"],
  ["get_health", "getHealth"],
];

const VALUES: readonly Row[] = [
  ["read_step", "readStep"],
  ["read_state", "previewState"],
  ["read_conversation", "readConversation"],
];

const WRITES: readonly Row[] = [
  ["pause_run", "pauseRun"],
  ["resume_run", "resumeRun", "Call plan_resume first, show the plan, and give its token as `plan`."],
  ["cancel_run", "cancelRun"],
  ["retry_step", "retryStep"],
  ["answer_gate", "answerGate", "Call get_gate first, and give its digest."],
  ["send_signal", "sendSignal"],
];

/** An assistant must have seen what it acts on: fields that are optional in the API and not here. */
const REQUIRED: Partial<Record<OperationId, readonly string[]>> = {
  resumeRun: ["plan"],
  answerGate: ["digest"],
};
const DESTRUCTIVE: readonly OperationId[] = ["cancelRun", "retryStep", "answerGate"];

const PARAMS: Readonly<Record<string, z.ZodType>> = {
  run: runId,
  at,
  code: z.string().min(1).max(20).meta({ description: "Such as HF-2101" }),
};

/** Every tool, made from the list of operations: names, shapes and permissions can't differ from the API's. */
export const MCP_TOOLS: readonly McpTool[] = [
  ...READS.map((row) => toolOf(row, "read")),
  ...VALUES.map((row) => toolOf(row, "values")),
  ...WRITES.map((row) => toolOf(row, "write")),
];

function toolOf([name, id, hint]: Row, kind: McpTool["kind"]): McpTool {
  const operation: Declared = operations[id];
  const description = hint === undefined ? operation.summary : `${operation.summary} ${hint}`;
  const isDestructive = DESTRUCTIVE.includes(id);
  return { name, operation, kind, description, input: inputOf(operation, kind), isDestructive };
}

/** What the path, the query and the body take, as one object. */
function inputOf({ id, path, query, body }: Declared, kind: McpTool["kind"]): z.ZodObject {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, PARAMS[name] ?? z.string()]);
  const shape: Record<string, z.ZodType> = {
    ...Object.fromEntries(params),
    ...query?.shape,
    ...(body instanceof z.ZodObject ? body.shape : {}),
    ...(kind === "read" ? {} : { reason }),
  };
  for (const name of REQUIRED[id] ?? []) {
    const field = shape[name];
    if (field instanceof z.ZodExactOptional) shape[name] = field.unwrap() as z.ZodType;
  }
  return z.strictObject(shape);
}
