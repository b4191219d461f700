import { badOption, checkKeys, keysOf } from "../core/check-options.ts";
import { defined } from "../core/defined.ts";
import { createEngine, type Engine } from "../core/engine/engine.ts";
import type { RunHandle } from "../core/engine/run-handle.ts";
import { HoldfastError } from "../core/errors.ts";
import type { NamedAct } from "../core/journal/act.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { BY_HAND } from "../core/outside-workflows.ts";
import type { Store } from "../core/store/contract.ts";
import { CheckpointManager } from "./checkpoint-manager.ts";
import { checkCommand } from "./commands.ts";
import { type FullConfig, fullConfig } from "./config.ts";
import { Course } from "./course.ts";
import type { AIL, HIL } from "./decide.ts";
import { type DAGEvent, type DAGEventOf, DAGEvents, type DAGEventType } from "./events.ts";
import { diffDags, validateDag } from "./graph.ts";
import { Pruner } from "./pruner.ts";
import { type Found, findCheckpointById, readHeld } from "./restore.ts";
import { COMMANDS, type Courses, type DAGInput, type DAGOutcome, REPLAN, type Replan } from "./run-dag.ts";
import { type Held, stateOf } from "./state.ts";
import { type DAGTools, Toolbox } from "./tools.ts";
import type { DAGCommand, DAGExecutionResult, DAGStructure, ExecutionConfig } from "./types.ts";
import { warningsOf } from "./warnings.ts";
import { dagProgram } from "./workflow.ts";

/** Options of an executor. */
export interface ControlledExecutorOptions {
  readonly tools: DAGTools;
  /** Where workflows are kept. The executor makes an engine on it; `close` closes the engine, not the store. */
  readonly store?: Store;
  /** An engine of your own, instead of a store. */
  readonly engine?: Engine;
  /** The name of the workflow that its runs have. Default `dag`. */
  readonly name?: string;
  readonly version?: string;
  readonly config?: ExecutionConfig;
  /** The AI in the loop: decides after each layer. */
  readonly ail?: AIL;
  /** The human in the loop: what to ask a person after a layer. */
  readonly hil?: HIL;
  readonly logger?: Logger;
  /** The time in epoch milliseconds, for the times of tasks and events. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS = keysOf<ControlledExecutorOptions>({
  tools: true,
  store: true,
  engine: true,
  name: true,
  version: true,
  config: true,
  ail: true,
  hil: true,
  logger: true,
  now: true,
});

/** Options of `execute`. */
export interface ExecuteOptions {
  /** The id of the run. The same id means the same run. */
  readonly id?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly messages?: readonly unknown[];
  /** Overrides the executor's configuration. */
  readonly config?: ExecutionConfig;
}

/** Options of `resumeFromCheckpoint`. */
export interface ResumeFromCheckpointOptions {
  /** Goes on with this DAG. Each difference from the saved one is warned about; finished tasks stay finished. */
  readonly dag?: DAGStructure;
  /** `fork` makes a new run, even from the newest checkpoint. Default: only if the workflow has gone on since. */
  readonly as?: "fork";
  readonly actor?: string;
  readonly reason?: string;
}

/**
 * Executes DAGs in layers, saves a checkpoint after each layer, and resumes from any of them.
 *
 * @example
 * ```ts
 * import { ControlledExecutor } from "holdfast/dag";
 * import { openPgliteStore } from "holdfast/stores/pglite";
 *
 * const executor = new ControlledExecutor({
 *   store: await openPgliteStore({ folder: "./runs" }),
 *   tools: { search: ({ topic }) => `about ${String(topic)}`, write: (_, { results }) => Object.values(results).join() },
 * });
 * executor.on("checkpoint_saved", ({ checkpoint_id }) => console.log(checkpoint_id));
 * const result = await executor.execute({
 *   tasks: [
 *     { id: "tides", tool: "search", arguments: { topic: "tides" } },
 *     { id: "text", tool: "write", dependsOn: ["tides"] },
 *   ],
 * });
 * console.log(result.results["text"]);
 * await executor.close();
 * ```
 */
export class ControlledExecutor {
  /** The engine that advances the runs: for gates, pauses, forks and reports. */
  readonly engine: Engine;
  readonly checkpointManager: CheckpointManager;
  readonly #isOwn: boolean;
  readonly #tools: Toolbox;
  readonly #config: FullConfig;
  readonly #events = new DAGEvents();
  readonly #courses: Courses = new Map();
  readonly #workflow: ReturnType<typeof dagProgram>;
  readonly #name: string;
  readonly #now: () => number;
  readonly #logger: Logger;
  readonly #pruner: Pruner;
  /** The runs that have made themselves heard here. */
  readonly #seen = new Set<string>();
  /** Tasks that were sent from here, and may not have been added yet. */
  readonly #coming = new Map<string, Set<string>>();
  #newest: string | undefined;

