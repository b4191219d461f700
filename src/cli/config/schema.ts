import { z } from "zod";
import type { ModelProvider } from "../../agent/model.ts";
import type { Workflow } from "../../core/context.ts";
import { TRIGGERS } from "../../core/options.ts";
import type { Keyring } from "../../security/index.ts";
import type { ProviderSettings } from "../../yaml/index.ts";
import { seedBlocks } from "../../yaml/schema/seed-blocks.ts";
import { alertsBlock } from "./alerts-block.ts";
import { auditBlock } from "./audit-block.ts";
import { serverBlock } from "./server-block.ts";

const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d|w)$/;
const SIZE = /^\d+(?:\.\d+)?\s*(?:B|KB|MB|GB)$/i;

const duration = z.union([
  z.number().nonnegative().describe("milliseconds"),
  z.string().regex(DURATION, 'must be a number with a unit, such as "15s" or "10m"'),
]);

const isWorkflow = (value: unknown): value is Workflow<never, unknown> =>
  typeof value === "object" && value !== null && "name" in value && "body" in value;

const isProvider = (value: unknown): boolean =>
  typeof value === "function" || (typeof value === "object" && value !== null && "generate" in value);

const settings = {
  store: z
    .string()
    .describe(
      "Where runs are kept: sqlite:./runs.db, postgres://…, redis://…, pglite:./folder, file:./folder",
    ),
  enabled: z.boolean().describe("false: nothing is saved; runs work, and are gone with the process"),
  storage: z
    .enum(["sqlite", "postgres", "redis", "pglite", "file", "memory"])
    .describe("Kind of store, together with path; store comes before it"),
  path: z
    .string()
    .min(1)
    .describe("File or folder for sqlite, pglite and file; ${workflow.name} stands for the workflow"),
  on_failure: z
    .enum(["pause", "continue", "rollback"])
    .describe(
      "pause: saved, resumable · continue: the next agent if routes allow · rollback: what was done is undone",
    ),
  retention: z
    .union([
      z.enum(["default", "seed0", "dag", "conductor", "agentic", "forever"]),
      z.strictObject({
        max_checkpoints: z
          .number()
          .int()
          .positive()
          .optional()
          .describe("restorable checkpoints of all runs of a workflow"),
        max_checkpoints_per_phase: z.number().int().positive().optional(),
        max_age_days: z
          .number()
          .nonnegative()
          .optional()
          .describe("days that a checkpoint, and an ended run, stays"),
        on_expiry: z.enum(["keep-record", "delete"]).optional().describe("what happens to a run of that age"),
        tombstone: z.boolean().optional().describe("whether a deleted run leaves a line"),
        keep_successful: z.union([z.boolean(), z.number().int().positive()]).optional(),
        cache_ttl: duration.optional().describe("how long copies stay in the cache of a tiered: store"),
      }),
    ])
    .describe("How long values are kept; the record of what happened stays"),
  compression: z
    .union([z.boolean(), z.number().int().min(1).max(9)])
    .describe("Compress stored values; 1 to 9 sets how hard"),
  encryption: z
    .union([
      z.boolean(),
      z.strictObject({
        key_file: z.string().describe("file with the keys, readable by you alone"),
        accept_plain: z.boolean().optional(),
      }),
      z.strictObject({
        keyring: z.custom<Keyring>(
          (value) => typeof value === "object" && value !== null,
          "must be a keyring",
        ),
        accept_plain: z.boolean().optional(),
      }),
    ])
    .describe("true: with the keys in HOLDFAST_KEYS; or a key file; or a keyring"),
  size_limit: z
    .union([z.number().positive(), z.string().regex(SIZE, 'must be bytes, or a text such as "100MB"')])
    .describe("Largest value that is saved"),
  auto_recovery: z.boolean().describe("false: a run whose process died waits for a person"),
  max_recovery_attempts: z
    .number()
    .int()
    .nonnegative()
    .describe("Takeovers without progress before a run waits for review"),
  recovery_timeout: duration.describe("A recovered run that writes nothing for this long waits for review"),
  fallback_to_previous: z.boolean().describe("Use the previous snapshot when one is damaged"),
  on_unrestorable: z
    .enum(["park", "fresh"])
    .describe(
      "park: a run that can't be restored waits for a person · fresh: it starts over as a new run, which lists what may happen twice",
    ),
  async_writes: z
    .boolean()
    .describe("true: repeatable steps continue while the store fails; other steps always wait for it"),
  triggers: z
    .union([
      z.literal(false),
      z.array(z.enum(TRIGGERS)),
      z.strictObject({
        confidence: z.number().min(0).max(1).optional(),
        memory_pressure: z.number().min(0).max(1).optional(),
        errors: z.boolean().optional(),
      }),
    ])
    .describe("When checkpoints are saved automatically"),
  claim: duration.describe("How long a run stays with a process that no longer responds"),
  workflows: z
    .array(
      z.union([
        z.string().describe("file that has workflows"),
        z.custom<Workflow<never, unknown>>(isWorkflow, "must be a file or a workflow"),
      ]),
    )
    .describe("Workflows that run and resume find by name"),
  providers: z
    .record(
      z.string(),
      z.union([
        z.strictObject({
          api_key: z.string().optional(),
          api_key_env: z.string().optional().describe("variable that holds the key"),
          base_url: z.string().optional().describe("address of a service that speaks OpenAI's protocol"),
          headers: z.record(z.string(), z.string()).optional(),
          structured_outputs: z.boolean().optional(),
        }),
        z.strictObject({
          script: z
            .union([z.string(), z.record(z.string(), z.unknown())])
            .describe("scripted answers instead of a model, or the JSON or YAML file with them"),
        }),
        z.custom<ModelProvider | ((settings: ProviderSettings) => ModelProvider)>(
          isProvider,
          "must be a provider",
        ),
      ]),
    )
    .describe(
      "Providers for YAML workflows; default: openai, anthropic and google, with their keys in the environment",
    ),
  aliases: z.record(z.string(), z.string()).describe("Other names for providers, such as copilot: openai"),
  actor: z.string().min(1).describe("Who acts, for the record; every act then needs a reason"),
  require_reason: z.boolean().describe("Whether acts need --reason; default: when an actor is configured"),
  agent_consent: z
    .boolean()
    .describe("false: coding agents may do things that can't be undone without asking"),
  access: z
    .enum(["open", "required"])
    .describe("required: commands on stored runs need a token with the right role, in HOLDFAST_TOKEN"),
  audit: auditBlock,
  server: serverBlock,
  alerts: alertsBlock,
  ui: z.enum(["auto", "live", "lines", "none"]).describe("How a running run is shown"),
  ...seedBlocks,
};

const optional = <T extends Record<string, z.ZodType>>(shape: T): { [K in keyof T]: z.ZodOptional<T[K]> } =>
  Object.fromEntries(Object.entries(shape).map(([key, type]) => [key, type.optional()])) as {
    [K in keyof T]: z.ZodOptional<T[K]>;
  };

/** The schema of a configuration file. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  ...optional(settings),
  profiles: z
    .record(z.string(), z.strictObject(optional(settings)))
    .optional()
    .describe("Values to use with --profile <name>"),
});

/** The configuration of the command line. */
export type ConfigInput = z.input<typeof configSchema>;
export type ConfigValues = Omit<ConfigInput, "$schema" | "profiles">;

export const SETTING_KEYS: readonly string[] = Object.keys(settings);

/** For editors: put it beside the configuration and name it in `$schema`. */
export const jsonSchema = (): object =>
  z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any", target: "draft-2020-12" });
