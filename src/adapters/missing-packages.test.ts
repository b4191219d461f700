import { describe, expect, it, vi } from "vitest";
import type { Context } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { modelProviders } from "./ai-sdk/index.ts";
import { mastraStorage } from "./mastra/index.ts";
import { mcpTools } from "./mcp/index.ts";
import type { AnyAgent } from "./openai-agents/index.ts";

const missing = vi.hoisted(() => (name: string) => () => {
  throw Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" });
});
vi.mock("@ai-sdk/openai", missing("@ai-sdk/openai"));
vi.mock("@openai/agents", missing("@openai/agents"));
vi.mock("@mastra/core/storage", missing("@mastra/core"));
vi.mock("@modelcontextprotocol/client", missing("@modelcontextprotocol/client"));

describe("an adapter without its package", () => {
  it("says how to install it", async () => {
    const request = {
      model: "openai/m",
      messages: [],
      agent: "a",
      turn: 0,
      attempt: 1,
      signal: new AbortController().signal,
    };
    const provider = modelProviders({ openai: { apiKey: "k" } });
    await expect(provider.generate(request)).rejects.toMatchObject({
      code: "HF-4108",
      fix: "npm install @ai-sdk/openai",
    });
    await expect(mcpTools({ one: { url: "http://127.0.0.1:9" } })).rejects.toMatchObject({
      code: "HF-4108",
      fix: "npm install @modelcontextprotocol/client",
    });
    await expect(mastraStorage(createMemoryStore())).rejects.toMatchObject({
      code: "HF-4108",
      fix: "npm install @mastra/core",
    });
    const { run } = await import("./openai-agents/index.ts");
    await expect(run({} as Context, {} as AnyAgent, "hello")).rejects.toMatchObject({
      code: "HF-4108",
      fix: "npm install @openai/agents",
    });
  });
});
