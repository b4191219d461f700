import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { wrapLanguageModel } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type AgentSpec, type ModelRequest, runAgent } from "../../agent/index.ts";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { type OpenAiAnswer, type OpenAiServer, startOpenAiServer } from "../../testing/openai-server.ts";
import { aiSdkProvider, modelProviders } from "./index.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(answers: Parameters<typeof startOpenAiServer>[0]): Promise<OpenAiServer> {
  const server = await startOpenAiServer(answers);
  closing.push(() => server.close());
  return server;
}

/** Runs an agent against the server, on the real clock. */
async function run(server: OpenAiServer, spec: Partial<AgentSpec> = {}) {
  const provider = modelProviders({ local: { baseURL: server.url, apiKey: "key-1" } });
  const flow = workflow("flow", (ctx) =>
    runAgent(ctx, "a", { provider, model: "local/m-1", prompt: "go", ...spec }),
  );
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
  closing.push(() => engine.close({ drainMs: 0 }));
  const { id } = await engine.start(flow, undefined);
  return engine.result(id);
}

const ask = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "m-1",
  messages: [{ role: "user", text: "hello" }],
  agent: "a",
  turn: 0,
  attempt: 1,
  signal: new AbortController().signal,
  ...more,
});

/** The provider's result for one answer of the server. */
async function outcome(answer: OpenAiAnswer, more: Partial<ModelRequest> = {}): Promise<unknown> {
  const server = await serve([answer]);
  const provider = modelProviders({ local: { baseURL: server.url } });
  return provider.generate(ask({ model: "local/m-1", ...more })).catch((error: unknown) => error);
}

