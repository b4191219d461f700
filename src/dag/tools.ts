import { badOption, isRecord } from "../core/check-options.ts";
import type { StepOptions, Verdict } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Effect } from "../core/types.ts";
import { isLessStrict } from "./check.ts";
import type { DAGTask, StateUpdate } from "./types.ts";

/** What a tool is told about the task that it runs. */
export interface TaskCall {
  readonly workflowId: string;
  readonly taskId: string;
  readonly attempt: number;
  /** The idempotency key: the same on every attempt, on every machine, after every crash. */
  readonly key: string;
  /** Aborted on timeout, on cancel, or when another worker has taken over the run. */
  readonly signal: AbortSignal;
  /** The results of the tasks that it depends on, by id. A skipped one has none. */
  readonly results: Readonly<Record<string, unknown>>;
  /** The workflow's context before this layer. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Adds messages and context to the state, together with the result. */
  readonly update: (update: Pick<StateUpdate, "messages" | "context">) => void;
}

/** What a tool's function gets besides its arguments. */
export type ToolRun = (args: Readonly<Record<string, unknown>>, call: TaskCall) => unknown;

/** What a task's `tool` names: a function, and how to treat it after a crash. */
export interface DAGTool {
  readonly run: ToolRun;
  /** What may happen when the outcome is unknown after a crash. Default `repeatable`. */
  readonly effect?: Effect;
  readonly retry?: StepOptions["retry"];
  readonly keyWindowMs?: number;
  /** Asks the outside world for the result of a task when it is unknown. */
  readonly verify?: (call: {
    readonly key: string;
    readonly taskId: string;
  }) => Verdict<unknown> | Promise<Verdict<unknown>>;
}

/** Tools by name. A function alone is a `repeatable` tool. */
export type DAGTools = Readonly<Record<string, DAGTool | ToolRun>>;

export class Toolbox {
  readonly #tools: ReadonlyMap<string, DAGTool>;

  constructor(tools: DAGTools) {
    if (!isRecord(tools)) throw badOption("tools", "it must be an object of tools by name");
    this.#tools = new Map(
      Object.entries(tools).map(([name, tool]) => {
        const full: DAGTool = typeof tool === "function" ? { run: tool } : tool;
        if (typeof full?.run !== "function")
          throw badOption(`tools.${name}`, "it must be a function, or have one called run");
        return [name, full];
      }),
    );
  }

  of({ id, tool }: DAGTask): DAGTool {
    const found = this.#tools.get(tool);
    if (found) return found;
    const tools = [...this.#tools.keys()].join(", ") || "none";
    throw new HoldfastError("HF-4555", { task: id, tool: tool.slice(0, 128), tools });
  }

  effectOf(task: DAGTask): Effect {
    return task.effect ?? this.of(task).effect ?? "repeatable";
  }

  /** Refuses a task that has no tool (HF-4555) or promises less than its tool (HF-4556). */
  check(task: DAGTask): void {
    const least = this.of(task).effect ?? "repeatable";
    const effect = this.effectOf(task);
    if (isLessStrict(effect, least))
      throw new HoldfastError("HF-4556", {
        task: task.id,
        effect,
        problem: `its tool ${task.tool} is ${least}`,
      });
    if (task.speculative && effect !== "repeatable")
      throw new HoldfastError("HF-4556", { task: task.id, effect, problem: "it is speculative" });
  }
}
