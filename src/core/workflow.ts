import { checkFunction, checkKeys, keysOf } from "./check-options.ts";
import type { InputOptions, Workflow, WorkflowBody, WorkflowOptions } from "./context.ts";
import { checkMigrations, checkVersion } from "./migration.ts";
import { checkName } from "./names.ts";
import { checkBudget, checkStrategy, checkWorkflowTriggers } from "./options.ts";
import { checkSchema, type InputOf, type OutputOf, type StandardSchema } from "./standard-schema.ts";

/** Checked by its shape, so that a workflow made by another copy of the package counts too. */
export function isWorkflow(value: unknown): value is Workflow {
  if (typeof value !== "object" || value === null) return false;
  const { name, version, body } = value as Partial<Record<keyof Workflow, unknown>>;
  return typeof name === "string" && typeof version === "string" && typeof body === "function";
}

const OPTIONS = keysOf<WorkflowOptions & InputOptions>({
  version: true,
  schema: true,
  migrations: true,
  compensateOnFailure: true,
  budget: true,
  checkpoint: true,
  triggers: true,
  children: true,
  input: true,
});

/**
 * Defines a workflow.
 *
 * @example
 * ```ts
 * import { workflow } from "holdfast";
 *
 * export const greet = workflow("greet", async (ctx, input: { name: string }) => {
 *   const text = await ctx.step("compose", () => `Hello ${input.name}`);
 *   await ctx.step("send", ({ key }) => console.log(text, key), { effect: "keyed" });
 *   return text;
 * });
 * ```
 */
export function workflow<I, O>(name: string, body: WorkflowBody<I, O>): Workflow<I, O>;
export function workflow<I, O>(
  name: string,
  options: WorkflowOptions,
  body: WorkflowBody<I, O>,
): Workflow<I, O>;
export function workflow<S extends StandardSchema, O>(
  name: string,
  options: WorkflowOptions & InputOptions<S>,
  body: WorkflowBody<OutputOf<S>, O>,
): Workflow<InputOf<S>, O>;
export function workflow<I, O>(
  name: string,
  first: (WorkflowOptions & Partial<InputOptions>) | WorkflowBody<I, O>,
  second?: WorkflowBody<I, O>,
): Workflow<I, O> {
  const options = typeof first === "function" ? {} : first;
  checkKeys(options, OPTIONS);
  const body = typeof first === "function" ? first : second;
  checkName(name);
  checkFunction("body", body);
  const { version = "1", schema = 1 } = options;
  checkVersion(version, schema);
  return {
    name,
    version,
    schema,
    migrations: checkMigrations(options.migrations),
    compensateOnFailure: options.compensateOnFailure ?? false,
    budget: checkBudget(options.budget),
    checkpoint: checkStrategy(options.checkpoint),
    triggers: checkWorkflowTriggers(options.triggers),
    children: options.children,
    input: checkSchema(options.input),
    body,
  };
}
