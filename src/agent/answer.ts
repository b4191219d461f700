import { HoldfastError } from "../core/errors.ts";
import { toolMessage } from "./call-tools.ts";
import { readAnswer, readFitting } from "./json-answer.ts";
import type { JsonSchema, Message, ModelReply } from "./model.ts";

/** The result of an agent. */
export interface Answered {
  readonly output: unknown;
  readonly text: string;
  readonly model: string;
  readonly finish?: ModelReply["finish"];
}

export interface AnswerRules {
  readonly agent: string;
  readonly schema: JsonSchema | undefined;
  /** The problems of a value by a schema that isn't JSON Schema. */
  readonly fits: ((value: unknown) => Promise<readonly string[]>) | undefined;
  /** What the schema makes of an answer. */
  made(value: unknown): Promise<unknown>;
  /** Accepts a text that was cut off by the token limit as an answer. */
  readonly acceptCut: boolean;
  /** How often an answer may be sent back. */
  readonly reask: number;
}

/** The agent's state regarding answers that were sent back. */
interface Asking {
  messages: Message[];
  reasks: number;
}

const CUT = "it was cut off by the limit of tokens";

/**
 * Returns the answer in a reply, or `undefined` when it is sent back to the model with its problems, as often as
 * allowed.
 */
export async function takeAnswer(
  rules: AnswerRules,
  talk: Asking,
  reply: ModelReply,
): Promise<Answered | undefined> {
  const { text, model, finish } = reply;
  const read = await readReply(rules, reply);
  if (read.ok) return { output: read.value, text, model, finish };
  const problems = [...(finish === "length" && rules.schema ? [CUT] : []), ...read.problems].join("; ");
  askAgain(rules, talk, problems);
  const again = rules.schema
    ? `Answer again with nothing but JSON that fits the schema:\n${JSON.stringify(rules.schema)}`
    : finish === "length"
      ? "Answer again, in fewer words."
      : "Answer again.";
  talk.messages.push({
    role: "user",
    text: `Your answer cannot be used: ${problems}. ${again}`,
    origin: "validator",
  });
  return undefined;
}

type Read =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

async function readReply(rules: AnswerRules, reply: ModelReply): Promise<Read> {
  const { schema, fits } = rules;
  if (!schema) return readText(rules, reply);
  return fits ? readFitting(reply.text, fits) : readAnswer(reply.text, schema);
}

function readText({ acceptCut }: AnswerRules, { text, finish }: ModelReply): Read {
  if (text.trim() === "") return { ok: false, problems: ["it is empty"] };
  return finish === "length" && !acceptCut ? { ok: false, problems: [CUT] } : { ok: true, value: text };
}

/** Calls of a reply that was cut off aren't made: what is missing from them, or after them, is unknown. */
export function refuseCut(rules: AnswerRules, talk: Asking, { calls }: ModelReply): void {
  askAgain(rules, talk, `${CUT} while it asked for tools`);
  const why =
    "It was not called: the reply was cut off by the limit of tokens. Ask again, for less at a time.";
  talk.messages.push(...calls.map((call) => toolMessage(call, why, true)));
}

function askAgain({ agent, reask }: AnswerRules, talk: Asking, problems: string): void {
  if (talk.reasks >= reask) throw new HoldfastError("HF-2142", { agent, asked: talk.reasks + 1, problems });
  talk.reasks++;
}
