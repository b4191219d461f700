import { checkMigrations, checkVersion, type Migration } from "./changes/versions.ts";
import type { Context } from "./context.ts";
import { HoldfastError } from "./errors.ts";
import { checkBudget } from "./guards/budget.ts";
import { checkName } from "./names.ts";
import { type CheckpointStrategy, checkStrategy } from "./run/every.ts";
import type { Budget } from "./types.ts";

export interface WorkflowOptions {
  /** Version of the code. Stored with every run; a run of another version is migrated, or waits. Default "1". */
  readonly version?: string;
  /** Version of the shape of loop states and memory. Default 1; a change needs a new `version` too. */
  readonly schema?: number;
  /** How runs of other versions become runs of this one; see {@link Migration}. */
  readonly migrations?: readonly Migration[];
  /** Undo what the run did, in reverse order, when it fails. Such a run cannot be resumed. */
  readonly compensateOnFailure?: boolean;
  /** What each of its runs may use up. Reaching a limit is a wait, which `resume` with a higher one ends. */
  readonly budget?: Budget;
  /** How often its loops save their state, where they do not say it themselves. Default: as the engine says. */
  readonly checkpoint?: CheckpointStrategy;
}

export type WorkflowBody<I, O> = (ctx: Context, input: I) => O | Promise<O>;

/** A named, versioned function whose runs survive crashes. */
export interface Workflow<I = unknown, O = unknown> {
  readonly name: string;
  readonly version: string;
  readonly schema: number;
  readonly migrations: readonly Migration[];
  readonly compensateOnFailure: boolean;
  readonly budget?: Budget | undefined;
  readonly checkpoint?: CheckpointStrategy | undefined;
  // A method, so that workflows of any input fit into one list.
  body(ctx: Context, input: I): O | Promise<O>;
}

/** By its shape, so that a workflow made by another copy of the package is one too. */
export function isWorkflow(value: unknown): value is Workflow {
  if (typeof value !== "object" || value === null) return false;
  const { name, version, body } = value as Partial<Record<keyof Workflow, unknown>>;
  return typeof name === "string" && typeof version === "string" && typeof body === "function";
}

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
export function workflow<I, O>(
  name: string,
  first: WorkflowOptions | WorkflowBody<I, O>,
  second?: WorkflowBody<I, O>,
): Workflow<I, O> {
  const options = typeof first === "function" ? {} : first;
  const body = typeof first === "function" ? first : second;
  checkName(name);
  if (typeof body !== "function")
    throw new HoldfastError("HF-1003", { option: "body", problem: "it is not a function" });
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
    body,
  };
}
