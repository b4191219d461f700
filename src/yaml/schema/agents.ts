import { z } from "zod";
import { outputFields, scalarText } from "./fields.ts";

const text = z.string();
const seconds = z.number().min(1);

export const route = z.strictObject({
  to: text.min(1),
  when: text.nullish(),
  output: z.record(z.string(), text).optional(),
});
export type Route = z.infer<typeof route>;

/** Holdfast's own key: marks a checkpoint when the step has ended, under its name or the given label. */
const point = z.union([
  z.boolean(),
  text.regex(/^(?!\d+$)[^\p{Cc}]{1,128}$/u, "must be a label: a text that isn't a number"),
]);

const common = {
  name: text.min(1),
  checkpoint: point.nullish(),
  description: text.nullish(),
  input: z.array(text).default([]),
};
const routes = z.array(route).default([]);

const retry = z.strictObject({
  max_attempts: z.int().min(1).max(10).default(1),
  backoff: z.enum(["fixed", "exponential"]).default("exponential"),
  delay_seconds: z.number().min(0).max(300).default(2),
  retry_on: z.array(z.enum(["provider_error", "timeout"])).default(["provider_error", "timeout"]),
  max_parse_recovery_attempts: z.int().min(0).max(10).nullish(),
});

const validator = z.strictObject({
  criteria: text.refine((given) => given.trim() !== "", "criteria must not be empty."),
  model: text.nullish(),
  max_retries: z.int().min(0).max(1).default(1),
});

