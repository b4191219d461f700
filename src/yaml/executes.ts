import { ParseBudget } from "../core/values/parse-budget.ts";
import { type Flow, readFlow } from "./flow.ts";
import { problemText } from "./problems.ts";
import { type Definition, FileProblem, savedFiles } from "./source.ts";
import { eachAgent } from "./validate.ts";

/** The commands that a workflow file would start on this machine, and the servers that it would reach. */
export interface Executes {
  /** Commands of its scripts with their arguments, as written in the file. */
  readonly scripts: readonly { readonly agent: string; readonly command: string }[];
  /** MCP servers: commands that are started, or addresses. */
  readonly servers: readonly { readonly name: string; readonly command: string }[];
  /** Tools that its agents name. */
  readonly tools: readonly string[];
  /** Why the file couldn't be read; in that case it can't be run either. */
  readonly problems: readonly string[];
}

/**
 * Lists what the saved definition of a run would start, including its sub-workflows, without running any of it. Use it
 * to inspect runs that came from elsewhere: see `engine.transfer.review`.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { DEFINITION_KEY, type Definition, executesOf } from "holdfast/yaml";
 *
 * export async function startsNothing(engine: Engine, runId: string): Promise<boolean> {
 *   const { memory } = await engine.transfer.review(runId);
 *   const { scripts, servers } = await executesOf(memory[DEFINITION_KEY] as Definition);
 *   return scripts.length === 0 && servers.length === 0;
 * }
 * ```
 */
export async function executesOf(definition: Definition): Promise<Executes> {
  const files = savedFiles(definition);
  try {
    const main = files.read(definition.main);
    const budget = new ParseBudget(main.name);
    const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
    const { flow, problems } = await readFlow(main, { files, env: NAMES, budget, pause });
    const errors = problems.filter(({ severity }) => severity === "error").map(problemText);
    return flow ? listed(flow) : { ...NOTHING, problems: errors };
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return { ...NOTHING, problems: [error.message] };
  }
}

/** Shows every environment variable by its name, because a list must not reveal its value. */
const NAMES = new Proxy<Record<string, string>>({}, { get: (_, name) => `$${String(name)}` });

const NOTHING: Executes = { scripts: [], servers: [], tools: [], problems: [] };

function listed(main: Flow): Executes {
  const [scripts, servers, tools] = [[], [], new Set<string>()] as [
    Executes["scripts"][number][],
    Executes["servers"][number][],
    Set<string>,
  ];
  const seen = new Set<Flow>();
  const look = (flow: Flow): void => {
    if (seen.has(flow)) return;
    seen.add(flow);
    for (const [name, { command, args, url }] of Object.entries(flow.spec.workflow.runtime.mcp_servers))
      servers.push({ name, command: command ? line(command, args) : (url ?? "") });
    for (const [, agent] of eachAgent(flow.spec)) {
      if (agent.type === "script")
        scripts.push({ agent: agent.name, command: line(agent.command, agent.args) });
      if ("tools" in agent && Array.isArray(agent.tools)) for (const tool of agent.tools) tools.add(tool);
    }
    for (const sub of flow.subs.values()) look(sub);
  };
  look(main);
  return { scripts, servers, tools: [...tools], problems: [] };
}

const line = (command: string, args: readonly string[]): string => [command, ...args].join(" ");
