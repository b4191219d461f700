import { checkKeys, isRecord, keysOf } from "../core/check-options.ts";
import type { Workflow } from "../core/context.ts";
import { interpretable, type Remote } from "../core/interpretation.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { workflow } from "../core/workflow.ts";
import { fullConfig } from "./config.ts";
import type { AIL, HIL } from "./decide.ts";
import type { DAGEvent } from "./events.ts";
import { dagInterpretation, interpretedDag } from "./interpretation.ts";
import { type Courses, type DAGInput, type DAGOutcome, type DAGSpec, runDag } from "./run-dag.ts";
import { type DAGTools, Toolbox } from "./tools.ts";
import type { DAGStructure, ExecutionConfig } from "./types.ts";

/** What a workflow that executes DAGs needs besides a DAG. */
export interface DAGWorkflowOptions {
  readonly tools: DAGTools;
  /** The DAG of runs whose input has none. */
  readonly dag?: DAGStructure;
  /** Defaults for the configuration of its runs. */
  readonly config?: ExecutionConfig;
  /** The AI in the loop: decides after each layer. */
  readonly ail?: AIL;
  /** The human in the loop: what to ask a person after a layer. */
  readonly hil?: HIL;
  readonly version?: string;
  /** Called with each event, in this process. */
  readonly onEvent?: (event: DAGEvent) => void;
  readonly logger?: Logger;
  /** The time in epoch milliseconds, for the times of tasks and events. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS = keysOf<DAGWorkflowOptions>({
  tools: true,
  dag: true,
  config: true,
  ail: true,
  hil: true,
  version: true,
  onEvent: true,
  logger: true,
  now: true,
});

/**
 * A workflow that executes DAGs, for an engine or the command line. {@link ControlledExecutor} is the same with an
 * engine around it.
 *
 * @example
 * ```ts
 * import { dagWorkflow } from "holdfast/dag";
 *
 * export const report = dagWorkflow("report", {
 *   tools: { search: ({ topic }) => `about ${String(topic)}`, write: (_, { results }) => Object.values(results).join() },
 *   dag: {
 *     tasks: [
 *       { id: "tides", tool: "search", arguments: { topic: "tides" } },
 *       { id: "text", tool: "write", dependsOn: ["tides"] },
 *     ],
 *   },
 * });
 * ```
 */
export const dagWorkflow = (name: string, options: DAGWorkflowOptions): DAGWorkflow =>
  dagProgram(name, options, new Map());

/** The workflow from its description. */
export function interpretDag(described: unknown, remote: Remote): DAGWorkflow {
  const { name, parts } = interpretedDag(described, remote);
  return dagWorkflow(name, parts);
}

/** A DAG as a workflow. */
export type DAGWorkflow = Workflow<DAGInput | undefined, DAGOutcome>;

/** `courses`: where the runs that are being advanced in this process show themselves. */
export function dagProgram(name: string, options: DAGWorkflowOptions, courses: Courses): DAGWorkflow {
  checkKeys(options, OPTIONS);
  const { dag, ail, hil, version = "1", onEvent, logger = silentLogger, now = () => Date.now() } = options;
  const spec: DAGSpec = {
    tools: new Toolbox(options.tools),
    config: options.config ?? {},
    ail,
    hil,
    now,
    courses,
    emit: (event) => onEvent?.(event),
    warn: (message, fields) => logger.warn(message, fields),
  };
  fullConfig(spec.config);
  const made: DAGWorkflow = workflow(name, { version }, (ctx, input) =>
    runDag(ctx, spec, inputOf(input, dag)),
  );
  return interpretable(made, dagInterpretation(name, options));
}

function inputOf(input: DAGInput | undefined, own: DAGStructure | undefined): DAGInput {
  const given: DAGInput = isRecord(input) ? input : {};
  const dag = given.dag ?? own;
  return { ...given, ...(dag ? { dag } : {}) };
}
