import { z } from "zod";
import { anyAgent, effort, forEach, parallel } from "./agents.ts";
import { inputField, scalarText } from "./fields.ts";
import { schedule } from "./schedule.ts";
import { seedBlocks } from "./seed-blocks.ts";
import { start } from "./start.ts";

const text = z.string();

/** Settings of a provider's endpoint, passed to providers that are functions. */
const provider = z.strictObject({
  name: text.min(1),
  type: z.enum(["openai", "azure", "anthropic"]).nullish(),
  wire_api: z.enum(["completions", "responses"]).nullish(),
  base_url: text.nullish(),
  api_key: text.nullish(),
  bearer_token: text.nullish(),
  auth_token: text.nullish(),
  headers: z.record(z.string(), text).nullish(),
  azure: z.strictObject({ api_version: text.nullish() }).nullish(),
});

const mcpServer = z
  .strictObject({
    type: z.enum(["stdio", "http", "sse"]).default("stdio"),
    command: text.nullish(),
    args: z.array(scalarText).default([]),
    env: z.record(z.string(), scalarText).default({}),
    url: text.nullish(),
    headers: z.record(z.string(), text).default({}),
    timeout: z.int().min(1).nullish(),
    tools: z.array(text).default(["*"]),
  })
  .superRefine(({ type, command, url }, issues) => {
    const missing = type === "stdio" ? !command && "command" : !url && "url";
    if (missing)
      issues.addIssue({ code: "custom", path: [], message: `A server of type ${type} needs ${missing}.` });
  });

const periodic = z.strictObject({
  every_agent: z.boolean().default(false),
  every_seconds: z.number().min(1).nullish(),
  keep_last: z.int().min(1).max(100).nullish(),
});

const runtime = z.strictObject({
  provider: z.union([text.min(1), provider]).nullish(),
  default_model: text.nullish(),
  mcp_servers: z.record(z.string(), mcpServer).default({}),
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: z.int().min(1).nullish(),
  timeout: z.number().min(1).nullish(),
  max_session_seconds: z.number().min(1).nullish(),
  max_agent_iterations: z.int().min(1).max(500).nullish(),
  default_reasoning_effort: effort.nullish(),
  default_context_tier: z.literal("default").nullish(),
  checkpoint: periodic.nullish(),
  tool_output: z
    .strictObject({
      enabled: z.boolean().default(true),
      max_chars: z.int().min(1000).default(50_000),
      spill_to_file: z.boolean().nullish(),
      spill_dir: z.null().optional(),
    })
    .nullish(),
  working_dir: text.nullish(),
  skills: z.array(text.min(1)).nullish(),
  plugins: z.array(z.unknown()).max(0).nullish(),
});

const context = z.strictObject({
  mode: z.enum(["accumulate", "last_only", "explicit"]).default("accumulate"),
  max_tokens: z.int().min(1).nullish(),
  trim_strategy: z.enum(["truncate", "drop_oldest"]).nullish(),
});

const limits = z.strictObject({
  max_iterations: z.int().min(1).max(500).default(10),
  timeout_seconds: z.int().min(1).nullish(),
  budget_usd: z.number().gt(0).nullish(),
  budget_mode: z.enum(["audit", "enforce"]).default("audit"),
});

const price = z.strictObject({
  input_per_mtok: z.number().min(0),
  output_per_mtok: z.number().min(0),
  cache_read_per_mtok: z.number().min(0).default(0),
  cache_write_per_mtok: z.number().min(0).default(0),
});

const cost = z.strictObject({
  show_per_agent: z.boolean().default(true),
  show_summary: z.boolean().default(true),
  pricing: z.record(z.string(), price).default({}),
});

const hooks = z.strictObject({
  on_start: text.nullish(),
  on_complete: text.nullish(),
  on_error: text.nullish(),
});

/** How runs are kept. Holdfast saves every step anyway; this sets where, for how long, and what a failure means. */
const checkpoint = z.strictObject({
  enabled: z.boolean().nullish(),
  storage: z.enum(["sqlite", "postgres", "redis", "pglite", "file", "memory"]).nullish(),
  path: text.nullish(),
  on_failure: z.enum(["pause", "continue", "rollback"]).default("pause"),
  on_interrupted: z.enum(["rerun", "ask"]).default("rerun"),
  table: z.boolean().default(false),
  retention: z
    .strictObject({
      max_checkpoints: z.int().min(1).nullish(),
      max_age_days: z.number().min(0).nullish(),
      keep_successful: z.union([z.boolean(), z.int().min(0)]).nullish(),
    })
    .nullish(),
  compression: z.boolean().nullish(),
  encryption: z.boolean().nullish(),
  size_limit_mb: z.number().gt(0).nullish(),
  auto_recovery: z.boolean().nullish(),
  max_recovery_attempts: z.int().min(0).nullish(),
  recovery_timeout_seconds: z.number().gt(0).nullish(),
  fallback_to_previous: z.boolean().nullish(),
});

const workflow = z.strictObject({
  name: text.min(1),
  description: text.nullish(),
  version: scalarText.pipe(z.string().min(1).max(64)).optional(),
  entry_point: text.min(1),
  runtime: runtime.prefault({}),
  input: z.record(z.string(), inputField).default({}),
  context: context.prefault({}),
  limits: limits.prefault({}),
  cost: cost.prefault({}),
  hooks: hooks.nullish(),
  metadata: z.record(z.string(), z.unknown()).default({}),
  instructions: z.array(text).default([]),
  checkpoint: checkpoint.prefault({}),
  schedule: schedule.optional(),
  start: start.optional(),
});

/** A whole workflow file. */
export const workflowFile = z.strictObject({
  workflow,
  tools: z.array(text).default([]),
  agents: z.array(anyAgent).default([]),
  parallel: z.array(parallel).default([]),
  for_each: z.array(forEach).default([]),
  output: z.record(z.string(), scalarText).default({}),
  checkpoint_config: seedBlocks.checkpoint_config.optional(),
  recovery_config: seedBlocks.recovery_config.optional(),
  performance_config: seedBlocks.performance_config.optional(),
});

export type WorkflowFile = z.infer<typeof workflowFile>;
export type ProviderSettings = z.infer<typeof provider>;
export type McpServerSettings = z.infer<typeof mcpServer>;
