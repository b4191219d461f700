import { checkKeys, checkText } from "../core/check-options.ts";
import type { SecretProvider } from "../core/values/secrets.ts";

/**
 * Reads secrets from the environment: `ctx.secret(secret("MAIL_TOKEN"))` returns the value of the variable
 * `MAIL_TOKEN`. `prefix` is put before every name, so that runs can't read other variables.
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
export function envSecrets(options: { readonly prefix?: string } = {}): SecretProvider {
  checkKeys(options, ["prefix"]);
  const prefix = checkText("prefix", options.prefix ?? "");
  return { get: (name) => process.env[prefix + name] };
}
