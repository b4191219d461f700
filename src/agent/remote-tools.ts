import type { StepCall, UndoOptions } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import type { Remote, RemoteCall } from "../core/interpretation.ts";
import type { AgentTool, ToolRun } from "./tool.ts";

/** Tools whose functions are elsewhere: their description as data, and calls of them by name. */

/** The functions that a tool may have besides `run`. */
const HOOKS = ["verify", "simulate", "needsApproval", "compensate"] as const;
type Hook = (typeof HOOKS)[number];

const isHook = (key: string): key is Hook => HOOKS.some((hook) => hook === key);

/** A tool as data. */
export interface DescribedTool extends Omit<AgentTool, "run" | Hook> {
  readonly hooks: readonly Hook[];
  /** The time limit of its undo, if it has one of its own. */
  readonly undoMs?: number;
  readonly undoVerify?: boolean;
}

/** What is asked of a tool. */
export type ToolRequest = { readonly tool: string; readonly agent?: string } & (
  | { readonly ask: "run" | "needsApproval"; readonly input: unknown }
  | { readonly ask: "verify" | "simulate" }
  | { readonly ask: "undo" | "undoVerify"; readonly value: unknown }
);

export function describeTool(tool: AgentTool): DescribedTool {
  const isData = ([key]: readonly [string, unknown]): boolean => key !== "run" && !isHook(key);
  const data = Object.fromEntries(Object.entries(tool).filter(isData)) as Omit<AgentTool, "run" | Hook>;
  const undo = typeof tool.compensate === "object" ? tool.compensate : undefined;
  return {
    ...data,
    hooks: HOOKS.filter((hook) => tool[hook] !== undefined),
    ...defined({ undoMs: undo?.timeoutMs }),
    ...(undo?.verify ? { undoVerify: true } : {}),
  };
}

/** The tool again, with functions that ask for it. */
export function remoteTool(
  described: DescribedTool,
  ask: (request: ToolRequest) => Promise<unknown>,
): AgentTool {
  const { hooks, undoMs, undoVerify, ...data } = described;
  const tool = data.name;
  const has = (hook: Hook): boolean => hooks.includes(hook);
  const compensate: UndoOptions<unknown> = {
    undo: (value) => ask({ tool, ask: "undo", value }),
    ...defined({ timeoutMs: undoMs }),
    ...(undoVerify ? { verify: (value: unknown) => ask({ tool, ask: "undoVerify", value }) as never } : {}),
  };
  return {
    ...data,
    run: (input: never, { agent }: ToolRun) => ask({ tool, agent, ask: "run", input }),
    ...(has("needsApproval")
      ? { needsApproval: (input: never) => ask({ tool, ask: "needsApproval", input }) as Promise<boolean> }
      : {}),
    ...(has("verify") ? { verify: () => ask({ tool, ask: "verify" }) as never } : {}),
    ...(has("simulate") ? { simulate: () => ask({ tool, ask: "simulate" }) } : {}),
    ...(has("compensate") ? { compensate } : {}),
  };
}

/** Does what was asked of a tool. */
export function answerForTool(tool: AgentTool, request: ToolRequest, call: RemoteCall): unknown {
  const step: StepCall = call;
  switch (request.ask) {
    case "run":
      return tool.run(request.input as never, { ...step, agent: request.agent ?? "" });
    case "needsApproval":
      return tool.needsApproval?.(request.input as never) ?? false;
    case "verify":
      return tool.verify?.(step) ?? { status: "unknown" };
    case "simulate":
      return tool.simulate?.(step);
    case "undo": {
      const { compensate } = tool;
      return typeof compensate === "function"
        ? compensate(request.value, step)
        : compensate?.undo(request.value, step);
    }
    case "undoVerify":
      return typeof tool.compensate === "object"
        ? (tool.compensate.verify?.(request.value, step) ?? { status: "unknown" })
        : { status: "unknown" };
  }
}

/** Asks for tools by the name `tool`. */
export const askTool =
  (remote: Remote, where: Readonly<Record<string, unknown>> = {}) =>
  (request: ToolRequest): Promise<unknown> =>
    remote("tool", { ...where, ...request });
