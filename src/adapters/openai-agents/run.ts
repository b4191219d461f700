import { AsyncLocalStorage } from "node:async_hooks";
import type { Model, ModelProvider, Runner, RunResult, RunState, RunToolApprovalItem } from "@openai/agents";
import { checkKeys } from "../../core/check-options.ts";
import type { Context } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import { checkNamed } from "../../core/names.ts";
import type { Effect } from "../../core/types.ts";
import type { DurableToolOptions } from "../durable-tool-options.ts";
import type { ModelCallSettings } from "../model-call-settings.ts";
import { Talk } from "../talk.ts";
import { DurableModel } from "./durable-model.ts";
import { durableSession } from "./durable-session.ts";
import { type SdkTool, ToolDesk } from "./durable-tools.ts";
import { agentsSdk, type Sdk } from "./package.ts";

/** Any agent of the SDK. */
export type AnyAgent = Parameters<Runner["run"]>[0];
type AnyState = RunState<undefined, AnyAgent>;

/** The SDK's options of a run; streams are left out, because a run's result is awaited. */
export type RunOptions = Omit<NonNullable<Parameters<Runner["run"]>[2]>, "stream">;

/** How {@link run} names and records what agents do. */
export interface DurableRunOptions extends ModelCallSettings {
  /** The prefix of its steps. Agents that work side by side in one run need names of their own. Default `agent`. */
  readonly name?: string;
  /** Each tool's effect: how an unknown outcome is handled. Default `once`: a person is asked. */
  readonly tools?: Readonly<Record<string, Effect | DurableToolOptions>>;
  /** The SDK's settings of a runner, such as `modelProvider`, `tracingDisabled` and guardrails. */
  readonly runner?: ConstructorParameters<typeof Runner>[0];
}

/** Leaves room for the turn and the tool in the name of a step. */
const MOST_IN_NAME = 40;

/**
 * Runs an agent of the OpenAI Agents SDK durably: like the SDK's own `run`, with the workflow's context before it. Each
 * model call and each tool call is a step, of the agents that it hands over to as well. Interruptions become gates: the
 * run waits for a person, for days if need be, and continues from the SDK's run state. A session's reads and writes are
 * steps too.
 *
 * @example
 * ```ts
 * import { Agent } from "@openai/agents";
 * import { workflow } from "holdfast";
 * import { run } from "holdfast/adapters/openai-agents";
 *
 * const agent = new Agent({ name: "Poet", instructions: "Answer in verse." });
 * export const ask = workflow("ask", async (ctx, question: string) => {
 *   const result = await run(ctx, agent, question, { maxTurns: 20 });
 *   return result.finalOutput;
 * });
 * ```
 */
export async function run<A extends AnyAgent>(
  ctx: Context,
  agent: A,
  input: Parameters<Runner["run"]>[1],
  options: RunOptions = {},
  how: DurableRunOptions = {},
): Promise<RunResult<undefined, A>> {
  checkKeys(how, ["name", "tools", "runner", "retry", "timeoutMs", "prices"]);
  const { name = "agent", tools = {}, runner = {}, ...calls } = how;
  checkNamed("agent", name, MOST_IN_NAME);
  const talk = new Talk(ctx, name, AsyncLocalStorage.snapshot());
  const sdk = await agentsSdk();
  const cast = new Cast(sdk, talk, { tools, calls, provider: runner.modelProvider });
  const own = cast.of(agent);
  cast.checkNames();
  const { session } = options;
  const given = { ...options, ...(session ? { session: durableSession(talk, session) } : {}) };
  const sdkRunner = new sdk.agents.Runner(runner);
  const play = async (from: typeof input): Promise<RunResult<undefined, A>> => {
    try {
      return (await sdkRunner.run(own, from as string, given as object)) as RunResult<undefined, A>;
    } catch (error) {
      // The SDK wraps what a tool throws; the run must see its own error.
      throw talk.ended ? talk.ended.error : error;
    }
  };
  let result = await play(input);
  while (result.interruptions.length > 0) {
    for (const item of result.interruptions) await decide(talk, result.state as unknown as AnyState, item);
    result = await play(result.state as never);
  }
  return result;
}