const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** A literal, or a template that renders to one. */
export const effort = z.union([
  z.enum(EFFORTS),
  text.regex(/\{[{%]/, `must be one of ${EFFORTS.join(", ")}`),
]);
export const isEffort = (given: string): given is (typeof EFFORTS)[number] =>
  (EFFORTS as readonly string[]).includes(given);

const agent = z
  .strictObject({
    ...common,
    type: z.literal("agent"),
    provider: text.nullish(),
    model: text.nullish(),
    tools: z.array(text).nullish(),
    system_prompt: text.nullish(),
    prompt: text.default(""),
    output: outputFields.nullish(),
    output_mode: z.enum(["raw", "envelope"]).nullish(),
    routes,
    working_dir: text.nullish(),
    timeout_seconds: seconds.nullish(),
    max_session_seconds: seconds.nullish(),
    max_agent_iterations: z.int().min(1).max(500).nullish(),
    retry: retry.nullish(),
    reasoning: z.strictObject({ effort }).nullish(),
    validator: validator.nullish(),
    skills: z.array(text.min(1)).nullish(),
    session_key: text.min(1).nullish(),
    dialog: z.strictObject({ trigger_prompt: text.min(1) }).nullish(),
    plugins: z.array(z.unknown()).max(0).nullish(),
    context_tier: z.literal("default").nullish(),
  })
  .superRefine((given, issues) => {
    if (given.output_mode !== "raw" || !given.output) return;
    issues.addIssue({
      code: "custom",
      path: ["output_mode"],
      message: "output_mode raw does not go with output.",
    });
  });

const gate = z.strictObject({
  ...common,
  type: z.literal("human_gate"),
  prompt: text.min(1),
  options: z
    .array(
      z.strictObject({
        label: text,
        value: text.min(1),
        route: text.min(1),
        prompt_for: text.nullish(),
        multiline: z.boolean().default(false),
      }),
    )
    .min(1),
  routes,
});

export const question = z
  .strictObject({
    id: text.nullish(),
    text,
    hint: text.nullish(),
    choices: z.array(text).nullish(),
    allow_free_text: z.boolean().default(true),
    default: text.nullish(),
    required: z.boolean().default(false),
    multiline: z.boolean().default(true),
  })
  .refine(({ choices, allow_free_text: isFree }) => isFree || (choices?.length ?? 0) > 0, {
    message: "Nobody can answer it: it has no choices and allows no free text.",
  });

const questions = z
  .strictObject({
    ...common,
    type: z.literal("questions"),
    questions: z.array(question).min(1).nullish(),
    source: text.nullish(),
    prompt: text.default(""),
    allow_back: z.boolean().default(true),
    allow_skip: z.boolean().default(true),
    allow_skip_all: z.boolean().default(true),
    allow_abort: z.boolean().default(false),
    abort_route: text.nullish(),
    routes,
  })
  .superRefine((given, issues) => {
    if (Boolean(given.questions) === Boolean(given.source))
      issues.addIssue({
        code: "custom",
        path: [],
        message: "It needs either questions or source, and not both.",
      });
    if (given.abort_route && !given.allow_abort)
      issues.addIssue({
        code: "custom",
        path: ["abort_route"],
        message: "abort_route needs allow_abort: true.",
      });
  });

const script = z.strictObject({
  ...common,
  type: z.literal("script"),
  command: text.min(1),
  args: z.array(scalarText).default([]),
  env: z.record(z.string(), scalarText).default({}),
  /** Holdfast's own key: environment variables that the command may see, by name. */
  inherit_env: z
    .array(text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable"))
    .default([]),
  working_dir: text.nullish(),
  timeout: z.int().min(1).nullish(),
  stdin: text.nullish(),
  output: outputFields.nullish(),
  /** Holdfast's own key: whether the script may be repeated when the process dies during it. */
  effect: z.enum(["once", "keyed", "repeatable"]).default("once"),
  routes,
});

const set = z
  .strictObject({
    ...common,
    type: z.literal("set"),
    value: scalarText.optional(),
    values: z.record(z.string(), scalarText).nullish(),
    output_type: z.enum(["auto", "string", "number", "integer", "boolean", "list", "dict"]).nullish(),
    output: outputFields.nullish(),
    routes,
  })
  .superRefine((given, issues) => {
    if ((given.value === undefined) === !given.values)
      issues.addIssue({
        code: "custom",
        path: [],
        message: "It needs either value or values, and not both.",
      });
    if (given.values && given.output_type)
      issues.addIssue({ code: "custom", path: ["output_type"], message: "output_type is only for value." });
  });

const wait = z.strictObject({
  ...common,
  type: z.literal("wait"),
  duration: z.union([z.number(), text]),
  reason: text.nullish(),
  routes,
});

const subWorkflow = z.strictObject({
  ...common,
  type: z.literal("workflow"),
  /** A file, or an inline workflow. */
  workflow: z.union([text.min(1), z.record(z.string(), z.unknown())]),
  input_mapping: z.record(z.string(), scalarText).nullish(),
  max_depth: z.int().min(1).max(10).nullish(),
  output: outputFields.nullish(),
  routes,
});

const terminate = z.strictObject({
  ...common,
  type: z.literal("terminate"),
  status: z.enum(["success", "failed"]),
  reason: text.refine((given) => given.trim() !== "", "reason must not be empty."),
  output_template: z.record(z.string(), scalarText).nullish(),
});

export const AGENT_TYPES = {
  agent,
  human_gate: gate,
  questions,
  script,
  set,
  wait,
  workflow: subWorkflow,
  terminate,
} as const;

export type AgentType = keyof typeof AGENT_TYPES;
export type AnyAgent = { [K in AgentType]: z.infer<(typeof AGENT_TYPES)[K]> }[AgentType];
export type AgentOf<K extends AgentType> = z.infer<(typeof AGENT_TYPES)[K]>;
export type Question = z.infer<typeof question>;

export const anyAgent = z.discriminatedUnion("type", [
  agent,
  gate,
  questions,
  script,
  set,
  wait,
  subWorkflow,
  terminate,
]);

const failureMode = z.enum(["fail_fast", "continue_on_error", "all_or_nothing"]).default("fail_fast");

export const parallel = z.strictObject({
  name: text.min(1),
  checkpoint: point.nullish(),
  description: text.nullish(),
  agents: z.array(text).min(2),
  failure_mode: failureMode,
  routes,
});
export type Parallel = z.infer<typeof parallel>;

const RESERVED = ["workflow", "context", "output", "_index", "_key"];

export const forEach = z.strictObject({
  name: text.min(1),
  checkpoint: point.nullish(),
  description: text.nullish(),
  type: z.literal("for_each"),
  source: text.regex(/^[A-Za-z_]\w*(\.[^.]+){2,}$/, "must be a path such as finder.output.items"),
  as: text
    .regex(/^[A-Za-z_]\w*$/, "must be a name of letters, digits and _")
    .refine((given) => !RESERVED.includes(given), `must not be one of ${RESERVED.join(", ")}`),
  agent: anyAgent,
  max_concurrent: z.int().min(1).max(100).default(10),
  failure_mode: failureMode,
  key_by: text.nullish(),
  routes,
});
export type ForEach = z.infer<typeof forEach>;
