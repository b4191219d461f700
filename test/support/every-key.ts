import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type AgentTool, type ModelRequest, type Script, scriptedProvider } from "../../src/agent/index.ts";
import { loadWorkflow, type YamlWorkflow } from "../../src/yaml/index.ts";

/**
 * Workflow files that together use every key of the dialect. A file beside each gives its input and expected result.
 */
const FOLDER = join(import.meta.dirname, "../data/yaml");

export const everyKeyFiles = readdirSync(FOLDER)
  .filter((name) => /^\d\d-.*\.yaml$/.test(name) && !name.endsWith(".expect.yaml"))
  .sort();

export interface Expected {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly script?: Script;
  readonly answers?: readonly { readonly gate: string; readonly choice: string; readonly text?: string }[];
  readonly result?: unknown;
  /** Text that the result as JSON, or the error, must contain. */
  readonly contains?: string;
  readonly error?: string;
  readonly decisions?: readonly string[];
  readonly called?: readonly string[];
  readonly asked?: { readonly agent: string; readonly model: string; readonly prompt: string };
  readonly progress?: string;
}

export const readData = (name: string): unknown =>
  parse(readFileSync(join(FOLDER, name), "utf8"), { logLevel: "error" });

export const expectedOf = (name: string): Expected =>
  readData(name.replace(/\.yaml$/, ".expect.yaml")) as Expected;

/** The file with scripted models and tools that note who calls them. */
export async function loadEveryKey(
  name: string,
  expected: Expected,
): Promise<YamlWorkflow & { readonly asked: ModelRequest[]; readonly called: string[] }> {
  const asked: ModelRequest[] = [];
  const called: string[] = [];
  const scripted = scriptedProvider(expected.script ?? {});
  const tool = (tool: string): AgentTool => ({
    name: tool,
    effect: "repeatable",
    parameters: { type: "object" },
    run: () => {
      called.push(tool);
      return "found";
    },
  });
  const loaded = await loadWorkflow(join(FOLDER, name), {
    providers: {
      main: {
        name: "scripted",
        generate: (request) => {
          asked.push(request);
          return scripted.generate(request);
        },
      },
    },
    aliases: { copilot: "main", claude: "main" },
    env: { PATH: process.env["PATH"], ...expected.env },
    tools: [tool("search")],
    mcp: async (server) => [tool(`${server.name}__read`), tool(`${server.name}__get`)],
  });
  return Object.assign(loaded, { asked, called });
}
