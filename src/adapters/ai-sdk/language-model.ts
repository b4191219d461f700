/**
 * The part of an AI SDK language model that is used here: specification v3 (AI SDK 6) and v4 (AI SDK 7), which agree on
 * it.
 */
export interface LanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  /** Makes one call: retries, tools and the loop belong to the caller. */
  doGenerate(options: never): PromiseLike<unknown>;
}

export interface CallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly responseFormat?: { readonly type: "json"; readonly schema: unknown; readonly name: string };
  readonly tools?: readonly {
    readonly type: "function";
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: unknown;
  }[];
  readonly toolChoice?: { readonly type: "auto" };
  /** Since v4. Providers of v3 take it among their own options. */
  readonly reasoning?: string;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly abortSignal: AbortSignal;
}

export type PromptMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user" | "assistant" | "tool"; readonly content: readonly PromptPart[] };

export type PromptPart =
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly providerOptions?: unknown }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly providerOptions?: unknown;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: { readonly type: "text" | "error-text"; readonly value: string };
    };

/** A model's answer. */
export interface Generated {
  readonly content: readonly ContentPart[];
  readonly finishReason: { readonly unified?: string };
  readonly usage: {
    readonly inputTokens?: { readonly total?: number };
    readonly outputTokens?: { readonly total?: number };
  };
  readonly response?: { readonly modelId?: string };
}

export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  /** The arguments as JSON. */
  readonly input?: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: unknown;
}
