import type { ModelProvider, ModelRequest } from "../../agent/model.ts";
import { badOption, checkKeys, checkObject } from "../../core/check-options.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { loadPackage } from "../load-package.ts";
import type { LanguageModel } from "./language-model.ts";
import { askModel, checkModel } from "./provider.ts";

/** Settings for reaching a provider. */
export interface ProviderSettings {
  /** Default: from the environment variable of the provider. */
  readonly apiKey?: string;
  /** The environment variable that holds the key. An unknown provider needs a key only if this is set. */
  readonly apiKeyEnv?: string;
  /** The address, required for unknown providers, which must speak OpenAI's protocol. */
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For unknown providers: whether they accept a JSON schema for the answer. Default true. */
  readonly structuredOutputs?: boolean;
}

/** Options of `modelProviders`. */
export interface ModelProvidersOptions {
  /** Aliases: `claude: "anthropic"` for a provider, `fast: "openai/gpt-5-mini"` for a model. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The environment for keys. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

type Make = (model: string) => unknown;

interface Kind {
  readonly variables: readonly string[];
  load(settings: ProviderSettings & { readonly name: string }): Promise<Make>;
}

const KINDS: Readonly<Record<string, Kind>> = {
  openai: {
    variables: ["OPENAI_API_KEY"],
    async load(settings) {
      const load = () => import("@ai-sdk/openai");
      return (await loadPackage("@ai-sdk/openai", "Provider openai", load)).createOpenAI(reached(settings));
    },
  },
  anthropic: {
    variables: ["ANTHROPIC_API_KEY"],
    async load(settings) {
      const load = () => import("@ai-sdk/anthropic");
      const { createAnthropic } = await loadPackage("@ai-sdk/anthropic", "Provider anthropic", load);
      return createAnthropic(reached(settings));
    },
  },
  google: {
    variables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    async load(settings) {
      const load = () => import("@ai-sdk/google");
      const { createGoogleGenerativeAI } = await loadPackage("@ai-sdk/google", "Provider google", load);
      return createGoogleGenerativeAI(reached(settings));
    },
  },
};

const COMPATIBLE: Kind = {
  variables: [],
  async load({ name, baseURL = "", structuredOutputs = true, ...settings }) {
    const load = () => import("@ai-sdk/openai-compatible");
    const { createOpenAICompatible } = await loadPackage(
      "@ai-sdk/openai-compatible",
      `Provider ${name}`,
      load,
    );
    const shared = { name, baseURL, supportsStructuredOutputs: structuredOutputs };
    return createOpenAICompatible({ ...reached(settings), ...shared });
  },
};

function reached({ apiKey, baseURL, headers }: ProviderSettings): {
  apiKey?: string;
  baseURL?: string;
  headers?: Record<string, string>;
} {
  return {
    ...defined({ apiKey, baseURL }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
  };
}

/**
 * Models by `provider/model`, through the AI SDK. A provider's package and key are loaded when one of its models is
 * first used. Names other than `openai`, `anthropic` and `google` are servers that speak OpenAI's protocol. Your own
 * providers can be listed too.
 *
 * @example
 * ```ts
 * import { modelProviders } from "holdfast/adapters/ai-sdk";
 *
 * export const provider = modelProviders(
 *   { openai: {}, anthropic: {}, local: { baseURL: "http://127.0.0.1:11434/v1" } },
 *   { aliases: { claude: "anthropic", cheap: "local/llama3.2" } },
 * );
 * ```
 */
export function modelProviders(
  providers: Readonly<Record<string, ProviderSettings | ModelProvider>>,
  options: ModelProvidersOptions = {},
): ModelProvider {
  checkObject("providers", providers);
  checkKeys(options, ["aliases", "env"]);
  const { aliases = {}, env = process.env } = options;
  const known = Object.keys(providers);
  for (const [name, given] of Object.entries(providers)) checkAddress(name, given);
  const loaded = new Map<string, Promise<Make>>();
  return {
    name: "models",
    resolve: (model) => resolveModel(model, known, aliases),
    async generate(request) {
      const { provider, model } = resolveModel(request.model, known, aliases);
      const given = providers[provider] as ProviderSettings | ModelProvider;
      if ("generate" in given) return given.generate({ ...request, model });
      let making = loaded.get(provider);
      if (!making) {
        making = load(provider, given, env);
        loaded.set(provider, making);
        // By the next call, the missing package may be installed or the key set.
        making.catch(() => loaded.delete(provider));
      }
      return ask((await making)(model), request);
    },
  };
}

const kindOf = (name: string): Kind => (Object.hasOwn(KINDS, name) ? (KINDS[name] as Kind) : COMPATIBLE);

function checkAddress(name: string, given: ProviderSettings | ModelProvider): void {
  checkObject(name.slice(0, 40), given);
  if ("generate" in given || kindOf(name) !== COMPATIBLE || given.baseURL) return;
  throw badOption(`${name}.baseURL`, "the provider's address is needed");
}

function ask(model: unknown, request: ModelRequest): ReturnType<ModelProvider["generate"]> {
  checkModel(request.model, model);
  return askModel(model satisfies LanguageModel, request);
}

/** Resolves a name to provider and model using the aliases; a bare name is a model of the only provider. */
function resolveModel(
  name: string,
  known: readonly string[],
  aliases: Readonly<Record<string, string>>,
): { readonly provider: string; readonly model: string } {
  const refuse = (problem: string) =>
    new HoldfastError("HF-4106", { model: name, problem, known: known.join(", ") });
  const alias = (one: string): string => (Object.hasOwn(aliases, one) ? (aliases[one] as string) : one);
  const full = alias(name);
  const slash = full.indexOf("/");
  const first = slash < 0 ? undefined : alias(full.slice(0, slash));
  if (first !== undefined && known.includes(first)) return { provider: first, model: full.slice(slash + 1) };
  const [only] = known;
  if (known.length === 1 && only !== undefined) return { provider: only, model: full };
  throw refuse(first === undefined ? "it names no provider" : `there is no provider ${first}`);
}

function load(
  name: string,
  settings: ProviderSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Make> {
  const kind = kindOf(name);
  const apiKey = keyOf(name, settings, kind, env);
  return kind.load({ ...settings, name, ...defined({ apiKey }) });
}

function keyOf(
  provider: string,
  { apiKey, apiKeyEnv }: ProviderSettings,
  { variables }: Kind,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const names = apiKeyEnv === undefined ? variables : [apiKeyEnv];
  const found = apiKey ?? names.map((name) => env[name]).find((key) => key !== undefined && key !== "");
  if (found !== undefined && found !== "") return found;
  if (names.length === 0) return undefined;
  throw new HoldfastError("HF-4105", { provider, variable: names[0] as string });
}
