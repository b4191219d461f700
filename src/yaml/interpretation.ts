import type { ModelReply, ModelRequest } from "../agent/model.ts";
import { named, remoteProvider } from "../agent/prompt-workflow.ts";
import {
  answerForTool,
  askTool,
  type DescribedTool,
  describeTool,
  remoteTool,
  type ToolRequest,
} from "../agent/remote-tools.ts";
import type { AgentTool } from "../agent/tool.ts";
import type { Workflow } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Interpretation, Remote } from "../core/interpretation.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import { compile } from "./compile.ts";
import { everyFlow, type Flow, readFlow } from "./flow.ts";
import { problemText } from "./problems.ts";
import type { Machine, ScriptRequest, ScriptResult } from "./run/machine.ts";
import { type Definition, savedFiles } from "./source.ts";
import { ToolBox } from "./tools.ts";
import { eachAgent } from "./validate.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A workflow file as data: its texts, and what the machine that started it knows besides. */
interface YamlData {
  readonly definition: Definition;
  /** The variables of its texts. Those that only name servers and keys have no value here: workers have them. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly model: string;
  readonly prices: Machine["prices"];
  /** The names of providers, by place and agent. */
  readonly providers: Readonly<Record<string, string>>;
  readonly tools: readonly DescribedTool[];
}

/** A workflow of the file: its place in the order of all. */
interface InFlow {
  readonly flow: number;
}

interface ModelAsk extends InFlow {
  readonly agent: { readonly name: string; readonly provider?: string | null | undefined };
  readonly request: Omit<ModelRequest, "signal">;
}

/** An MCP server of a file. */
interface Server {
  readonly file: string;
  readonly server: string;
  readonly workingDir?: string;
}

export interface YamlParts {
  readonly flow: Flow;
  readonly machine: Machine;
  readonly tools: readonly AgentTool[];
  readonly definition: Definition;
  readonly env: Env;
}

/** How a workflow file is interpreted elsewhere: models, tools, servers and scripts are called by name. */
export function yamlInterpretation(parts: YamlParts): Interpretation {
  const { flow: main, machine, tools } = parts;
  const flows = [...everyFlow(main)];
  const flowAt = ({ flow }: InFlow): Flow => flows[flow] ?? unknown(`workflow ${flow} in this file`);
  const served = async ({ file, server, workingDir }: Server): Promise<readonly AgentTool[]> => {
    const flow = flows.find(
      ({ file: at, spec }) => at === file && Object.hasOwn(spec.workflow.runtime.mcp_servers, server),
    );
    return machine.toolsFor(flow ?? unknown(`server ${server}`), server, [server], workingDir);
  };
  return {
    kind: "yaml",
    describe: () => describe(parts, flows),
    calls: {
      model: ({ agent, request, ...at }: ModelAsk, { signal }) =>
        machine.provider(flowAt(at), agent).generate({ ...request, signal }),
      script: (request: Omit<ScriptRequest, "signal">, { signal }) => machine.scripts({ ...request, signal }),
      connect: async (server: Server) => (await served(server)).map(describeTool),
      tool: async ({ server, ...request }: ToolRequest & { server?: Server }, call) =>
        answerForTool(named(server ? await served(server) : tools, request.tool), request, call),
    },
  };
}

function unknown(what: string): never {
  throw new HoldfastError("HF-7103", { what });
}

const placeOf = (flow: number, agent: string): string => `${flow}/${agent}`;

async function describe(parts: YamlParts, flows: readonly Flow[]): Promise<YamlData> {
  const { machine, definition, tools } = parts;
  const providers = flows.flatMap((flow, index) =>
    [...eachAgent(flow.spec)].flatMap(([, agent]) =>
      agent.type === "agent"
        ? [[placeOf(index, agent.name), machine.provider(flow, agent).name] as const]
        : [],
    ),
  );
  return {
    definition,
    env: await visibleEnv(parts),
    model: machine.model,
    prices: machine.prices,
    providers: Object.fromEntries(providers),
    tools: tools.map(describeTool),
  };
}

const parsed = async (definition: Definition, env: Env) => {
  const files = savedFiles(definition);
  const main = files.read(definition.main);
  return readFlow(main, { files, env, budget: new ParseBudget(main.name, GENEROUS) });
};

/** What was read once within the limits of its owner is read again without them. */
const GENEROUS = { bytes: Number.MAX_SAFE_INTEGER, keys: Number.MAX_SAFE_INTEGER };

/**
 * The variables that change anything but the settings of providers and servers. Each is tried: what comes of the file
 * when the variable has another value. The rest are credentials and addresses, which workers have themselves.
 */
async function visibleEnv({ flow, definition, env }: YamlParts): Promise<YamlData["env"]> {
  const asked = new Map<string, string>();
  const recording = new Proxy(env, {
    get: (_, name) => {
      const value = env[String(name)];
      if (value !== undefined) asked.set(String(name), value);
      return value;
    },
  });
  await parsed(definition, recording);
  const before = withoutServers(flow);
  const visible: Record<string, string | null> = {};
  for (const [name, value] of asked) {
    const { flow: other } = await parsed(definition, { ...env, [name]: `${value}${OTHER}` });
    visible[name] = !other || withoutServers(other) !== before ? value : null;
  }
  return visible;
}

const OTHER = "\u{F0001}";

/** The file as its steps see it, as text to compare. */
const withoutServers = (main: Flow): string =>
  JSON.stringify(
    [...everyFlow(main)].map(({ spec, instructions, skills }) => {
      const { mcp_servers: servers, provider, ...runtime } = spec.workflow.runtime;
      const name = typeof provider === "object" ? provider?.name : provider;
      return [
        { ...spec, workflow: { ...spec.workflow, runtime } },
        Object.keys(servers),
        name,
        instructions,
        [...skills],
      ];
    }),
  );

/** The workflow from its description. */
export async function interpretYaml(described: unknown, remote: Remote): Promise<Workflow<never, unknown>> {
  const data = described as YamlData;
  const { definition, env } = data;
  const known = Object.entries(env).map(([name, value]) => [name, value ?? "(withheld)"]);
  const { flow, problems } = await parsed(definition, Object.fromEntries(known));
  if (!flow) {
    const errors = problems.filter(({ severity }) => severity === "error").map(problemText);
    throw new HoldfastError("HF-4001", { file: definition.main, problems: errors.join("\n") });
  }
  return compile(flow, remoteMachine(flow, data, remote), definition) as Workflow<never, unknown>;
}

function remoteMachine(
  main: Flow,
  { definition, model, prices, providers, tools }: YamlData,
  remote: Remote,
): Machine {
  const flows = [...everyFlow(main)];
  const given = tools.map((tool) => remoteTool(tool, askTool(remote)));
  const box = new ToolBox(given, async ({ name, workingDir }, file) => {
    const server: Server = { file, server: name, ...(workingDir === undefined ? {} : { workingDir }) };
    const found = await remote<readonly DescribedTool[]>("connect", server);
    return found.map((tool) => remoteTool(tool, askTool(remote, { server })));
  });
  return {
    folder: definition.folder,
    model,
    prices,
    provider(of, { name, provider }) {
      const flow = flows.indexOf(of);
      const agent = { name, provider };
      return remoteProvider(providers[placeOf(flow, name)] ?? "", (request) =>
        remote<ModelReply>("model", { flow, agent, request } satisfies ModelAsk),
      );
    },
    toolsFor: (of, step, wanted, workingDir) => box.for(of, step, wanted, workingDir),
    scripts: ({ signal: _, ...request }) => remote<ScriptResult>("script", request),
  };
}
