import { storable } from "../../agent/render.ts";
import { defined } from "../../core/defined.ts";
import type { ContentPart } from "./language-model.ts";

/**
 * A model's answer as the journal keeps it: the form of `doGenerate`, for streams too, so that a run may go on with
 * `streamText` what it began with `generateText`. Requests, headers and raw bodies are left out: they repeat the whole
 * conversation and may hold keys.
 */
export interface SavedReply {
  readonly content: readonly ContentPart[];
  readonly finishReason: unknown;
  readonly usage: Usage | undefined;
  readonly warnings: readonly unknown[];
  readonly providerMetadata?: unknown;
  readonly response?: ResponseFacts;
}

interface Usage {
  readonly inputTokens?: { readonly total?: number };
  readonly outputTokens?: { readonly total?: number };
}

interface ResponseFacts {
  readonly id?: string;
  readonly modelId?: string;
  readonly timestamp?: Date;
}

/** A part of a stream. */
export interface StreamPart {
  readonly type: string;
  readonly id?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly delta?: string;
  readonly error?: unknown;
  readonly [key: string]: unknown;
}

export function savedReply(answer: unknown): SavedReply {
  const { content, finishReason, usage, warnings, providerMetadata, response } =
    answer as Partial<SavedReply>;
  const { id, modelId, timestamp } = response ?? {};
  const { raw: _, ...counted } = (usage ?? {}) as Record<string, unknown>;
  return {
    content: (content ?? []).map((part) => storable(part) as ContentPart),
    finishReason,
    usage: usage && (counted as Usage),
    warnings: warnings ?? [],
    ...defined({ providerMetadata, response: response && defined({ id, modelId, timestamp }) }),
  };
}

/** Reads a stream to its end: hands on each part as it was heard, and returns the answer that they make up. */
export async function collect(
  stream: ReadableStream<StreamPart>,
  hear: (part: StreamPart) => StreamPart,
  each: (part: StreamPart) => void,
): Promise<SavedReply> {
  const content: ContentPart[] = [];
  const open = new Map<string, { type: string; text: string; providerMetadata?: unknown }>();
  const facts: Record<string, unknown> = {};
  let isFinished = false;
  for await (const given of stream as unknown as AsyncIterable<StreamPart>) {
    if (given.type === "error") throw given.error;
    const part = hear(given);
    each(part);
    const text = /^(text|reasoning)-(start|delta|end)$/.exec(part.type);
    if (text) takeText(part, String(text[1]), open, content);
    else if (part.type === "stream-start") facts["warnings"] = part["warnings"];
    else if (part.type === "response-metadata")
      facts["response"] = { ...(facts["response"] as object), ...part };
    else if (part.type === "finish") {
      isFinished = true;
      const { finishReason, usage, providerMetadata } = part as Partial<SavedReply>;
      Object.assign(facts, { finishReason, usage, providerMetadata });
    } else if (!FRAMES.test(part.type)) content.push(part as unknown as ContentPart);
  }
  if (!isFinished) throw new TypeError("The model's stream ended before it was finished.");
  return savedReply({ ...facts, content });
}

/**
 * What only a stream has; all else is part of the answer, also of kinds that the SDK has today or will have. The pieces of
 * a tool's input are repeated in its call.
 */
const FRAMES = /^(tool-input-(start|delta|end)|raw|ping)$/;

type OpenText = { type: string; text: string; providerMetadata?: unknown };

function takeText(part: StreamPart, type: string, open: Map<string, OpenText>, content: ContentPart[]): void {
  const key = `${type} ${part.id}`;
  let text = open.get(key);
  if (!text) {
    text = { type, text: "" };
    open.set(key, text);
    content.push(text);
  }
  text.text += part.delta ?? "";
  if (part["providerMetadata"] !== undefined) text.providerMetadata = part["providerMetadata"];
  if (part.type.endsWith("-end")) open.delete(key);
}

/** The parts of a stream that gives the same answer. */
export function* streamOf(reply: SavedReply): Generator<StreamPart> {
  const { content, finishReason, usage, warnings, providerMetadata, response } = reply;
  yield { type: "stream-start", warnings };
  if (response) yield { type: "response-metadata", ...response };
  for (const [index, part] of content.entries()) {
    if (part.type !== "text" && part.type !== "reasoning") {
      yield part as unknown as StreamPart;
      continue;
    }
    const id = String(index);
    const own = defined({ providerMetadata: part.providerMetadata });
    yield { type: `${part.type}-start`, id, ...own };
    if (part.text) yield { type: `${part.type}-delta`, id, delta: part.text };
    yield { type: `${part.type}-end`, id, ...own };
  }
  yield { type: "finish", finishReason, usage, ...defined({ providerMetadata }) };
}
