import type { ModelProvider } from "../agent/model.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Flow } from "./flow.ts";
import type { ProviderSettings as Settings } from "./schema/workflow.ts";

/** Endpoint and credentials of a provider, as given under `runtime.provider`. */
export interface ProviderSettings {
  readonly name: string;
  readonly type?: "openai" | "azure" | "anthropic";
  readonly wireApi?: "completions" | "responses";
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly bearerToken?: string;
  readonly authToken?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly apiVersion?: string;
}

/** A provider, or a function that creates one from the file's settings. */
export type ProviderSource = ModelProvider | ((settings: ProviderSettings) => ModelProvider);

/** Names that are tried for a file that names no provider. */
const DEFAULTS = ["default", "copilot"];

/** The providers of a workflow by the names its files use. */
export class Providers {
  readonly #given: Readonly<Record<string, ProviderSource>>;
  readonly #aliases: Readonly<Record<string, string>>;
  readonly #main: Flow;
  readonly #made = new Map<string, ModelProvider>();

  constructor(
    given: Readonly<Record<string, ProviderSource>>,
    aliases: Readonly<Record<string, string>>,
    main: Flow,
    instead?: string,
  ) {
    this.#instead = instead;
    this.#given = given;
    this.#aliases = aliases;
    this.#main = main;
  }

  /** Replaces every provider that files name. */
  readonly #instead: string | undefined;

  /**
   * The provider that the agent names, or else its workflow or the one around it. Throws HF-4008 or HF-4332 when there
   * is none.
   */
  find(
    flow: Flow,
    agent: { readonly name: string; readonly provider?: string | null | undefined },
  ): ModelProvider {
    const name = this.#instead ?? agent.provider;
    const settings = this.#instead === undefined ? (settingsOf(flow) ?? settingsOf(this.#main)) : undefined;
    const asked = name ?? settings?.name;
    const own =
      settings && (!name || name === settings.name) ? settings : asked ? { name: asked } : undefined;
    const key = asked === undefined ? this.#default() : this.#named(asked);
    const source = key === undefined || !Object.hasOwn(this.#given, key) ? undefined : this.#given[key];
    if (!source) {
      const given = [...Object.keys(this.#given), ...Object.keys(this.#aliases)].join(", ") || "none";
      const place = `Agent ${agent.name} of ${flow.file}`;
      if (asked === undefined) throw new HoldfastError("HF-4332", { place, given });
      throw new HoldfastError("HF-4008", { place, provider: asked, given });
    }
    return this.#make(source, flow, own ?? { name: key as string });
  }

  #named(name: string): string {
    return Object.hasOwn(this.#aliases, name) ? (this.#aliases[name] as string) : name;
  }

  #default(): string | undefined {
    const given = Object.keys(this.#given);
    const named = DEFAULTS.map((name) => this.#named(name)).find((name) => given.includes(name));
    return named ?? (given.length === 1 ? given[0] : undefined);
  }

  #make(source: ProviderSource, flow: Flow, settings: Settings): ModelProvider {
    if (typeof source !== "function") {
      // Canned answers use no endpoint, so a file can be tried out with them as it is.
      if (source.name === "scripted") return source;
      const unused = Object.entries(settings).filter(
        ([key, value]) => key !== "name" && value !== null && value !== undefined,
      );
      if (unused.length === 0) return source;
      const names = unused.map(([key]) => key).join(", ");
      throw new HoldfastError("HF-4017", { file: flow.file, provider: settings.name, settings: names });
    }
    const key = `${flow.file}\n${settings.name}`;
    const made = this.#made.get(key) ?? source(plain(settings));
    this.#made.set(key, made);
    return made;
  }
}

function settingsOf(flow: Flow): Settings | undefined {
  const { provider } = flow.spec.workflow.runtime;
  return typeof provider === "string" ? { name: provider } : (provider ?? undefined);
}

function plain(settings: Settings): ProviderSettings {
  const { name, type, wire_api, base_url, api_key, bearer_token, auth_token, headers, azure } = settings;
  return {
    name,
    ...(type ? { type } : {}),
    ...(wire_api ? { wireApi: wire_api } : {}),
    ...(base_url ? { baseUrl: base_url } : {}),
    ...(api_key ? { apiKey: api_key } : {}),
    ...(bearer_token ? { bearerToken: bearer_token } : {}),
    ...(auth_token ? { authToken: auth_token } : {}),
    ...(headers ? { headers } : {}),
    ...(azure?.api_version ? { apiVersion: azure.api_version } : {}),
  };
}
