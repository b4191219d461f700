import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { fromText } from "../../test/support/yaml.ts";
import type { AgentTool } from "../agent/tool.ts";
import type { McpServer } from "./index.ts";

const tool = (name: string, calls: string[], answer = "found"): AgentTool => ({
  name,
  parameters: { type: "object" },
  effect: "repeatable",
  run: () => {
    calls.push(name);
    return answer;
  },
});

const text = (tools: string, runtime = ""): string => `workflow:
  name: w
  entry_point: a
  runtime:
    mcp_servers: { web: { command: serve, args: [-x], tools: [search], timeout: 500 } }
${runtime}agents:
  - { name: a, prompt: p, working_dir: "{{ workflow.name }}"${tools} }
output: { a: "{{ a.output.result }}" }
`;

async function run(
  file: string,
  script: object,
  tools: AgentTool[],
  mcp: (server: McpServer) => Promise<AgentTool[]>,
) {
  const lab = createLab();
  const { workflow } = await fromText(file, script, { tools, mcp });
  const engine = lab.engine([workflow]);
  await lab.drive(engine.start(workflow, {}, { id: "r" }));
  const { status, error } = await lab.drive(engine.settled("r"));
  const journal = JSON.stringify((await lab.drive(engine.checkpoints.show("r"))).memory);
  return { status, error, journal, engine, lab };
}

describe("tools of a file's servers", () => {
  it("are connected where the agent works, filtered, and named by their server", async () => {
    const [calls, servers]: [string[], McpServer[]] = [[], []];
    const mcp = async (server: McpServer) => {
      servers.push(server);
      return [tool("search", calls), tool("delete", calls)];
    };
    const script = {
      agents: {
        a: [
          {
            calls: [
              { tool: "web__search", input: {} },
              { tool: "web__delete", input: {} },
            ],
          },
          { text: "ok" },
        ],
      },
    };
    expect(await run(text(""), script, [], mcp)).toMatchObject({ status: "completed" });
    expect(calls).toEqual(["search"]);
    expect(servers).toEqual([
      {
        name: "web",
        type: "stdio",
        command: "serve",
        args: ["-x"],
        env: {},
        headers: {},
        tools: ["search"],
        timeoutMs: 500,
        workingDir: "w",
      },
    ]);
  });

  it("are not connected for an agent that wants none, and one that is not there is named", async () => {
    const none = async (): Promise<AgentTool[]> => {
      throw new Error("not to be called");
    };
    expect(await run(text(", tools: []"), {}, [], none)).toMatchObject({ status: "completed" });
    expect(await run(text(", tools: [web__serch]"), {}, [], async () => [tool("search", [])])).toMatchObject({
      status: "failed",
      error: "a asks for the tool web__serch, which isn't available.",
    });
  });

  it("answer no more than the file allows", async () => {
    const script = {
      agents: {
        a: [{ calls: [{ tool: "web__search", input: {} }] }, { when: "is left out.", text: "short" }],
      },
    };
    const limited = text("", "    tool_output: { max_chars: 1000 }\n");
    const { engine, lab } = await run(limited, script, [], async () => [
      tool("search", [], "x".repeat(5_000)),
    ]);
    expect(await lab.drive(engine.result("r"))).toEqual({ a: "short" });
  });
});
