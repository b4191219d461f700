/** The port to language models: what an agent asks, and what it is answered. Adapters and the scripted provider implement it. */
export interface ModelProvider {
  readonly name: string;
  /** Calls the model once, without retries of its own. Throws a {@link ModelError} where the reason is known. */
  generate(request: ModelRequest): Promise<ModelReply>;
}

export interface ModelRequest {
  readonly model: string;
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  /** JSON Schema of the answer asked for. */
  readonly schema?: JsonSchema;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoning?: Reasoning;
  /** Who asks: lets a scripted provider choose its answer. */
  readonly agent: string;
  /** The how-many-eth time the agent is at work in this run, where that is known; the first is 1. */
  readonly visit?: number;
  /** The first is 0. */
  readonly turn: number;
  /** The first is 1. Counted across crashes: what was asked and not answered counts too. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export type Reasoning = "low" | "medium" | "high";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Plain data: messages are part of a run's state. Text that came from tools or people never becomes a system text. */
export type Message =
  | { readonly role: "user"; readonly text: string; readonly origin?: "human" | "validator" }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls?: readonly ToolCall[];
      /** {@link ModelReply.native} of this answer. */
      readonly native?: unknown;
    }
  | {
      readonly role: "tool";
      readonly call: string;
      readonly tool: string;
      readonly text: string;
      readonly isError?: boolean;
    };

export interface ToolSpec {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonSchema;
}

export interface ToolCall {
  readonly id: string;
  readonly tool: string;
  /** The arguments, parsed. What could not be parsed is the text itself: it fits no schema of an object. */
  readonly input: unknown;
  /** Why the arguments cannot be taken. The call is not made, and the model is told. */
  readonly problem?: string;
}

export interface ModelReply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd?: number };
  /** The model that answered, as the provider names it. */
  readonly model: string;
  readonly finish: "stop" | "length" | "tool-calls" | "content-filter" | "other";
  /**
   * What the same provider must be shown again of its own answer, such as signed reasoning. Plain data that only the provider
   * understands; it goes back as part of the assistant's message.
   */
  readonly native?: unknown;
}

export type ModelErrorKind =
  | "rate-limit"
  | "overloaded"
  | "auth"
  | "bad-request"
  | "context-length"
  | "network"
  | "timeout";

/** Kinds that may pass by themselves. */
const PASSING: ReadonlySet<ModelErrorKind> = new Set(["rate-limit", "overloaded", "network", "timeout"]);

export interface ModelErrorDetail {
  readonly kind: ModelErrorKind;
  readonly status?: number | undefined;
  /** How long the provider asks to wait. The next attempt comes no sooner. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Why a model was not able to answer. Rate limits, overload, network failures and time-outs are tried again, the rest is final.
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

  /** Recognises the class by name, so that one read back from a journal counts too. */
  static is(error: unknown, kind?: ModelErrorKind): error is ModelError {
    if (!(error instanceof Error) || error.name !== "ModelError" || !("kind" in error)) return false;
    return kind === undefined || error.kind === kind;
  }
}

/** What an HTTP status says about a model call that failed. */
export function kindOfStatus(status: number): ModelErrorKind {
  if (status === 429) return "rate-limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 408) return "timeout";
  if (status === 409 || status === 425 || status >= 500) return "overloaded";
  return status === 413 ? "context-length" : "bad-request";
}
