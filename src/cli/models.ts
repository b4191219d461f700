import { resolve } from "node:path";
import type { Script } from "../agent/index.ts";
import type { ModelProvider } from "../agent/model.ts";
import { defined } from "../core/defined.ts";
import type { McpConnect, ProviderSettings, ProviderSource } from "../yaml/index.ts";
import type { ConfigValues } from "./config/schema.ts";
import type { Host } from "./host.ts";

type Providers = Readonly<Record<string, ProviderSource>>;
type Configured = NonNullable<ConfigValues["providers"]>[string];
type Ready = ModelProvider | ((settings: ProviderSettings) => ModelProvider);
type Scripted = Extract<Configured, { readonly script: unknown }>;
type Reached = Exclude<Configured, Ready | Scripted>;

/** Providers that only need a key in the environment. */
const KNOWN: Readonly<Record<string, Reached>> = { openai: {}, anthropic: {}, google: {} };

/** The models for YAML workflows: as configured, otherwise the known providers. */
export async function providersOf(
  given: ConfigValues["providers"],
  env: Host["env"],
  root: string,
): Promise<Providers> {
  const { modelProviders } = await import("../adapters/ai-sdk/index.ts");
  const reach =
    (name: string, configured: Reached) =>
    (said: ProviderSettings): ModelProvider => {
      const { api_key, api_key_env, base_url, headers, structured_outputs } = configured;
      const [key, url] = [said.apiKey ?? said.authToken ?? api_key, said.baseUrl ?? base_url];
      const settings = {
        headers: { ...headers, ...said.headers },
        ...defined({
          apiKey: key,
          apiKeyEnv: api_key_env,
          baseURL: url,
          structuredOutputs: structured_outputs,
        }),
      };
      return modelProviders({ [name]: settings }, { env });
    };
  const sourceOf = async (name: string, one: Configured): Promise<ProviderSource> => {
    if (typeof one === "function" || "generate" in one) return one;
    return "script" in one ? scripted(one, root) : reach(name, one);
  };
  const configured = Object.entries<Configured>(given ?? KNOWN);
  return Object.fromEntries(
    await Promise.all(configured.map(async ([name, one]) => [name, await sourceOf(name, one)])),
  );
}

/** Answers from the configuration or a file beside it, to try a workflow without a model. */
async function scripted({ script }: Scripted, root: string): Promise<ModelProvider> {
  const [{ scriptedProvider }, { readData }] = await Promise.all([
    import("../agent/index.ts"),
    import("./config/settings.ts"),
  ]);
  const said = typeof script === "string" ? await readData(resolve(root, script)) : script;
  return scriptedProvider(said as Script, { crash: () => process.kill(process.pid, "SIGKILL") });
}

/** Connects to the MCP servers that a file names. `onEnd` receives a function that closes the connection. */
export const mcpConnect =
  (onEnd: (end: () => Promise<void>) => void): McpConnect =>
  async ({ name, command, args, env, url, headers, timeoutMs, workingDir }) => {
    const { mcpTools } = await import("../adapters/mcp/index.ts");
    const limit = defined({ timeoutMs });
    const place = defined({ cwd: workingDir });
    const server =
      url === undefined
        ? { command: command ?? "", args, env, ...place, ...limit }
        : { url, headers, ...limit };
    const connected = await mcpTools({ [name]: server });
    onEnd(() => connected.close());
    return connected.tools;
  };
