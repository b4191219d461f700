import type { JsonSchema, Message, ModelReply, ModelRequest, ToolCall } from "../../agent/model.ts";
import { defined } from "../../core/defined.ts";
import type {
  CallOptions,
  ContentPart,
  Generated,
  LanguageModel,
  PromptMessage,
  PromptPart,
} from "./language-model.ts";

/** Converts a request to the AI SDK's model specification. */
export function callOptions(model: LanguageModel, request: ModelRequest): CallOptions {
  const { tools = [], schema, temperature, maxTokens, signal } = request;
  const owner = model.provider.split(".")[0] ?? "";
  // Gemini takes either tools or a format. An answer that doesn't match is asked for again.
  const format = schema && !(owner === "google" && tools.length > 0) ? schema : undefined;
  const specs = tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    name,
    inputSchema: parameters,
    ...defined({ description }),
  }));
  return {
    prompt: [...systemOf(request), ...conversation(request.messages)],
    abortSignal: signal,
    ...defined({ maxOutputTokens: maxTokens, temperature }),
    ...(format ? { responseFormat: { type: "json" as const, schema: format, name: "answer" } } : {}),
    ...(specs.length === 0 ? {} : { tools: specs, toolChoice: { type: "auto" as const } }),
    ...ownOptions(model, owner, request),
  };
}

/** Not every provider enforces a format, and those that do accept the hint as well. */
function systemOf({ system, schema }: ModelRequest): PromptMessage[] {
  const form = schema ? `Answer with JSON that fits this schema:\n${JSON.stringify(schema)}` : undefined;
  const content = [system, form].filter((part) => part !== undefined && part !== "").join("\n\n");
  return content === "" ? [] : [{ role: "system", content }];
}

type OwnOptions = Pick<CallOptions, "providerOptions" | "reasoning">;

function ownOptions(model: LanguageModel, owner: string, { reasoning, schema }: ModelRequest): OwnOptions {
  const isOlder = model.specificationVersion === "v3";
  const own = {
    ...(isOlder && reasoning ? effort(owner, reasoning) : {}),
    // Strict schemas are a dialect: a schema outside it would be refused.
    ...(schema && owner !== "anthropic" && owner !== "google" ? { strictJsonSchema: isStrict(schema) } : {}),
  };
  return {
    ...(!isOlder && reasoning ? { reasoning } : {}),
    ...(Object.keys(own).length === 0 ? {} : { providerOptions: { [owner]: own } }),
  };
}

function effort(owner: string, level: string): Readonly<Record<string, unknown>> {
  if (owner === "anthropic") return { effort: level };
  if (owner === "google") return { thinkingConfig: { thinkingLevel: level } };
  return { reasoningEffort: level };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True when every object in it is closed and requires all its properties. */
function isStrict(schema: JsonSchema): boolean {
  const { properties } = schema;
  if (isObject(properties)) {
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    const isClosed = schema["additionalProperties"] === false;
    if (!isClosed || Object.keys(properties).some((name) => !required.includes(name))) return false;
  }
  const below = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : []);
  const inner = [...below(properties), ...below(schema["$defs"]), schema["items"], ...alternatives(schema)];
  return inner.every((one) => !isObject(one) || isStrict(one));
}

const alternatives = ({ anyOf }: JsonSchema): unknown[] => (Array.isArray(anyOf) ? anyOf : []);

function conversation(messages: readonly Message[]): PromptMessage[] {
  const prompt: { role: "user" | "assistant" | "tool"; content: PromptPart[] }[] = [];
  for (const message of messages) {
    const content = partsOf(message);
    const last = prompt.at(-1);
    // Results of one reply belong together, and not every provider takes two messages of a user in a row.
    if (message.role !== "assistant" && last?.role === message.role) last.content.push(...content);
    else if (content.length > 0) prompt.push({ role: message.role, content });
  }
  return prompt;
}

function partsOf(message: Message): PromptPart[] {
  switch (message.role) {
    case "user":
      return [{ type: "text", text: message.text }];
    case "tool": {
      const output = {
        type: message.isError ? ("error-text" as const) : ("text" as const),
        value: message.text,
      };
      return [{ type: "tool-result", toolCallId: message.call, toolName: message.tool, output }];
    }
    case "assistant": {
      if (Array.isArray(message.native)) return (message.native as PromptPart[]).filter(saysSomething);
      const text = message.text === "" ? [] : [{ type: "text" as const, text: message.text }];
      return [...text, ...(message.calls ?? []).map(callPart)];
    }
  }
}

/** Providers refuse blank texts, even those that they gave themselves. */
const saysSomething = (part: PromptPart): boolean => part.type !== "text" || part.text.trim() !== "";

const callPart = ({ id, tool, input }: ToolCall) =>
  ({ type: "tool-call", toolCallId: id, toolName: tool, input: argumentsOf(input) }) as const;

/** Providers only accept objects as arguments, even for refused calls. */
const argumentsOf = (input: unknown): unknown => (isObject(input) ? input : { unreadable: input });

export function replyOf(
  model: LanguageModel,
  { content, finishReason, usage, response }: Generated,
): ModelReply {
  const parts = content.filter(({ type, providerExecuted }) => KEPT.has(type) && !providerExecuted);
  const calls = parts.filter(({ type }) => type === "tool-call").map(callOf);
  const text = parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
  const native = nativeOf(parts);
  return {
    text,
    calls,
    usage: { inputTokens: usage.inputTokens?.total ?? 0, outputTokens: usage.outputTokens?.total ?? 0 },
    model: response?.modelId ?? model.modelId,
    finish: FINISH.find((known) => known === finishReason.unified) ?? "other",
    ...defined({ native }),
  };
}

const KEPT = new Set(["text", "reasoning", "tool-call"]);
const FINISH = ["stop", "length", "tool-calls", "content-filter"] as const;

function callOf({ toolCallId = "", toolName = "", input = "" }: ContentPart): ToolCall {
  return { id: toolCallId, tool: toolName, input: parsed(input) };
}

function parsed(input: string): unknown {
  try {
    return input.trim() === "" ? {} : (JSON.parse(input) as unknown);
  } catch {
    return input;
  }
}

/** The answer in the provider's own form. Needed only if there is more to it than text and calls. */
function nativeOf(parts: readonly ContentPart[]): PromptPart[] | undefined {
  const isPlain = parts.every(
    ({ type, providerMetadata }) => type !== "reasoning" && providerMetadata === undefined,
  );
  if (isPlain) return undefined;
  return parts.map((part) => {
    const { type, text = "", providerMetadata } = part;
    const own = defined({ providerOptions: providerMetadata });
    if (type === "tool-call") return { ...callPart(callOf(part)), ...own };
    return { type: type as "text" | "reasoning", text, ...own };
  });
}
