import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deedsIn, mcpProcess, serveMcp } from "../../../test/support/mcp.ts";
import type { AgentTool } from "../../agent/index.ts";
import { type McpTools, mcpTools } from "./index.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-mcp-"));
const file = path.join(folder, "deeds");
const stdio = (mode?: string) => mcpProcess(file, mode);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = (tools: McpTools, name: string): AgentTool =>
  tools.tools.find((tool) => tool.name === name) as AgentTool;

/** Calls a tool outside of any run. */
const call = async (tools: McpTools, name: string, input: unknown = {}): Promise<unknown> => {
  const signal = new AbortController().signal;
  const key = `${name}-${"k".repeat(32)}`;
  const about = { runId: "r", step: "s", attempt: 1, epoch: 1, key, agent: "a", signal };
  return named(tools, name).run(input as never, about);
};

describe("the tools of an MCP server", () => {
  let tools: McpTools;

  beforeAll(async () => {
    process.env["HOLDFAST_TEST_SECRET"] = "secret";
    tools = await mcpTools({ deeds: stdio() });
  });
  afterAll(async () => {
    delete process.env["HOLDFAST_TEST_SECRET"];
    await tools.close();
  });

  it("have the server's name before their own, and effects by what they say of themselves", () => {
    expect(tools.tools.map(({ name, effect }) => `${name} ${effect}`).sort()).toEqual([
      "deeds__count repeatable",
      "deeds__do once",
      "deeds__env repeatable",
      "deeds__fail once",
      "deeds__safe_do repeatable",
      "deeds__show repeatable",
    ]);
    expect(named(tools, "deeds__do")).toMatchObject({
      description: "Does something, and dies of it when told to",
      parameters: { type: "object", required: ["what"] },
    });
  });

  it("answer with texts, of whatever kind their content is", async () => {
    expect(await call(tools, "deeds__do", { what: "a" })).toBe("did a under a key");
    expect(await call(tools, "deeds__count")).toBe('{"done":1}');
    expect(await call(tools, "deeds__fail")).toEqual({ isError: true, text: "there is no such thing" });
    expect(await call(tools, "deeds__show")).toBe(
      "a picture:\n[image of type image/png is left out]\nits text\nfile:///b.txt",
    );
  });

  it("see nothing of this process's environment but what every program needs", async () => {
    const seen = String(await call(tools, "deeds__env")).split(" ");
    expect(seen).toContain("GIVEN");
    expect(seen).not.toContain("HOLDFAST_TEST_SECRET");
    const base = ["GIVEN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    expect(seen.filter((name) => !base.includes(name) && !/^(ESBUILD|TSX|NODE)/.test(name))).toEqual([]);
  });

  it("are only those that are allowed, with the effects that are given", { timeout: 60_000 }, async () => {
    const options = { allow: ["deeds__do", "deeds__c*"], effects: { deeds__do: "keyed" as const } };
    const some = await mcpTools({ deeds: stdio() }, options);
    expect(some.tools.map(({ name, effect }) => `${name} ${effect}`).sort()).toEqual([
      "deeds__count repeatable",
      "deeds__do keyed",
    ]);
    await some.close();
    await expect(mcpTools({ deeds: stdio() }, { allow: ["deeds__undo"] })).rejects.toMatchObject({
      code: "HF-4107",
      message: "The MCP server deeds cannot be used: it has no tool deeds__undo.",
    });
  });

  it("cannot be had of a server that does not start, and it says why", { timeout: 60_000 }, async () => {
    await expect(mcpTools({ deeds: stdio("broken") })).rejects.toThrow("the licence has run out");
    await expect(mcpTools({ deeds: { command: "no-such-command-here" } })).rejects.toMatchObject({
      code: "HF-4107",
    });
    await expect(mcpTools({ deeds: { url: "http://127.0.0.1:9/mcp" } })).rejects.toMatchObject({
      code: "HF-4107",
    });
    await expect(mcpTools({ "a b": stdio() })).rejects.toMatchObject({ code: "HF-4107" });
    await expect(mcpTools({ deeds: { url: "nowhere" } })).rejects.toMatchObject({ code: "HF-4107" });
  });
});

describe("an MCP server over HTTP that is away", () => {
  it("has not been called, and the model is told so", { timeout: 60_000 }, async () => {
    const log = path.join(folder, "away");
    const { url, ended } = await serveMcp(log, "http");
    const tools = await mcpTools({ deeds: { url } });
    await expect(call(tools, "deeds__do", { what: "a", die: "always" })).rejects.toMatchObject({
      code: "HF-2140",
    });
    await ended;
    await expect(call(tools, "deeds__do", { what: "b" })).rejects.toMatchObject({
      name: "McpError",
      server: "deeds",
      retryable: true,
    });
    await tools.close();
    await expect(call(tools, "deeds__do", { what: "c" })).rejects.toThrow("MCP server deeds was closed.");
    expect(deedsIn(log)).toEqual(["a"]);
  });
});