/** Asks a person about an interruption, and tells the SDK's run state. */
async function decide(talk: Talk, state: AnyState, item: RunToolApprovalItem): Promise<void> {
  const raw = item.rawItem as {
    readonly name?: string;
    readonly callId?: string;
    readonly arguments?: string;
  };
  const tool = raw.name ?? "tool";
  const { turn, nth } = talk.placeOf(raw.callId ?? "");
  const show = {
    question: `Agent ${item.agent.name} asks for ${tool}.`,
    tool,
    input: raw.arguments ?? null,
  };
  const gate = `${talk.name}.${turn}.allow:${tool}${nth > 1 ? `.${nth}` : ""}`;
  const answer = await talk.inScope(() =>
    talk.ctx.gate(gate, { show, choices: ["approve", "deny"], text: true }),
  );
  if (answer.choice === "approve") return state.approve(item);
  const words = answer.text ? ` ${answer.text}` : "";
  state.reject(item, { message: `It was not called: ${answer.actor} said no.${words}` });
}

interface CastOptions {
  readonly tools: Readonly<Record<string, Effect | DurableToolOptions>>;
  readonly calls: ModelCallSettings;
  readonly provider: ModelProvider | undefined;
}

/** The agents of a run, each with a durable model and durable tools. */
class Cast {
  readonly #sdk: Sdk;
  readonly #talk: Talk;
  readonly #options: CastOptions;
  readonly #desk: ToolDesk;
  readonly #agents = new Map<AnyAgent, AnyAgent>();
  readonly #tools = new Set<string>();

  constructor(sdk: Sdk, talk: Talk, options: CastOptions) {
    this.#sdk = sdk;
    this.#talk = talk;
    this.#options = options;
    this.#desk = new ToolDesk(talk, sdk.failureText);
  }

  of<A extends AnyAgent>(agent: A): A {
    const known = this.#agents.get(agent);
    if (known) return known as A;
    if (!(agent instanceof this.#sdk.agents.Agent))
      throw new HoldfastError("HF-4610", {
        what: "This agent",
        problem: "it isn't an Agent of @openai/agents",
      });
    const copy = agent.clone({ model: this.#model(agent), tools: this.#wrapped(agent.tools) }) as A;
    this.#agents.set(agent, copy);
    // Known before its handoffs: agents may hand over in a circle.
    copy.handoffs = agent.handoffs.map((handoff) => this.#handoff(handoff as never));
    return copy;
  }

  /** Refuses settings of tools that no agent has. */
  checkNames(): void {
    const unknown = Object.keys(this.#options.tools).find((name) => !this.#tools.has(name));
    if (unknown !== undefined)
      throw new HoldfastError("HF-4610", { what: `Tool ${unknown}`, problem: "no agent of this run has it" });
  }

  #wrapped(tools: AnyAgent["tools"]): AnyAgent["tools"] {
    return tools.map((tool) => {
      if (tool.type !== "function") return tool;
      this.#tools.add(tool.name);
      return this.#desk.wrap(tool as unknown as SdkTool, this.#options.tools[tool.name]) as never;
    });
  }

  #handoff(given: AnyAgent["handoffs"][number]): AnyAgent["handoffs"][number] {
    if (given instanceof this.#sdk.agents.Agent) return this.of(given as AnyAgent);
    const { onInvokeHandoff } = given;
    const copy = Object.assign(Object.create(Object.getPrototypeOf(given) as object) as typeof given, given);
    copy.agent = this.of(given.agent as AnyAgent) as never;
    copy.onInvokeHandoff = async (context, args) =>
      this.of((await onInvokeHandoff.call(given, context, args)) as AnyAgent) as never;
    return copy;
  }

  #model(agent: AnyAgent): Model {
    const { model } = agent;
    const { Usage, Runner: SdkRunner } = this.#sdk.agents;
    if (typeof model !== "string")
      return new DurableModel(
        this.#talk,
        { name: nameOf(model), get: () => Promise.resolve(model) },
        this.#options.calls,
        Usage,
      );
    const provider = this.#options.provider ?? new SdkRunner().config.modelProvider;
    const get = async () => provider.getModel(model === "" ? undefined : model);
    return new DurableModel(this.#talk, { name: model || "default", get }, this.#options.calls, Usage);
  }
}

const nameOf = (model: Model): string => {
  const { model: name } = model as { model?: unknown };
  return typeof name === "string" && name !== "" ? name : model.constructor.name;
};