  constructor(options: ControlledExecutorOptions) {
    checkKeys(options, OPTIONS);
    const { store, engine, name = "dag", logger = silentLogger, now = () => Date.now(), ...rest } = options;
    this.#config = fullConfig(options.config);
    this.#isOwn = engine === undefined;
    this.#name = name;
    this.#now = now;
    this.#logger = logger;
    this.#tools = new Toolbox(options.tools);
    const { tools, ail, hil, version } = rest;
    const program = {
      tools,
      now,
      logger,
      config: this.#config,
      onEvent: (event: DAGEvent) => this.#heard(event),
    };
    this.#workflow = dagProgram(name, { ...program, ...defined({ ail, hil, version }) }, this.#courses);
    this.engine = engine ?? ownEngine(store, this.#config, logger);
    this.engine.register(this.#workflow);
    this.checkpointManager = new CheckpointManager(this.engine, { workflows: [name], config: this.#config });
    this.#pruner = new Pruner(this.checkpointManager, this.#config.keepCheckpoints);
    this.engine.on("checkpoint_failed", ({ runId, at, error }) => {
      if (!this.#seen.has(runId)) return;
      this.#events.emit({ type: "checkpoint_failed", workflow_id: runId, timestamp: at, error });
    });
  }

  #heard(event: DAGEvent): void {
    if (event.type === "workflow_completed" || event.type === "workflow_aborted")
      this.#coming.delete(event.workflow_id);
    this.#seen.add(event.workflow_id);
    if (event.type === "checkpoint_saved") this.#pruner.saved(event.workflow_id, event.bytes);
    this.#events.emit(event);
  }

  /** Executes a DAG to its end. Refuses one that can't be executed before anything is run (HF-4550 to HF-4556). */
  async execute(dag: DAGStructure, options: ExecuteOptions = {}): Promise<DAGExecutionResult> {
    const run = await this.start(dag, options);
    return this.result(run.id);
  }

  /** Starts a DAG, and resolves when that is durable. */
  async start(dag: DAGStructure, { id, ...input }: ExecuteOptions = {}): Promise<RunHandle<DAGOutcome>> {
    this.#check(dag);
    const config = fullConfig({ ...this.#config, ...input.config });
    const run = await this.engine.start(this.#workflow, { dag, ...input, config }, defined({ id }));
    this.#newest = run.id;
    this.#seen.add(run.id);
    this.#pruner.keep(run.id, config.keepCheckpoints);
    return run;
  }

  #check(dag: DAGStructure): void {
    validateDag(dag);
    for (const task of dag.tasks) this.#tools.check(task);
  }

  /** The outcome of a workflow, once it has ended. */
  async result(workflowId: string): Promise<DAGExecutionResult> {
    try {
      await this.engine.result(workflowId);
    } catch (error) {
      this.#pruner.ended(workflowId);
      this.#events.emit({ type: "workflow_failed", workflow_id: workflowId, timestamp: this.#now(), error });
      throw error;
    }
    this.#pruner.ended(workflowId);
    const held = await readHeld(this.engine.checkpoints, workflowId, workflowId);
    if (!held)
      throw new HoldfastError("HF-4560", { checkpoint: workflowId, reason: "Its values were dropped." });
    return resultOf(workflowId, held);
  }

  /**
   * Restores the state, the DAG and the configuration of a checkpoint and executes the remaining layers. From the
   * newest checkpoint of a workflow that hasn't ended, the same run goes on, and nothing that it has finished since
   * runs again. From an earlier one a new run is made (a fork), so that the original stays as it is. Throws HF-4560
   * when there is no such checkpoint, and HF-4561 when its state can't be used.
   */
  async resumeFromCheckpoint(
    checkpointId: string,
    options: ResumeFromCheckpointOptions = {},
  ): Promise<DAGExecutionResult> {
    const workflows = [this.#name, BY_HAND];
    const found = await findCheckpointById(this.engine, workflows, checkpointId, { isContinued: true });
    const replan = options.dag ? this.#replan(found, options.dag) : undefined;
    const runId = await this.#goOn(found, replan, options);
    this.#newest = runId;
    this.#seen.add(runId);
    this.#pruner.keep(runId, found.held.config.keepCheckpoints);
    return this.result(runId);
  }

  /** The DAG to go on with, if it is another one. Warns about each difference. */
  #replan({ held, run, layer }: Found, dag: DAGStructure): Replan | undefined {
    this.#check(dag);
    const done = new Set(held.tasks.map(({ taskId }) => taskId));
    const warnings = warningsOf(diffDags(held.dag, dag), (id) => (done.has(id) ? "completed" : "pending"));
    if (warnings.length === 0) return undefined;
    for (const { taskId, message } of warnings)
      this.#logger.warn("the DAG differs from the checkpoint's", { runId: run.id, layer, taskId, message });
    return { id: globalThis.crypto.randomUUID(), dag, at: this.#now() };
  }

  /** The run that goes on from there: the same one or a new one. */
  async #goOn(
    { run, address, held, isNewest }: Found,
    replan: Replan | undefined,
    { as, actor, reason }: ResumeFromCheckpointOptions,
  ): Promise<string> {
    const { id: runId, workflow, status } = run;
    const act = defined({ actor, reason });
    const set = replan ? { set: { memory: { [REPLAN]: replan } } } : {};
    if (workflow === BY_HAND) return (await this.#startFrom(held, replan?.dag ?? held.dag)).id;
    const isOver = status === "cancelled" || (status === "completed" && replan !== undefined);
    if (!isNewest || isOver || as === "fork") return (await this.engine.fork(address, { ...set, ...act })).id;
    if (status === "failed" || status === "paused") await this.engine.resume(runId, { ...set, ...act });
    // It is under way, here or elsewhere, or waits for something.
    else if (replan && status !== "completed")
      await this.enqueueCommand({ type: "replan_dag", dag: replan.dag }, { workflowId: runId, ...act });
    return runId;
  }

  /** A state that was saved by hand belongs to no run that could go on. */
  async #startFrom(held: Held, dag: DAGStructure): Promise<RunHandle<DAGOutcome>> {
    this.#check(dag);
    const input: DAGInput = { dag, state: stateOf(held), config: held.config };
    return this.engine.start(this.#workflow, input);
  }

  /**
   * Sends a command to a workflow, by default to the one that was started last. It is saved, and takes effect between
   * two layers. Throws what is wrong with it, as far as that is known now; what turns out to be wrong later is rejected
   * with an event (`command_rejected`) and a decision in the state.
   */
  async enqueueCommand(
    command: DAGCommand,
    { workflowId = this.#newest, ...act }: { readonly workflowId?: string } & NamedAct = {},
  ): Promise<void> {
    const checked = checkCommand(command);
    if (workflowId === undefined) throw badOption("workflowId", "no workflow was started here yet: name one");
    const plan = this.#courses.get(workflowId)?.plan ?? (await this.#planOf(workflowId));
    const coming = this.#coming.get(workflowId) ?? new Set();
    const isComing = "taskId" in checked && !plan?.has(checked.taskId) && coming.has(checked.taskId);
    if (plan && !isComing) Course.check(plan, this.#tools, checked);
    await this.engine.inject(workflowId, checked, { ...act, to: COMMANDS });
    if (checked.type === "add_task") coming.add(checked.task.id);
    if (checked.type === "replan_dag") for (const { id } of checked.dag.tasks) coming.add(id);
    if (coming.size > 0) this.#coming.set(workflowId, coming);
  }

  async #planOf(workflowId: string): Promise<Course["plan"] | undefined> {
    const held = await readHeld(this.engine.checkpoints, workflowId, workflowId);
    return held && Course.planOf(held);
  }

  /** Calls `listener` for each event of a type, in this process. Returns a function that removes it. */
  on<T extends DAGEventType>(type: T, listener: (event: DAGEventOf<T>) => void): () => void {
    return this.#events.on(type, listener as (event: DAGEvent) => void);
  }

  /** Every event from this call on, until the executor is closed or the reader stops. */
  events(): AsyncIterableIterator<DAGEvent> {
    return this.#events.stream();
  }

  /** Lets calls in progress finish, and closes the engine, unless you gave one. */
  async close(): Promise<void> {
    await this.checkpointManager.settled();
    if (this.#isOwn) await this.engine.close();
    this.#events.close();
  }
}

function ownEngine(store: Store | undefined, config: FullConfig, logger: Logger): Engine {
  if (store === undefined) throw badOption("store", "give a store or an engine");
  return createEngine({ store, logger, onSaveFailure: config.onCheckpointFailure });
}

function resultOf(workflow_id: string, held: Held): DAGExecutionResult {
  const { status, checkpoint_id, layers, errors, skipped, warnings, tasks } = held;
  return {
    workflow_id,
    status: status === "aborted" ? "aborted" : "completed",
    checkpoint_id,
    state: stateOf(held),
    results: Object.fromEntries(tasks.map(({ taskId, result }) => [taskId, result])),
    layers,
    errors,
    skipped,
    warnings,
  };
}
