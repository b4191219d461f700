import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type McpTools, mcpTools } from "./index.ts";

const SERVER = fileURLToPath(new URL("../../../test/support/odd-mcp-server.mjs", import.meta.url));

const odd = (mode: string, timeoutMs = 20_000) =>
  mcpTools({ odd: { command: process.execPath, args: [SERVER, mode], timeoutMs } });

const call = async ({ tools }: McpTools, input: object = {}): Promise<unknown> => {
  const { signal } = new AbortController();
  const about = { runId: "r", step: "s", attempt: 1, epoch: 1, key: "k".repeat(32), agent: "a", signal };
  return tools[0]?.run(input as never, about);
};

describe("an MCP server that behaves oddly (A12)", () => {
  it("has its time limit for saying what it is, too", async () => {
    await expect(odd("silent", 300)).rejects.toMatchObject({
      code: "HF-4107",
      message: expect.stringContaining("timed out"),
    });
  });

  it("is started again before its call counts, and the step's limit leaves room for both", async () => {
    const tools = await odd("slow:50");
    await expect(call(tools, { die: true })).rejects.toMatchObject({ code: "HF-2140" });
    expect(await call(tools)).toBe("did it");
    expect(tools.tools[0]?.timeoutMs).toBeGreaterThanOrEqual(40_000);
    await tools.close();
  });

  it("whose answer is too large says so", async () => {
    const tools = await odd("large");
    await expect(call(tools)).rejects.toMatchObject({
      code: "HF-2140",
      message: expect.stringContaining("its answer is larger than 10 MiB"),
    });
    await tools.close();
  });

  it("that answers with null has given no answer", async () => {
    const tools = await odd("null", 2_000);
    await expect(call(tools)).rejects.toMatchObject({
      code: "HF-2140",
      message: expect.stringContaining("odd"),
    });
    await tools.close();
  });

  it.each([
    ["does not take the arguments", -32602, { name: "McpError", notDone: true }],
    ["failed inside, and may have done something (A1)", -32603, { code: "HF-2140" }],
  ])("that %s is told apart", async (_, code, expected) => {
    const tools = await odd(`error:${code}`);
    await expect(call(tools)).rejects.toMatchObject(expected);
    await tools.close();
  });
});
