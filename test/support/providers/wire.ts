import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { aiSdkProvider } from "../../../src/adapters/ai-sdk/index.ts";
import type { Message, ModelRequest } from "../../../src/agent/index.ts";
import { anthropic, google, openAiChat, openAiResponses } from "./rules.ts";

/** A provider's real client, whose requests go nowhere, and the provider's rules. */
interface Wire {
  /** As `provider/model`. */
  readonly model: string;
  /** The problems of a conversation as this client would send it. */
  problems(messages: readonly Message[]): Promise<string[]>;
}

type Body = Readonly<Record<string, unknown>>;

class Sent extends Error {
  readonly body: Body;
  constructor(body: Body) {
    super("sent");
    this.body = body;
  }
}

/** Ends each call with what it was about to send. */
const take: typeof fetch = (_, init) => {
  throw new Sent(JSON.parse(init?.body as string) as Body);
};

const how = { apiKey: "none", fetch: take };

export const WIRES: readonly Wire[] = [
  wire("openai/gpt-4o", createOpenAI(how).chat("gpt-4o"), openAiChat),
  wire("openai/gpt-5", createOpenAI(how).responses("gpt-5"), openAiResponses),
  wire("anthropic/claude-opus-4-5", createAnthropic(how)("claude-opus-4-5"), anthropic),
  wire("google/gemini-3-pro", createGoogleGenerativeAI(how)("gemini-3-pro"), google),
];

function wire(
  name: string,
  model: Parameters<typeof aiSdkProvider>[0],
  check: (body: Body) => string[],
): Wire {
  const provider = aiSdkProvider(model);
  const { signal } = new AbortController();
  return {
    model: name,
    async problems(messages) {
      const request: ModelRequest = { model: name, messages, agent: "a", turn: 0, attempt: 1, signal };
      const failure: unknown = await provider.generate(request).then(
        () => new Error("it was answered"),
        (error: unknown) => error,
      );
      const sent = sentIn(failure);
      return sent ? check(sent.body) : [`the client refuses it: ${String(failure)}`];
    },
  };
}

function sentIn(error: unknown): Sent | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof Sent) return one;
  return undefined;
}
