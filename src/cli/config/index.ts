import type { ConfigInput } from "./schema.ts";

export type { ConfigInput as HoldfastConfig } from "./schema.ts";

/**
 * Defines a configuration with editor support. Use it in `holdfast.config.ts`.
 *
 * @example
 * ```ts
 * import { defineConfig } from "holdfast/config";
 *
 * export const config = defineConfig({
 *   store: "sqlite:./.holdfast/holdfast.db",
 *   retention: { max_checkpoints: 10, max_age_days: 7, keep_successful: true },
 *   profiles: { production: { store: "postgres://db.internal/runs", actor: "nightly" } },
 * });
 * ```
 */
export const defineConfig = (config: ConfigInput): ConfigInput => config;
