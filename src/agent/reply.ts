import { defined } from "../core/defined.ts";
import { encode } from "../core/values/codec.ts";
import type { Message, ModelReply, ToolCall } from "./model.ts";
import { isObject } from "./schema-rules.ts";

const FINISH: readonly ModelReply["finish"][] = ["stop", "length", "tool-calls", "content-filter", "other"];

/** Normalises a provider's reply so that an agent can use it: a bad number or an odd call isn't a reason to fail. */
export function takenReply(reply: ModelReply, asked: string): ModelReply {
  const { text, calls, usage, model, finish, native } = (isObject(reply) ? reply : {}) as Partial<ModelReply>;
  const costUsd = amount(usage?.costUsd);
  return {
    text: typeof text === "string" ? text : "",
    calls: (Array.isArray(calls) ? calls : []).map(takenCall),
    usage: {
      inputTokens: amount(usage?.inputTokens) ?? 0,
      outputTokens: amount(usage?.outputTokens) ?? 0,
      ...defined({ costUsd }),
    },
    model: typeof model === "string" && model !== "" ? model : asked,
    finish: FINISH.find((known) => known === finish) ?? "other",
    ...defined({ native }),
  };
}

/** Ignores a value that isn't a valid amount. */
const amount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Arguments that can't be saved are sent back to the model with the reason. */
function takenCall(call: unknown): ToolCall {
  const { id, tool, input } = (isObject(call) ? call : {}) as Partial<ToolCall>;
  const named = { id: typeof id === "string" ? id : "", tool: typeof tool === "string" ? tool : "" };
  try {
    encode(input);
    return { ...named, input };
  } catch (error) {
    return { ...named, input: null, problem: problemOf(error) };
  }
}

const problemOf = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/\.$/, "").slice(0, 300) : "they cannot be saved";

/**
 * Makes call ids unique within the conversation. Providers omit or reuse ids, and refuse a conversation in which they
 * don't match.
 */
export function withOwnIds(
  calls: readonly ToolCall[],
  messages: readonly Message[],
  turn: number,
): readonly ToolCall[] {
  const used = new Set(messages.flatMap(idsOf));
  return calls.map((call, index) => {
    const id = call.id !== "" && !used.has(call.id) ? call.id : freeId(used, `call-${turn}-${index}`);
    used.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

const idsOf = (message: Message): string[] =>
  message.role === "assistant" ? (message.calls ?? []).map(({ id }) => id) : [];

function freeId(used: ReadonlySet<string>, wished: string): string {
  let id = wished;
  for (let n = 2; used.has(id); n++) id = `${wished}-${n}`;
  return id;
}
