/** The interface to language models. Adapters and the scripted provider implement it. */
export interface ModelProvider {
  readonly name: string;
  /** Calls the model once, without retries. Throws a {@link ModelError} when the reason is known. */
  generate(request: ModelRequest): Promise<ModelReply>;
  /**
   * Where one object reaches several providers: which of them has this model, and how it is called there. Rate limits
   * go by these names. Missing: the provider is `name`.
   */
  resolve?(model: string): { readonly provider: string; readonly model: string };
}

/** A request to a model. */
export interface ModelRequest {
  readonly model: string;
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  /** The JSON Schema of the requested answer. */
  readonly schema?: JsonSchema;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoning?: Reasoning;
  /** The agent's name, so that a scripted provider can choose its answer. */
  readonly agent: string;
  /** Counts how often the agent has started in this run, if known; the first is 1. */
  readonly visit?: number;
  /** The first is 0. */
  readonly turn: number;
  /** The first is 1. Counted across crashes: an unanswered attempt counts too. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** How hard a model should think. */
export type Reasoning = "low" | "medium" | "high";

/** A JSON schema for the arguments of a tool or the answer of an agent. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Plain data, because messages are part of a run's state. Text from tools or people never becomes system text. */
export type Message =
  | { readonly role: "user"; readonly text: string; readonly origin?: "human" | "validator" | "engine" }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls?: readonly ToolCall[];
      /** The {@link ModelReply.native} of this answer. */
      readonly native?: unknown;
      /** The model that gave it, as `provider/model`: its native data is for no other. */
      readonly from?: string;
    }
  | {
      readonly role: "tool";
      readonly call: string;
      readonly tool: string;
      readonly text: string;
      readonly isError?: boolean;
    };

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonSchema;
}

/** A tool call that a model asks for. */
export interface ToolCall {
  readonly id: string;
  readonly tool: string;
  /** The parsed arguments. If they couldn't be parsed, this is their text, which matches no object schema. */
  readonly input: unknown;
  /** Why the arguments are refused. The call isn't made, and the model is told. */
  readonly problem?: string;
}

/** A model's reply: text, tool calls, why it ended, and what it used. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd?: number };
  /** The model that answered, as named by the provider. */
  readonly model: string;
  readonly finish: "stop" | "length" | "tool-calls" | "content-filter" | "other";
  /**
   * Provider-specific data that must be returned with the answer in later calls, such as signed reasoning. Plain data
   * that only the provider understands; it is stored in the assistant's message.
   */
  readonly native?: unknown;
}

/** Why a model call failed. It decides whether the call is made again. */
export type ModelErrorKind =
  | "rate-limit"
  | "overloaded"
  | "auth"
  | "bad-request"
  | "context-length"
  | "network"
  | "timeout";

/** Kinds of errors that may resolve themselves. */
const PASSING: ReadonlySet<ModelErrorKind> = new Set(["rate-limit", "overloaded", "network", "timeout"]);

/** What is known about a failed model call. */
export interface ModelErrorDetail {
  readonly kind: ModelErrorKind;
  readonly status?: number | undefined;
  /** How long the provider asks to wait. The next attempt comes no sooner. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The reason why a model call failed. Rate limits, overload, network failures and timeouts are retried; the rest is
 * final.
 *
 * @example
 * ```ts
 * import { ModelError } from "holdfast/agent";
 *
 * export const busy = new ModelError("Try later.", { kind: "rate-limit", status: 429, retryAfterMs: 20_000 });
 * ```
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, detail: ModelErrorDetail) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.kind = detail.kind;
    this.retryable = PASSING.has(detail.kind);
    this.status = detail.status;
    this.retryAfterMs = detail.retryAfterMs;
  }

  /** Recognises the class by name, so that an error read from a journal counts too. */
  static is(error: unknown, kind?: ModelErrorKind): error is ModelError {
    if (!(error instanceof Error) || error.name !== "ModelError" || !("kind" in error)) return false;
    return kind === undefined || error.kind === kind;
  }
}

/** The kind of error that an HTTP status means. */
export function kindOfStatus(status: number): ModelErrorKind {
  if (status === 429) return "rate-limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 408) return "timeout";
  if (status === 409 || status === 425 || status >= 500) return "overloaded";
  return status === 413 ? "context-length" : "bad-request";
}