describe("an agent over HTTP", () => {
  it("is answered with a text, and its tokens are counted", async () => {
    const server = await serve([{ text: "Good morning.", usage: { inputTokens: 30, outputTokens: 4 } }]);
    expect(await run(server, { system: "be kind", temperature: 0.5, maxTokens: 100 })).toMatchObject({
      output: "Good morning.",
      model: "m-1",
      usage: { inputTokens: 30, outputTokens: 4 },
    });
    expect(server.requests).toMatchObject([
      {
        authorization: "Bearer key-1",
        body: {
          model: "m-1",
          temperature: 0.5,
          max_tokens: 100,
          messages: [
            { role: "system", content: "be kind" },
            { role: "user", content: "go" },
          ],
        },
      },
    ]);
  });

  it("calls tools, also those whose arguments the model got wrong, and sends their results", async () => {
    const server = await serve([
      {
        text: "looking",
        calls: [
          { tool: "stock", input: { article: "bolt" } },
          { tool: "stock", input: "{broken" },
        ],
      },
      { text: "12 bolts" },
    ]);
    const parameters = { type: "object", properties: { article: { type: "string" } }, required: ["article"] };
    const stock = {
      name: "stock",
      description: "counts",
      parameters,
      effect: "repeatable" as const,
      run: () => 12,
    };
    expect(await run(server, { tools: [stock] })).toMatchObject({ output: "12 bolts", turns: 2 });
    expect(server.requests[0]?.body.tools).toEqual([
      { type: "function", function: { name: "stock", description: "counts", parameters } },
    ]);
    expect(server.requests[1]?.body.messages.slice(1)).toMatchObject([
      { role: "assistant", content: "looking", tool_calls: [{ id: "call-0-0" }, { id: "call-0-1" }] },
      { role: "tool", tool_call_id: "call-0-0", content: "12" },
      {
        role: "tool",
        tool_call_id: "call-0-1",
        content: "The arguments do not fit: it must be object, not string.",
      },
    ]);
  });

  it("asks for JSON by its schema, and again when the answer does not fit", async () => {
    const server = await serve([{ json: { n: "one" } }, { json: { n: 1 } }]);
    const output = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    expect(await run(server, { output })).toMatchObject({ output: { n: 1 }, turns: 2 });
    expect(server.requests[0]?.body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema: output },
    });
    expect(server.requests[1]?.body.messages.at(-1)?.content).toContain("n must be integer, not string");
  });

  it("waits as long as a rate limit asks for, then asks once", async () => {
    const asked: number[] = [];
    const server = await serve(({ index }) => {
      asked.push(performance.now());
      return index === 0 ? { status: 429, retryAfter: 1 } : { text: "now" };
    });
    expect(await run(server, { retry: { baseMs: 0 } })).toMatchObject({ output: "now" });
    expect(asked).toHaveLength(2);
    expect((asked[1] as number) - (asked[0] as number)).toBeGreaterThanOrEqual(990);
  });

  it("asks again after failures that pass, and not after those that do not", async () => {
    const passing = await serve([{ status: 500 }, { cut: true }, { body: "{not json" }, { text: "there" }]);
    expect(await run(passing, { retry: { attempts: 4, baseMs: 1 } })).toMatchObject({ output: "there" });
    expect(passing.requests).toHaveLength(4);
    const final = await serve([{ status: 401, message: "wrong key" }]);
    await expect(run(final)).rejects.toMatchObject({
      cause: { name: "ModelError", kind: "auth", status: 401 },
    });
    expect(final.requests).toHaveLength(1);
  });

  it("gives up on a server that is silent, and asks again", async () => {
    const server = await serve([{ hang: true }, { text: "awake" }]);
    expect(await run(server, { timeoutMs: 200, retry: { baseMs: 1 } })).toMatchObject({ output: "awake" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("a failure of a provider", () => {
  it.each([
    [
      { status: 429, retryAfter: 7 },
      { kind: "rate-limit", status: 429, retryAfterMs: 7_000, retryable: true },
    ],
    [
      { status: 429, message: "insufficient_quota: add credit" },
      { kind: "auth", retryable: false },
    ],
    [{ status: 503 }, { kind: "overloaded", status: 503, retryable: true }],
    [{ status: 529 }, { kind: "overloaded", retryable: true }],
    [{ status: 403 }, { kind: "auth", retryable: false }],
    [
      { status: 400, message: "no such model" },
      { kind: "bad-request", retryable: false },
    ],
    [
      { status: 400, message: "This model's maximum context length is 8192 tokens." },
      { kind: "context-length" },
    ],
    [{ cut: true }, { kind: "network", retryable: true, status: undefined }],
    [{ body: "<html>" }, { kind: "network", retryable: true }],
    [{ body: '{"choices": []}' }, { kind: "network", retryable: true }],
  ] as [OpenAiAnswer, object][])("is told by its kind: %j", async (answer, error) => {
    expect(await outcome(answer)).toMatchObject(error);
  });

  it("says how long to wait by the server's own clock, when it names a date", async () => {
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 60_000).toUTCString();
    const { retryAfterMs } = (await outcome({ status: 429, retryAfter: date })) as { retryAfterMs: number };
    expect(retryAfterMs % 1_000).toBe(0);
    expect(Math.abs(retryAfterMs - 60_000)).toBeLessThanOrEqual(2_000);
  });

  it("keeps the request out of the error, which goes into a journal", async () => {
    const messages = [{ role: "user", text: "my secret" } as const];
    expect(JSON.stringify(await outcome({ status: 500 }, { messages }))).not.toContain("my secret");
  });
});

describe("models by name", () => {
  it("are found by provider, alias and name, and a provider of one's own can stand among them", async () => {
    const server = await serve(({ body }) => ({ text: body.model }));
    const own = { name: "own", generate: async ({ model }: ModelRequest) => reply(`own ${model}`) };
    const provider = modelProviders(
      { local: { baseURL: server.url }, own },
      { aliases: { copilot: "local", cheap: "local/small", mine: "own" } },
    );
    const text = async (model: string) => (await provider.generate(ask({ model }))).text;
    expect(await text("local/big")).toBe("big");
    expect(await text("copilot/org/big")).toBe("org/big");
    expect(await text("cheap")).toBe("small");
    expect(await text("mine/x")).toBe("own x");
    await expect(text("big")).rejects.toMatchObject({ code: "HF-4106" });
    await expect(text("other/big")).rejects.toThrow("there is no provider other");
    const only = modelProviders({ local: { baseURL: server.url } });
    expect(await only.generate(ask({ model: "bare" }))).toMatchObject({ text: "bare" });
  });

  it.each([
    ["openai", "OPENAI_API_KEY"],
    ["anthropic", "ANTHROPIC_API_KEY"],
    ["google", "GOOGLE_GENERATIVE_AI_API_KEY"],
  ])("of %s need a key, and say where it was looked for", async (name, variable) => {
    const provider = modelProviders({ [name]: {} }, { env: {} });
    await expect(provider.generate(ask({ model: `${name}/m` }))).rejects.toMatchObject({
      code: "HF-4105",
      why: `${variable} isn't set, and no key was passed.`,
    });
  });

  it("take their key from the environment they are given", async () => {
    const server = await serve([{ text: "in" }]);
    const settings = { local: { baseURL: server.url, apiKeyEnv: "LOCAL_KEY" } };
    await modelProviders(settings, { env: { LOCAL_KEY: "k" } }).generate(ask({ model: "local/m" }));
    expect(server.requests[0]?.authorization).toBe("Bearer k");
    const without = modelProviders(settings, { env: {} }).generate(ask({ model: "local/m" }));
    await expect(without).rejects.toMatchObject({ code: "HF-4105" });
    expect(server.requests).toHaveLength(1);
  });

  it("are refused without an address when their provider is not known", () => {
    expect(() => modelProviders({ groq: { apiKey: "k" } })).toThrow("groq.baseURL");
  });
});

describe("models of the AI SDK", () => {
  it("are asked as they are, wrapped ones too", async () => {
    const server = await serve([{ text: "hello" }]);
    const model = createOpenAICompatible({ name: "local", baseURL: server.url })("m-1");
    const seen: unknown[] = [];
    const wrapped = wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: "v3",
        wrapGenerate: ({ doGenerate, params }) => (seen.push(params.prompt), doGenerate()),
      },
    });
    const provider = aiSdkProvider({ one: model, two: wrapped });
    expect(await provider.generate(ask({ model: "one" }))).toMatchObject({ text: "hello" });
    expect(await provider.generate(ask({ model: "two" }))).toMatchObject({ text: "hello" });
    expect(seen).toHaveLength(1);
    await expect(provider.generate(ask({ model: "three" }))).rejects.toMatchObject({ code: "HF-4106" });
    expect(await aiSdkProvider(model).generate(ask({ model: "any" }))).toMatchObject({ model: "m-1" });
  });

  it("see their own reasoning again, as they gave it", async () => {
    const lab = createLab();
    const content = [
      { type: "reasoning", text: "hm", providerMetadata: { maker: { signature: "s1" } } },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "t",
        input: "{}",
        providerMetadata: { maker: { thought: "t1" } },
      },
    ];
    const prompts: unknown[] = [];
    const model = {
      specificationVersion: "v4",
      provider: "maker.chat",
      modelId: "m",
      async doGenerate({ prompt, reasoning }: { prompt: readonly unknown[]; reasoning?: string }) {
        prompts.push({ prompt, reasoning });
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
        return prompts.length === 1
          ? { content, finishReason: { unified: "tool-calls" }, usage }
          : { content: [{ type: "text", text: "end" }], finishReason: { unified: "stop" }, usage };
      },
    };
    const tools = [{ name: "t", parameters: {}, run: () => toolFails }];
    const toolFails = { isError: true, text: "no" };
    const spec = {
      provider: aiSdkProvider(model),
      model: "m",
      prompt: "go",
      tools,
      reasoning: "high" as const,
    };
    const flow = workflow("flow", (ctx) => runAgent(ctx, "a", spec));
    const engine = lab.engine([flow]);
    const { id } = await lab.drive(engine.start(flow, undefined));
    expect(await lab.drive(engine.result(id))).toMatchObject({ output: "end" });
    expect(prompts[1]).toEqual({
      reasoning: "high",
      prompt: [
        { role: "user", content: [{ type: "text", text: "go" }] },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm", providerOptions: { maker: { signature: "s1" } } },
            {
              type: "tool-call",
              toolCallId: "c1",
              toolName: "t",
              input: {},
              providerOptions: { maker: { thought: "t1" } },
            },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "t",
              output: { type: "error-text", value: "no" },
            },
          ],
        },
      ],
    });
  });

  it.each([[{ m: "openai/gpt" }], [{ m: { specificationVersion: "v2", doGenerate: () => undefined } }]])(
    "are refused when they are none, or too old: %j",
    (models) => {
      expect(() => aiSdkProvider(models as never)).toThrowError(
        expect.objectContaining({ code: "HF-4106" }) as Error,
      );
    },
  );
});

const reply = (text: string) => ({
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  model: "own",
  finish: "stop" as const,
});
