import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Interpretation, Remote, RemoteCall } from "../core/interpretation.ts";
import type { AIL, AILDecision, HIL, HILQuestion, LayerView } from "./decide.ts";
import type { DAGTool, DAGTools, TaskCall } from "./tools.ts";
import type { DAGStructure, ExecutionConfig, StateUpdate } from "./types.ts";

/** What of a workflow of DAGs takes part in its interpretation. */
interface DAGParts {
  readonly tools: DAGTools;
  readonly dag?: DAGStructure;
  readonly config?: ExecutionConfig;
  readonly ail?: AIL;
  readonly hil?: HIL;
  readonly version?: string;
}

/** A workflow of DAGs as data. */
interface DAGData {
  readonly name: string;
  readonly version?: string;
  readonly dag?: DAGStructure;
  readonly config?: ExecutionConfig;
  readonly tools: Readonly<Record<string, DescribedTool>>;
  readonly hasAil: boolean;
  readonly hasHil: boolean;
}

type DescribedTool = Pick<DAGTool, "effect" | "retry" | "keyWindowMs"> & { readonly hasVerify: boolean };

type Update = Pick<StateUpdate, "messages" | "context">;

interface TaskRequest extends Pick<TaskCall, "taskId" | "results" | "context"> {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The result of a task, and what it adds to the state. */
interface TaskAnswer {
  readonly result: unknown;
  readonly updates: readonly Update[];
}

/** How a workflow of DAGs is interpreted elsewhere: tasks and decisions are called by name. */
export function dagInterpretation(name: string, parts: DAGParts): Interpretation {
  const { tools, dag, config, version, ail, hil } = parts;
  return {
    kind: "dag",
    describe: (): DAGData => ({
      name,
      tools: Object.fromEntries(Object.keys(tools).map((tool) => [tool, describe(toolOf(tools, tool))])),
      hasAil: ail !== undefined,
      hasHil: hil !== undefined,
      ...defined({ version, dag, config }),
    }),
    calls: {
      task: (request: TaskRequest, call) => runTask(toolOf(tools, request.tool), request, call),
      verify: ({ tool, taskId }: { tool: string; taskId: string }, { key }) =>
        toolOf(tools, tool).verify?.({ key, taskId }) ?? { status: "unknown" },
      ail: async (view: LayerView) => (await ail?.(view)) ?? null,
      hil: async (view: LayerView) => (await hil?.(view)) ?? null,
    },
  };
}

function toolOf(tools: DAGTools, name: string): DAGTool {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) throw new HoldfastError("HF-7103", { what: `tool ${name.slice(0, 128)}` });
  return typeof tool === "function" ? { run: tool } : tool;
}

const describe = ({ effect, retry, keyWindowMs, verify }: DAGTool): DescribedTool => ({
  hasVerify: verify !== undefined,
  ...defined({ effect, retry, keyWindowMs }),
});

async function runTask(tool: DAGTool, request: TaskRequest, call: RemoteCall): Promise<TaskAnswer> {
  const { taskId, results, context } = request;
  const { runId: workflowId, attempt, key, signal } = call;
  const updates: Update[] = [];
  const result = await tool.run(request.arguments, {
    workflowId,
    taskId,
    attempt,
    key,
    signal,
    results,
    context,
    update: (update) => void updates.push(update),
  });
  return { result, updates };
}

/** The parts of the workflow from its description. */
export function interpretedDag(
  described: unknown,
  remote: Remote,
): { readonly name: string; readonly parts: DAGParts } {
  const { name, tools, hasAil, hasHil, ...rest } = described as DAGData;
  const stubs = Object.entries(tools).map(([tool, one]) => [tool, remoteTool(tool, one, remote)]);
  const ail: AIL = async (view) => (await remote<AILDecision | null>("ail", view)) ?? undefined;
  const hil = async (view: LayerView) => (await remote<HILQuestion | null>("hil", view)) ?? undefined;
  const parts = { ...rest, tools: Object.fromEntries(stubs) };
  return { name, parts: { ...parts, ...(hasAil ? { ail } : {}), ...(hasHil ? { hil } : {}) } };
}

function remoteTool(tool: string, { hasVerify, ...data }: DescribedTool, remote: Remote): DAGTool {
  return {
    ...data,
    async run(args, { taskId, results, context, update }) {
      const request: TaskRequest = { tool, taskId, arguments: args, results, context };
      const answer = await remote<TaskAnswer>("task", request);
      for (const one of answer.updates) update(one);
      return answer.result;
    },
    ...(hasVerify ? { verify: ({ taskId }) => remote("verify", { tool, taskId }) } : {}),
  };
}
