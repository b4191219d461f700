import { AsyncLocalStorage } from "node:async_hooks";
import { checkKeys, checkObject } from "../../core/check-options.ts";
import type { Context } from "../../core/context.ts";
import { checkNamed } from "../../core/names.ts";
import type { Effect } from "../../core/types.ts";
import type { DurableToolOptions } from "../durable-tool-options.ts";
import type { ModelCallSettings } from "../model-call-settings.ts";
import { Talk } from "../talk.ts";
import { durableModel } from "./durable-model.ts";
import { durableTools } from "./durable-tools.ts";
import type { LanguageModel } from "./language-model.ts";
import { checkModel } from "./provider.ts";
import { askedByRun, type ToolApproval } from "./tool-approval.ts";

/** The options of the AI SDK's `generateText`, `streamText` or agent class that {@link durable} changes. */
export interface AiSdkOptions {
  readonly model: LanguageModel;
  readonly tools?: Readonly<Record<string, object>>;
  /** Of AI SDK 7: the approval of a person becomes a gate of the run. */
  readonly toolApproval?: ToolApproval;
  /** A model that it chooses is made durable too. */
  prepareStep?(options: PreparedStep): unknown;
}

/** The argument of `prepareStep`, as far as versions 6 and 7 of the AI SDK agree on it. */
export interface PreparedStep {
  readonly stepNumber: number;
  readonly steps: readonly object[];
  readonly messages: readonly object[];
}

/** How {@link durable} names and records what an AI SDK agent does. */
export interface DurableOptions<Tool extends string = string> extends ModelCallSettings {
  /** The prefix of its steps. Agents that work side by side in one run need names of their own. Default `ai`. */
  readonly name?: string;
  /** Each tool's effect: how an unknown outcome is handled. Default `once`: a person is asked. */
  readonly tools?: Readonly<Partial<Record<Tool, Effect | DurableToolOptions>>>;
}

type ToolNames<O> = O extends { readonly tools: infer T } ? Extract<keyof T, string> : string;

/**
 * Makes an AI SDK agent durable. It takes the options of `generateText`, `streamText` or an agent class and returns
 * them with a model and tools whose calls are steps of the run: an answer that was saved isn't paid for again, and a
 * tool that has acted doesn't act again. The SDK's own loop, stop conditions, structured output and callbacks stay as
 * they are. Retries are the run's, so that they survive a crash (`maxRetries` is 0).
 *
 * @example
 * ```ts
 * import { generateText, stepCountIs, tool, type LanguageModel } from "ai";
 * import { workflow } from "holdfast";
 * import { durable } from "holdfast/adapters/ai-sdk";
 * import { z } from "zod";
 *
 * declare const model: Exclude<LanguageModel, string>;
 *
 * const weather = tool({
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => `It rains in ${city}.`,
 * });
 *
 * export const ask = workflow("ask", async (ctx, prompt: string) => {
 *   const agent = durable(ctx, { model, tools: { weather } }, { tools: { weather: "repeatable" } });
 *   const { text } = await generateText({ ...agent, prompt, stopWhen: stepCountIs(10) });
 *   return text;
 * });
 * ```
 */
export function durable<O extends AiSdkOptions>(
  ctx: Context,
  options: O,
  how: DurableOptions<ToolNames<O>> = {},
): Omit<O, "maxRetries"> & { readonly maxRetries: 0 } {
  checkObject("options", options, "the options of generateText, streamText or an agent");
  checkKeys(how, ["name", "tools", "retry", "timeoutMs", "prices"]);
  const { name = "ai", tools: effects = {}, ...calls } = how;
  checkNamed("agent", name, MOST_IN_NAME);
  const talk = new Talk(ctx, name, AsyncLocalStorage.snapshot());
  const wrap = (model: LanguageModel): LanguageModel => {
    checkModel(name, model);
    return durableModel(talk, model, calls);
  };
  const { model, tools, toolApproval } = options;
  return {
    ...options,
    model: wrap(model),
    ...(tools ? { tools: durableTools(talk, tools, effects) } : {}),
    ...(toolApproval ? { toolApproval: askedByRun(talk, toolApproval) } : {}),
    ...(options.prepareStep ? { prepareStep: prepared((step) => options.prepareStep?.(step), wrap) } : {}),
    maxRetries: 0,
  };
}

/** Leaves room for the turn and the tool in the name of a step. */
const MOST_IN_NAME = 40;

const prepared =
  (prepareStep: (options: PreparedStep) => unknown, wrap: (model: LanguageModel) => LanguageModel) =>
  async (options: PreparedStep): Promise<unknown> => {
    const step = await prepareStep(options);
    if (typeof step !== "object" || step === null || !("model" in step) || step.model === undefined)
      return step;
    return { ...step, model: wrap(step.model as LanguageModel) };
  };
