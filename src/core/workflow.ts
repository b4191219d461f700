import type { Context } from "./context.ts";
import { HoldfastError } from "./errors.ts";
import { checkName } from "./scope.ts";

export interface WorkflowOptions {
  /** Stored with every run. */
  readonly version?: string;
  /** Undo what the run did, in reverse order, when it fails. Such a run cannot be resumed. */
  readonly compensateOnFailure?: boolean;
}

export type WorkflowBody<I, O> = (ctx: Context, input: I) => O | Promise<O>;

/** A named, versioned function whose runs survive crashes. */
export interface Workflow<I = unknown, O = unknown> {
  readonly name: string;
  readonly version: string;
  readonly compensateOnFailure: boolean;
  // A method, so that workflows of any input fit into one list.
  body(ctx: Context, input: I): O | Promise<O>;
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
  return {
    name,
    version: options.version ?? "1",
    compensateOnFailure: options.compensateOnFailure ?? false,
    body,
  };
}
