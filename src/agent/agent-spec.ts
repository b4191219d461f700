import type { Context, Workflow } from "../core/context.ts";
import type { RetryOption, RetryPolicy } from "../core/options.ts";
import type { ModelPrice } from "../core/prices.ts";
import type { StandardSchema } from "../core/standard-schema.ts";
import type { Effect } from "../core/types.ts";
import type { Answered, AnswerRules } from "./answer.ts";
import type { Acted } from "./call-tools.ts";
import type { Compactable, Compaction } from "./compaction.ts";
import type { AgentTools } from "./given-tools.ts";
import type { AgentMemory, Recall } from "./memory.ts";
import type { JsonSchema, Message, ModelProvider, ModelReply, Reasoning } from "./model.ts";
import type { ReadyTool } from "./tool.ts";

/** The definition of an agent: its model, its prompt, and its tools. */
export interface AgentSpec {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly system?: string;
  readonly prompt: string;
  /** The messages before the prompt. */
  readonly messages?: readonly Message[];
  /** A list, or by name: tools of the AI SDK (`tool()`) are taken as they are. */
  readonly tools?: AgentTools;
  /** What the calls of tools may do again, by the name of the tool; for tools that can't say it themselves. */
  readonly effects?: Readonly<Record<string, Effect>>;
  /** The schema of the answer: JSON Schema, or any Standard Schema such as zod's. Without one, it is text. */
  readonly output?: JsonSchema | StandardSchema;
  /** Makes a long conversation shorter, in a step of its own. */
  readonly compact?: Compaction;
  /** Agents that may take over, by name. */
  readonly handoffs?: Readonly<Record<string, Handoff>>;
  /** Records of a long-term memory: their ids are saved, their texts are loaded again after every restore. */
  readonly memory?: AgentMemory;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoning?: Reasoning;
  /** The maximum number of model calls. Default 50; exceeding it is an error (HF-2141). */
  readonly maxTurns?: number;
  /**
   * How often an answer that doesn't parse or match, is empty or was cut off is sent back with its problems. Default 2.
   */
  readonly reask?: number;
  /** Accepts a text that was cut off by the token limit as an answer; the result's `finish` is then `length`. */
  readonly acceptCut?: boolean;
  /** For model calls. Default: 6 attempts over up to 10 minutes, and never sooner than the provider asks for. */
  readonly retry?: RetryOption;
  /** For one model call. */
  readonly timeoutMs?: number;
  /**
   * The fate of a model call that a crash has interrupted. `rerun` (the default): it is made again. `ask`: its
   * outcome is in doubt, and a person decides whether it is made again or what it answered; a text will do.
   */
  readonly onInterrupt?: "rerun" | "ask";
  /** Counts how often the same agent has started; the first is 1. Lets a scripted provider choose its answer. */
  readonly visit?: number;
  /** Prices by model, for providers that don't report the cost of a call. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

/**
 * An agent that may take over. The model asks for it like for a tool (`transfer_to_<name>`), with a payload; the
 * conversation and the memory's ids go along.
 */
export interface Handoff {
  /** Tells the model when to hand over. */
  readonly description?: string;
  /** The schema of the payload. Default: an object with a `reason`. */
  readonly payload?: JsonSchema | StandardSchema;
  /** The agent that takes over in this run. The payload is part of its prompt. */
  readonly agent?: Omit<AgentSpec, "prompt" | "messages"> & { readonly prompt?: string };
  /** The workflow that takes over as a run of its own; its result is the answer. */
  readonly child?: Workflow<HandedOver, unknown>;
  /** Whether the conversation so far goes along. Default true. */
  readonly conversation?: boolean;
}

/** What an agent hands over: the state that its successor continues from. */
export interface HandedOver {
  readonly from: string;
  readonly to: string;
  readonly payload: unknown;
  /** The conversation so far; empty where it doesn't go along. */
  readonly messages: readonly Message[];
  /** The ids of the memory's records. */
  readonly memory: readonly string[];
}

/** A handoff as a model sees it. */
export interface ReadyHandoff {
  readonly to: string;
  readonly tool: ReadyTool;
  readonly handoff: Handoff;
}

/** What an agent has used: turns, tokens and cost. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Omitted when no price is known. */
  readonly costUsd?: number;
}

/** What an agent returns: its answer, how it ended, and what it used. */
export interface AgentResult<T = unknown> {
  /** The answer: the value that matches `output`, or the text. */
  readonly output: T;
  readonly text: string;
  readonly usage: AgentUsage;
  /** The model that gave the answer, as named by the provider. */
  readonly model: string;
  /** The number of answered model calls. */
  readonly turns: number;
  /** Why the model ended its answer: `stop` when it was complete, `length` when it was cut off (see `acceptCut`). */
  readonly finish: ModelReply["finish"];
  /** The agents that have worked on it, in order: more than one after a handoff. */
  readonly agents: readonly string[];
}

/** The loop's state: plain data; each turn saves its changes. */
export interface Talk extends Compactable {
  usage: AgentUsage;
  turns: number;
  reasks: number;
  answer: Answered | null;
  /** Tool calls that may have taken effect. */
  acted?: Acted[];
  /** The agent that takes over, and what it is handed. */
  handoff?: { to: string; payload: unknown };
  /** The ids of the memory's records. */
  memory?: string[];
  /** The position up to which it has received injected messages. */
  heard?: number;
}

/** A running agent: its spec with defaults applied. */
export interface Agent {
  readonly ctx: Context;
  readonly name: string;
  readonly spec: AgentSpec;
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly handoffs: ReadonlyMap<string, ReadyHandoff>;
  readonly recall: Recall | undefined;
  readonly retry: RetryPolicy;
  readonly maxTurns: number;
  readonly rules: AnswerRules;
}
