import { type Caller, type Made, makeCall } from "../../agent/call-tools.ts";
import type { ToolCall } from "../../agent/model.ts";
import { CALL, lastOf, type ReadyTool, type ToolRun } from "../../agent/tool.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Effect } from "../../core/types.ts";
import { wellFormed } from "../../core/values/well-formed.ts";
import { type DurableToolOptions, toolSettings } from "../durable-tool-options.ts";
import type { Talk } from "../talk.ts";

/** A tool of the AI SDK, as far as it is used here. */
interface SdkTool {
  readonly inputSchema?: unknown;
  readonly execute?: (input: unknown, options: ExecuteOptions) => unknown;
  readonly needsApproval?: boolean | ((input: unknown, options: object) => boolean | PromiseLike<boolean>);
  readonly toModelOutput?: (given: { readonly output: unknown }) => unknown;
}

interface ExecuteOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal;
  readonly [CALL]?: ToolRun;
}

/**
 * The durable call that a tool's `execute` is running in: pass its `key` to the receiver as the idempotency key. Takes
 * the second argument of `execute`; returns `undefined` where the tool isn't durable.
 *
 * @example
 * ```ts
 * import { tool } from "ai";
 * import { callOf } from "holdfast/adapters/ai-sdk";
 * import { z } from "zod";
 *
 * export const refund = tool({
 *   inputSchema: z.object({ order: z.string() }),
 *   execute: async ({ order }, options) => {
 *     const headers = { "idempotency-key": callOf(options)?.key ?? options.toolCallId };
 *     return (await fetch(`https://pay.example.org/refunds/${order}`, { method: "POST", headers })).text();
 *   },
 * });
 * ```
 */
export const callOf = (options: object): ToolRun | undefined =>
  CALL in options ? (options[CALL] as ToolRun) : undefined;

type Effects = Readonly<Record<string, Effect | DurableToolOptions | undefined>>;

/** The tools with every call a step. Tools that the provider runs, or that have no `execute`, stay as they are. */
export function durableTools(
  talk: Talk,
  tools: Readonly<Record<string, object>>,
  effects: Effects,
): Readonly<Record<string, object>> {
  for (const name of Object.keys(effects)) if (!(name in tools)) throw wrong(name, "there is no such tool");
  const desk = new Desk(talk);
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const known = checkedTool(name, tool);
    return [name, known.execute ? desk.wrap(name, known, toolSettings(name, effects[name])) : known];
  });
  return Object.fromEntries(wrapped) as Readonly<Record<string, object>>;
}

const wrong = (tool: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4102", { tool, problem });

function checkedTool(name: string, tool: unknown): SdkTool {
  if (typeof tool !== "object" || tool === null) throw wrong(name, "it is not a tool of the AI SDK");
  const { execute } = tool as SdkTool;
  if (execute !== undefined && typeof execute !== "function")
    throw wrong(name, "its execute is not a function");
  return tool;
}

/** The result of an `execute` whose error no model can handle: the SDK would tell the model about a thrown one. */
class Ended {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** Makes the calls of a conversation's tools. */
class Desk {
  readonly #talk: Talk;
  /** Calls with an effect are made one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(talk: Talk) {
    this.#talk = talk;
  }

  wrap(name: string, tool: SdkTool, settings: DurableToolOptions): SdkTool {
    const { needsApproval: _, ...rest } = tool;
    return {
      ...rest,
      execute: (input, options) =>
        this.#queued(settings, () => this.#call(name, tool, settings, input, options)),
      toModelOutput: (given) => {
        if (given.output instanceof Ended) throw given.output.error;
        return tool.toModelOutput ? tool.toModelOutput(given) : plainOutput(given.output);
      },
    };
  }

  #queued(settings: DurableToolOptions, work: () => Promise<unknown>): Promise<unknown> {
    const made = this.#last.then(work);
    if (settings.effect !== "repeatable") this.#last = made.catch(() => undefined);
    return made;
  }

  async #call(
    name: string,
    tool: SdkTool,
    settings: DurableToolOptions,
    input: unknown,
    options: ExecuteOptions,
  ): Promise<unknown> {
    const talk = this.#talk;
    const { turn, nth } = talk.placeOf(options.toolCallId);
    const own = {
      ...agentTool(name, tool, settings, options),
      needsApproval: approvalRule(talk, tool, options),
    };
    const caller: Caller = {
      ctx: talk.ctx,
      name: talk.name,
      tools: new Map([[name, own]]),
      turn: turn - 1,
      acted: talk.acted,
      nameStep: (step) => `${talk.name}.${turn}.${step}${nth > 1 ? `.${nth}` : ""}`,
    };
    const call: ToolCall = { id: options.toolCallId, tool: name, input };
    let made: Made;
    try {
      made = await talk.inScope(() => makeCall(caller, call));
    } catch (error) {
      talk.end(error);
      return new Ended(error);
    }
    if ("value" in made) return made.value;
    throw made.error instanceof Error ? made.error : new Error(made.text);
  }
}

function agentTool(
  name: string,
  { execute }: SdkTool,
  settings: DurableToolOptions,
  options: ExecuteOptions,
): ReadyTool {
  return {
    ...settings,
    name,
    // The SDK has checked the arguments against the tool's own schema.
    parameters: {},
    checksInput: true,
    run: async (input: unknown, call) => {
      const { abortSignal } = options;
      const signal = abortSignal ? AbortSignal.any([abortSignal, call.signal]) : call.signal;
      return lastOf(await execute?.(input, { ...options, abortSignal: signal, [CALL]: call }));
    },
  };
}

/** Says whether a person must approve the call: by the tool, or by the SDK's `toolApproval`. */
const approvalRule =
  (talk: Talk, { needsApproval }: SdkTool, options: ExecuteOptions) =>
  (input: unknown): boolean | PromiseLike<boolean> => {
    if (talk.toApprove.has(options.toolCallId)) return true;
    return typeof needsApproval === "function" ? needsApproval(input, options) : needsApproval === true;
  };

/** The SDK's own form of a result. No provider takes half of a character. */
const plainOutput = (output: unknown): unknown =>
  typeof output === "string"
    ? { type: "text", value: wellFormed(output) }
    : { type: "json", value: wellFormed(output ?? null) };
