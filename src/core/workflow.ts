import { badOption, checkFlag, checkFunction, checkKeys, keysOf } from "./check-options.ts";
import type { Workflow, WorkflowBody, WorkflowOptions } from "./context.ts";
import type { DeclaredOptions, InputOptions, ResultOf, TypedBody, Undeclared } from "./declared.ts";
import { checkMigrations, checkVersion } from "./migration.ts";
import { checkMemoryKey, checkName, checkSignal } from "./names.ts";
import { checkBudget, checkStrategy, checkWorkflowTriggers } from "./options.ts";
import {
  checkSchema,
  checkSchemas,
  type InputOf,
  type OutputOf,
  type Schemas,
  type StandardSchema,
} from "./standard-schema.ts";

/** Checked by its shape, so that a workflow made by another copy of the package counts too. */
export function isWorkflow(value: unknown): value is Workflow {
  if (typeof value !== "object" || value === null) return false;
  const { name, version, body } = value as Partial<Record<keyof Workflow, unknown>>;
  return typeof name === "string" && typeof version === "string" && typeof body === "function";
}

/** Refuses what wasn't made by `workflow()`. */
export function checkWorkflow(value: unknown): asserts value is Workflow {
  if (!isWorkflow(value)) throw badOption("workflow", "it was not made by workflow()");
  const { children } = value;
  if (children !== undefined && !Array.isArray(children))
    throw badOption("children", "it must be a list of workflows");
}

type AllOptions = WorkflowOptions & Partial<InputOptions> & DeclaredOptions;

type AnyBody = (ctx: never, input: never) => unknown;

const OPTIONS = keysOf<AllOptions>({
  version: true,
  schema: true,
  migrations: true,
  compensateOnFailure: true,
  budget: true,
  checkpoint: true,
  triggers: true,
  children: true,
  schedule: true,
  input: true,
  output: true,
  signals: true,
  memory: true,
});

/**
 * Defines a workflow. With `input`, `output`, `signals` and `memory` it declares what it takes and gives: schemas of any
 * library that follows Standard Schema, which type `ctx` and the handles of its runs, and are checked at the border.
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
  options: WorkflowOptions & Undeclared & { readonly input?: never },
  body: WorkflowBody<I, O>,
): Workflow<I, O>;
export function workflow<A extends StandardSchema, O>(
  name: string,
  options: WorkflowOptions & Undeclared & InputOptions<A>,
  body: WorkflowBody<OutputOf<A>, O>,
): Workflow<InputOf<A>, O>;
export function workflow<
  A extends StandardSchema,
  O extends InputOf<R>,
  S extends Schemas = Schemas,
  M extends Schemas = Schemas,
  R extends StandardSchema = StandardSchema,
>(
  name: string,
  options: WorkflowOptions & DeclaredOptions<S, M, R> & InputOptions<A>,
  body: TypedBody<OutputOf<A>, O, S, M>,
): Workflow<InputOf<A>, ResultOf<R, O>, S>;
export function workflow<
  I,
  O extends InputOf<R>,
  S extends Schemas = Schemas,
  M extends Schemas = Schemas,
  R extends StandardSchema = StandardSchema,
>(
  name: string,
  options: WorkflowOptions & DeclaredOptions<S, M, R> & { readonly input?: never },
  body: TypedBody<I, O, S, M>,
): Workflow<I, ResultOf<R, O>, S>;
export function workflow(
  name: string,
  first: AllOptions | AnyBody,
  second?: AnyBody,
): Workflow<never, unknown> {
  if (typeof first === "function" && second !== undefined)
    throw badOption("options", "they come before the function: workflow(name, options, body)");
  if (first === undefined) checkFunction("body", first);
  const options = typeof first === "function" ? {} : first;
  checkKeys(options, OPTIONS);
  checkFlag("compensateOnFailure", options.compensateOnFailure);
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
    schedule: options.schedule,
    input: checkSchema("input", options.input),
    output: checkSchema("output", options.output),
    signals: checkSchemas("signals", options.signals, checkSignal),
    memory: checkSchemas("memory", options.memory, checkMemoryKey),
    body: body as Workflow<never, unknown>["body"],
  };
}
