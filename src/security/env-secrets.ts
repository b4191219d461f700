import type { SecretProvider } from "../core/values/secrets.ts";

/**
 * Secrets from the environment: `ctx.secret(secret("MAIL_TOKEN"))` gives what the variable `MAIL_TOKEN` holds. `prefix` is put before
 * every name, so that runs can ask for nothing else.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { envSecrets } from "holdfast/security";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * export const engine = createEngine({ store: createMemoryStore(), secrets: envSecrets({ prefix: "AGENT_" }) });
 * ```
 */
export function envSecrets({ prefix = "" }: { readonly prefix?: string } = {}): SecretProvider {
  return { get: (name) => process.env[prefix + name] };
}
