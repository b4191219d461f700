import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type McpTools, mcpTools } from "../../src/adapters/mcp/index.ts";
import { type AgentTool, runAgent, type ScriptedReply, scriptedProvider } from "../../src/agent/index.ts";
import { createEngine, type Engine, workflow } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory.ts";
import { deedsIn, mcpProcess, serveMcp } from "../support/mcp.ts";

let folder = "";
let file = "";
const closing: (() => unknown)[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "holdfast-mcp-"));
  file = path.join(folder, "deeds");
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server, with a way to restart it at the same address after it died. */
async function start(
  kind: "stdio" | "http" | "session",
): Promise<{ tools: McpTools; revive: () => Promise<unknown> }> {
  if (kind === "stdio") {
    const tools = await mcpTools({ deeds: mcpProcess(file) });
    closing.push(() => tools.close());
    return { tools, revive: () => Promise.resolve() };
  }
  let served = await serveMcp(file, kind);
  const tools = await mcpTools({ deeds: { url: served.url } });
  closing.push(
    () => served.stop(),
    () => tools.close(),
  );
  const revive = async () => {
    await served.ended;
    served = await serveMcp(file, kind, served.port);
  };
  return { tools, revive };
}

/** Restarting a server takes a while. */
const patient = (tool: AgentTool): AgentTool =>
  tool.effect === "once" ? tool : { ...tool, retry: { attempts: 1_000, baseMs: 200, factor: 1 } };

/** Runs an agent by the script, in a run `r`. */
async function work(tools: McpTools, replies: readonly ScriptedReply[]): Promise<Engine> {
  const provider = scriptedProvider({ agents: { a: replies } });
  const flow = workflow("flow", (ctx) =>
    runAgent(ctx, "a", { provider, model: "m", prompt: "go", tools: tools.tools.map(patient) }),
  );
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
  closing.push(() => engine.close({ drainMs: 0 }));
  await engine.start(flow, undefined, { id: "r" });
  return engine;
}

describe.each(["stdio", "http", "session"] as const)(
  "an MCP server (%s) that is killed in the middle of its calls",
  (kind) => {
    it("leaves those in doubt that may happen only once, is asked again for the others, and is used again when it is back", async () => {
      const { tools, revive } = await start(kind);
      const engine = await work(tools, [
        { calls: [{ tool: "deeds__do", input: { what: "pay", die: "always" } }] },
        { calls: [{ tool: "deeds__do", input: { what: "mail" } }] },
        { calls: [{ tool: "deeds__safe_do", input: { what: "look", die: "once" } }] },
        { text: "end" },
      ]);
      const run = await engine.settled("r");
      expect(run.waiting).toMatchObject([{ kind: "decision", step: "a[0]/tool:deeds__do" }]);
      expect(deedsIn(file)).toEqual(["pay"]);
      await revive();
      await engine.resolve("r", "a[0]/tool:deeds__do", { action: "done", value: "it was paid" });
      await revive();
      expect(await engine.result("r")).toMatchObject({ output: "end", turns: 4 });
      expect(deedsIn(file)).toEqual(["pay", "mail", "look", "look"]);
    });
  },
);
