import type { FunctionTool, RunContext } from "@openai/agents";
import { type Caller, makeCall } from "../../agent/call-tools.ts";
import { problemsOf } from "../../agent/schema.ts";
import { CALL, type ReadyTool, type ToolRun } from "../../agent/tool.ts";
import type { Effect } from "../../core/types.ts";
import { type DurableToolOptions, toolSettings } from "../durable-tool-options.ts";
import type { Talk } from "../talk.ts";

/** A function tool of the SDK, as far as it is used here. */
export type SdkTool = Pick<FunctionTool, "name" | "description" | "parameters" | "invoke" | "type">;
type Details = Parameters<FunctionTool["invoke"]>[2];

/**
 * The durable call that a tool's `execute` is running in: pass its `key` to the receiver as the idempotency key. Takes
 * the third argument of `execute`; returns `undefined` where the tool isn't durable.
 *
 * @example
 * ```ts
 * import { tool } from "@openai/agents";
 * import { callOf } from "holdfast/adapters/openai-agents";
 * import { z } from "zod";
 *
 * export const refund = tool({
 *   name: "refund",
 *   description: "Gives money back",
 *   parameters: z.object({ order: z.string() }),
 *   errorFunction: null,
 *   execute: async ({ order }, _context, details) => {
 *     const headers = { "idempotency-key": callOf(details)?.key ?? "" };
 *     return (await fetch(`https://pay.example.org/refunds/${order}`, { method: "POST", headers })).text();
 *   },
 * });
 * ```
 */
export const callOf = (details: object | undefined): ToolRun | undefined =>
  details && CALL in details ? (details[CALL] as ToolRun) : undefined;

/** Makes the calls of an agent's tools in steps: those with an effect one after another. */
export class ToolDesk {
  readonly #talk: Talk;
  readonly #failureText: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(talk: Talk, failureText: string) {
    this.#talk = talk;
    this.#failureText = failureText;
  }

  wrap<T extends SdkTool>(tool: T, how: Effect | DurableToolOptions | undefined): T {
    const settings = toolSettings(tool.name, how);
    const invoke: FunctionTool["invoke"] = (context, input, details) => {
      const work = () => this.#call(tool, settings, context, input, details);
      const made = this.#last.then(work);
      if (settings.effect !== "repeatable") this.#last = made.catch(() => undefined);
      return made;
    };
    return { ...tool, invoke };
  }

  async #call(
    tool: SdkTool,
    settings: DurableToolOptions,
    context: RunContext,
    input: string,
    details: Details,
  ): Promise<string> {
    const talk = this.#talk;
    const id = details?.toolCall?.callId ?? "";
    const { turn, nth } = talk.placeOf(id);
    const caller: Caller = {
      ctx: talk.ctx,
      name: talk.name,
      tools: new Map([[tool.name, this.#agentTool(tool, settings, context, input, details)]]),
      turn: turn - 1,
      acted: talk.acted,
      nameStep: (step) => `${talk.name}.${turn}.${step}${nth > 1 ? `.${nth}` : ""}`,
    };
    try {
      const made = await talk.inScope(() => makeCall(caller, { id, tool: tool.name, input: parsed(input) }));
      return ("value" in made ? made.value : made.text) as string;
    } catch (error) {
      talk.end(error);
      throw error;
    }
  }

  #agentTool(
    tool: SdkTool,
    settings: DurableToolOptions,
    context: RunContext,
    input: string,
    details: Details,
  ): ReadyTool {
    return {
      ...settings,
      name: tool.name,
      // The SDK checks the arguments against the tool's own schema.
      parameters: {},
      checksInput: true,
      run: async (_: unknown, call) => {
        const signal = details?.signal ? AbortSignal.any([details.signal, call.signal]) : call.signal;
        const value: unknown = await tool.invoke(context, input, {
          ...details,
          signal,
          [CALL]: call,
        } as Details);
        if (value !== this.#failureText) return value;
        throw this.#failure(tool, input);
      },
    };
  }

  /** The error that the SDK has swallowed. Arguments that don't fit prove that nothing was done; nothing else is known. */
  #failure(tool: SdkTool, input: string): Error {
    const isRefused = !fits(tool, parsed(input));
    const error = new Error(`${tool.name}: ${this.#failureText}`);
    return isRefused ? Object.assign(error, { notDone: true, retryable: false }) : error;
  }
}

function fits({ parameters }: SdkTool, input: unknown): boolean {
  try {
    return problemsOf(parameters as never, input).length === 0;
  } catch {
    return typeof input === "object" && input !== null;
  }
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}
