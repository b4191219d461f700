import { Random } from "../../../lab/simulator/random.ts";
import type {
  AgentSpec,
  AgentTool,
  Message,
  ModelProvider,
  ModelReply,
  ModelRequest,
  ToolCall,
} from "../../../src/agent/index.ts";
import { hangs } from "../lab.ts";

export { Random };

const TEXTS = [
  "",
  " \n",
  "well",
  "half \uD83D",
  "\uDE00 of it",
  "ok 😀",
  "a\u0000b",
  "x".repeat(300),
] as const;
const IDS = ["", "same", "call_1", "functions.look:0", "x".repeat(60), "toolu_01", "ä/ö"] as const;
const NAMES = [
  "look",
  "look",
  "pay",
  "mail",
  "boom",
  "nothing",
  "",
  "get weather!",
  "1x",
  "n".repeat(90),
] as const;
const INPUTS = [
  {},
  { n: 1 },
  { text: "half \uD83D" },
  "not json",
  null,
  [1],
  { deep: { list: ["\uDE00"] } },
] as const;

const call = (random: Random): ToolCall => ({
  id: random.pick(IDS),
  tool: random.pick(NAMES),
  input: random.pick(INPUTS),
});

/** Data of the kind that each provider gives back with an answer, and that no other may see. */
function nativeOf(provider: string, text: string, calls: readonly ToolCall[]): unknown {
  const own = (options: object) => ({ providerOptions: { [provider]: options } });
  const reasoning =
    provider === "anthropic"
      ? [{ type: "reasoning", text: "hm", ...own({ signature: "sig" }) }]
      : provider === "google"
        ? [{ type: "reasoning", text: "hm", ...own({ thoughtSignature: "sig" }) }]
        : [];
  const parts = calls.map(({ id, tool, input }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: tool,
    input: typeof input === "object" && input !== null && !Array.isArray(input) ? input : {},
    ...own({ thoughtSignature: "sig", itemId: undefined }),
  }));
  return [...reasoning, { type: "text", text }, ...parts];
}

/** An id of the form that the provider gives itself, with calls of tools as it would name them. */
const proper = (provider: string, turn: number, one: ToolCall, index: number): ToolCall => ({
  ...one,
  id: `${provider === "anthropic" ? "toolu" : "call"}_${turn}_${index}`,
  tool: /^[a-z]{1,20}$/.test(one.tool) ? one.tool : "look",
});

export function wildReply(random: Random, request: ModelRequest, provider: string): ModelReply {
  const isLast = request.turn > 5 || random.chance(0.15);
  const text = isLast ? "the end" : random.pick(TEXTS);
  const wild = isLast ? [] : Array.from({ length: random.int(0, 3) }, () => call(random));
  const isProper = random.chance(0.5);
  const calls = isProper ? wild.map((one, index) => proper(provider, request.turn, one, index)) : wild;
  return {
    text,
    calls,
    usage: { inputTokens: random.int(0, 2) * 50, outputTokens: 1 },
    model: request.model,
    finish: random.chance(0.05) ? "length" : calls.length > 0 ? "tool-calls" : "stop",
    ...(isProper && random.chance(0.5) ? { native: nativeOf(provider, text, calls) } : {}),
  };
}

/** Tools that answer, refuse, return odd things, and hang where a crash follows. */
export function wildTools(random: Random, mayHang: boolean): AgentTool[] {
  const free = { parameters: {}, checksInput: true } as const;
  return [
    {
      ...free,
      name: "look",
      effect: "repeatable",
      run: () => random.pick(["seen", "", " ", "half \uD83D", 7]),
    },
    { ...free, name: "pay", effect: "keyed", onRepeat: "allow", run: () => ({ paid: true }) },
    {
      ...free,
      name: "mail",
      onRepeat: "allow",
      run: () => (mayHang && random.chance(0.1) ? hangs() : "sent"),
    },
    {
      ...free,
      name: "boom",
      effect: "repeatable",
      retry: false,
      run: () => Promise.reject(new Error("boom \uD83D")),
    },
  ];
}

/** Edits that a person may make in a conversation. */
export function edited(random: Random, given: readonly Message[]): Message[] {
  const messages = [...given];
  for (let edits = random.int(0, 3); edits > 0; edits--) {
    const at = random.int(0, messages.length);
    const message = messages[at];
    if (random.chance(0.4) || !message) messages.splice(at, 0, { role: "user", text: random.pick(TEXTS) });
    else if (random.chance(0.5)) messages.splice(at, 1);
    else messages[at] = { ...message, text: random.pick(TEXTS) };
  }
  return messages;
}

export const modelOf = (name: string): { readonly provider: string; readonly model: string } => {
  const [provider = "", model = ""] = name.split("/");
  return { provider, model };
};

/** An agent of wild answers that goes to one model, and stops for ever at a turn. */
export function wildSpec(
  random: Random,
  model: string,
  stopAt: number,
  onRequest: (request: ModelRequest) => void,
): Omit<AgentSpec, "prompt"> {
  const { provider: name } = modelOf(model);
  const provider: ModelProvider = {
    name: "wild",
    resolve: modelOf,
    generate: async (request) => {
      if (request.agent !== "a") return { ...wildReply(random, request, name), text: "notes", calls: [] };
      onRequest(request);
      if (request.turn === stopAt) return hangs();
      return wildReply(random, request, name);
    },
  };
  const compact = random.chance(0.4)
    ? { compact: { messages: random.int(4, 9), keep: random.int(1, 4) } }
    : {};
  return {
    provider,
    model,
    tools: wildTools(random, Number.isFinite(stopAt)),
    maxTurns: 12,
    reask: 50,
    ...compact,
  };
}
