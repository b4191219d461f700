import type { Workflow } from "./context.ts";
import type { Effect } from "./types.ts";

/**
 * How a workflow is advanced where its functions are not, such as inside Temporal's sandbox: an interpreter makes it
 * again from plain data, and asks for every call of a function by name.
 */
export interface Interpretation {
  /** The interpreter. */
  readonly kind: "agent" | "dag" | "yaml";
  /** Everything about the workflow that is plain data. It travels with each run. */
  describe(): unknown;
  /** The functions, by the names under which the interpreter asks for them. */
  readonly calls: Readonly<Record<string, (args: never, call: RemoteCall) => unknown>>;
}

/** What a function is told that an interpreter elsewhere has asked for. */
export interface RemoteCall {
  readonly runId: string;
  /** The step that it is called for; "" outside of steps. */
  readonly step: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly key: string;
  readonly effect: Effect;
  readonly signal: AbortSignal;
}

/** Asks for a call of a function by name. Arguments and result are values that the codec takes. */
export type Remote = <T>(name: string, args: unknown) => Promise<T>;

/** For every copy of the package in a process. */
const INTERPRETATION = Symbol.for("holdfast.interpretation");

/** Says how the workflow is interpreted. */
export function interpretable<W extends Workflow<never, unknown>>(workflow: W, how: Interpretation): W {
  return Object.defineProperty(workflow, INTERPRETATION, { value: how });
}

/** How the workflow is interpreted; `undefined` when it is a function with closures, and only Node can run it. */
export const interpretationOf = (workflow: Workflow<never, unknown>): Interpretation | undefined =>
  (workflow as { [INTERPRETATION]?: Interpretation })[INTERPRETATION];
