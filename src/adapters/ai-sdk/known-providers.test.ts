import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelRequest } from "../../agent/index.ts";
import { modelProviders } from "./index.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that gives the same answer to everything, and the bodies it received. */
async function serve(answer: unknown): Promise<{ url: string; bodies: Record<string, unknown>[] }> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      bodies.push(JSON.parse(body) as Record<string, unknown>);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const ask = (model: string): ModelRequest => ({
  model,
  system: "be brief",
  messages: [
    { role: "user", text: "hello" },
    { role: "assistant", text: "", calls: [{ id: "c1", tool: "t", input: {} }] },
    { role: "tool", call: "c1", tool: "t", text: "12" },
  ],
  tools: [{ name: "t", parameters: { type: "object", properties: {} } }],
  schema,
  reasoning: "low",
  maxTokens: 2_000,
  agent: "a",
  turn: 0,
  attempt: 1,
  signal: new AbortController().signal,
});

describe("a known provider", () => {
  it("is asked in OpenAI's way", async () => {
    const { url, bodies } = await serve({
      id: "r1",
      created_at: 0,
      model: "gpt-5-1",
      output: [
        {
          type: "message",
          id: "m1",
          role: "assistant",
          content: [{ type: "output_text", text: '{"n":1}', annotations: [] }],
        },
      ],
      usage: { input_tokens: 9, output_tokens: 3 },
    });
    const provider = modelProviders({ openai: { apiKey: "k", baseURL: url } });
    expect(await provider.generate(ask("openai/gpt-5"))).toMatchObject({
      text: '{"n":1}',
      model: "gpt-5-1",
      usage: { inputTokens: 9, outputTokens: 3 },
      finish: "stop",
    });
    expect(bodies).toMatchObject([
      {
        model: "gpt-5",
        reasoning: { effort: "low" },
        max_output_tokens: 2_000,
        text: { format: { type: "json_schema", strict: false, schema } },
        tools: [{ type: "function", name: "t" }],
      },
    ]);
  });

  it("is asked in Anthropic's way", async () => {
    const { url, bodies } = await serve({
      type: "message",
      id: "m1",
      role: "assistant",
      model: "claude-opus-5-5",
      content: [
        { type: "thinking", thinking: "hm", signature: "s1" },
        { type: "tool_use", id: "c2", name: "t", input: {} },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 9, output_tokens: 3 },
    });
    const provider = modelProviders(
      { anthropic: { apiKey: "k", baseURL: url } },
      { aliases: { claude: "anthropic" } },
    );
    expect(await provider.generate(ask("claude/claude-opus-5-5"))).toMatchObject({
      calls: [{ id: "c2", tool: "t", input: {} }],
      finish: "tool-calls",
      native: [
        { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s1" } } },
        { type: "tool-call", toolCallId: "c2" },
      ],
    });
    expect(bodies).toMatchObject([
      {
        model: "claude-opus-5-5",
        max_tokens: 2_000,
        output_config: { effort: "low" },
        messages: [
          { role: "user" },
          { role: "assistant", content: [{ type: "tool_use", id: "c1" }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] },
        ],
      },
    ]);
  });

  it("is asked in Google's way, and for a format only where there are no tools", async () => {
    const { url, bodies } = await serve({
      candidates: [{ content: { role: "model", parts: [{ text: '{"n":1}' }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
    });
    const provider = modelProviders({ google: { apiKey: "k", baseURL: url } });
    expect(await provider.generate(ask("google/gemini-3-pro"))).toMatchObject({
      text: '{"n":1}',
      usage: { inputTokens: 9, outputTokens: 3 },
    });
    const { tools: _, ...plain } = ask("google/gemini-3-pro");
    await provider.generate(plain);
    expect(bodies[0]).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingLevel: "low" }, maxOutputTokens: 2_000 },
      tools: [{ functionDeclarations: [{ name: "t" }] }],
    });
    expect(bodies[0]?.["generationConfig"]).not.toHaveProperty("responseMimeType");
    expect(bodies[1]).toMatchObject({ generationConfig: { responseMimeType: "application/json" } });
  });
});
