import { isRecord } from "../core/check-options.ts";
import type { Context, LoopResult, LoopTurn } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { INJECT, injectTo } from "../core/names.ts";
import { currentOf } from "../core/values/patch.ts";
import { checkpointId, layerLabel } from "./checkpoint-id.ts";
import { type FullConfig, fullConfig } from "./config.ts";
import { Course, type Ended } from "./course.ts";
import { type AIL, askAI, askPerson, type HIL, type LayerView, type Made } from "./decide.ts";
import type { DAGEvent, EventBody } from "./events.ts";
import { layersOf, validateDag } from "./graph.ts";
import { type Bench, runTasks } from "./layer.ts";
import { LARGE_BYTES, Rows } from "./record.ts";
import { emptyState, type Held } from "./state.ts";
import type { Toolbox } from "./tools.ts";
import type {
  AppliedCommand,
  DAGDecision,
  DAGStructure,
  ExecutionConfig,
  StateUpdate,
  WorkflowState,
} from "./types.ts";

/** The loop that a workflow's layers are iterations of. */
export const LAYERS = "layer";
/** The mailbox for commands. */
export const COMMANDS = "dag";
/** The key in the run's memory for the DAG that a resume goes on with. */
export const REPLAN = "dag:replan";

/** The DAG that a resume goes on with. */
export interface Replan {
  readonly id: string;
  readonly dag: DAGStructure;
  readonly at: number;
}

/** The input of a workflow that executes DAGs. */
export interface DAGInput {
  /** Default: the workflow's own. */
  readonly dag?: DAGStructure;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly messages?: readonly unknown[];
  readonly config?: ExecutionConfig;
  /** A saved state to go on from: its tasks are finished. */
  readonly state?: WorkflowState;
}

/** What the run keeps as its result. The state has the rest. */
export interface DAGOutcome {
  readonly status: "completed" | "aborted";
  readonly checkpoint_id: string | null;
  readonly layers: number;
  readonly completed: number;
  readonly skipped: number;
  readonly failed: number;
  /** The results of the tasks that no other task depends on. */
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** The runs that are being advanced in this process, by id. */
export type Courses = Map<string, Course>;

export interface DAGSpec {
  readonly tools: Toolbox;
  readonly config: ExecutionConfig;
  readonly ail?: AIL | undefined;
  readonly hil?: HIL | undefined;
  readonly emit: (event: DAGEvent) => void;
  readonly now: () => number;
  readonly courses: Courses;
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Executes a DAG in layers. The loop's state is the workflow's state, so the journal keeps what each layer changes. */
export async function runDag(ctx: Context, spec: DAGSpec, input: DAGInput): Promise<DAGOutcome> {
  const run = new DagRun(ctx, spec, input.dag !== undefined);
  try {
    const held = await ctx.loop(LAYERS, initialState(spec, input), (draft, turn) => run.layer(draft, turn));
    return outcomeOf(held);
  } finally {
    spec.courses.delete(ctx.runId);
  }
}

function initialState(spec: DAGSpec, input: DAGInput): Held {
  const { state } = input;
  return {
    ...emptyState(),
    messages: [...(state?.messages ?? []), ...(input.messages ?? [])],
    tasks: [...(state?.tasks ?? [])],
    decisions: [...(state?.decisions ?? [])],
    context: { ...state?.context, ...input.context },
    dag: { tasks: [...(input.dag?.tasks ?? [])] },
    config: fullConfig({ ...spec.config, ...input.config }),
    status: "running",
    skipped: [],
    errors: [],
    discarded: [],
    warnings: [],
    layers: 0,
    heard: 0,
    replanned: null,
  };
}

function outcomeOf({ status, checkpoint_id, layers, tasks, skipped, errors, dag }: Held): DAGOutcome {
  const needed = new Set(dag.tasks.flatMap(({ dependsOn }) => dependsOn ?? []));
  const last = tasks.filter(({ taskId }) => !needed.has(taskId));
  return {
    status: status === "aborted" ? "aborted" : "completed",
    checkpoint_id,
    layers,
    completed: tasks.length,
    skipped: skipped.length,
    failed: errors.length,
    outputs: Object.fromEntries(last.map(({ taskId, result }) => [taskId, result])),
  };
}

const NO_DAG = "it has no dag, and the workflow has none either";

/** A plan of more tasks than this isn't announced by name: that is for people to read. */
const MOST_PLANNED = 1_000;

class DagRun {
  readonly #ctx: Context;
  readonly #spec: DAGSpec;
  readonly #hasDag: boolean;
  #course: Course | undefined;
  #rows: Rows | undefined;
  #config: FullConfig = fullConfig();

  /** `hasDag`: a DAG was given. Only a run that begins needs one: later it's part of the state. */
  constructor(ctx: Context, spec: DAGSpec, hasDag: boolean) {
    this.#ctx = ctx;
    this.#spec = spec;
    this.#hasDag = hasDag;
  }

  async layer(draft: Held, turn: LoopTurn): Promise<LoopResult> {
    const course = this.#begin(draft, turn.index);
    if (turn.index > 0) await this.#mark(course, turn.index);
    this.#replan(course, draft, turn.index);
    await this.#listen(course, draft, turn.index, course.plan.ready().length === 0);
    const tasks = course.isAborted ? [] : course.plan.ready();
    if (tasks.length === 0) return this.#end(course, draft, turn);
    if (tasks.length <= MOST_PLANNED) this.#ctx.plan(tasks.map(({ id }) => id));
    this.#emit({ type: "layer_started", layer_index: turn.index, tasks: tasks.map(({ id }) => id) });
    await this.#runLayer(course, tasks, turn.index);
    await this.#decide(
      course,
      draft,
      tasks.map(({ id }) => id),
      turn.index,
    );
    draft.layers = turn.index + 1;
    draft.checkpoint_id = checkpointId(this.#ctx.runId, draft.layers, this.#ctx.uuid("checkpoint"));
    return undefined;
  }

  /** The course is in memory as long as this process has the run; after that it is made from the state. */
  #begin(draft: Held, layer: number): Course {
    if (this.#course) {
      this.#course.next(draft);
      return this.#course;
    }
    const held = currentOf(draft);
    if (layer === 0) {
      if (!this.#hasDag) throw new HoldfastError("HF-4550", { task: "The input", problem: NO_DAG });
      validateDag(held.dag);
      for (const task of held.dag.tasks) this.#spec.tools.check(task);
      this.#emit({ type: "workflow_started", total_layers: layersOf(held.dag).length });
    }
    this.#config = fullConfig({ ...held.config, ...editedConfig(this.#ctx.config) });
    this.#rows = new Rows(this.#ctx.runId, this.#config);
    this.#course = new Course(held, draft, this.#spec.tools);
    this.#spec.courses.set(this.#ctx.runId, this.#course);
    return this.#course;
  }

  #emit(event: EventBody): void {
    this.#spec.emit({ ...event, workflow_id: this.#ctx.runId, timestamp: this.#spec.now() });
  }

  /** Marks the state after the layers so far. Written together with what the last layer has changed. */
  async #mark(course: Course, layer: number): Promise<void> {
    const begun = this.#spec.now();
    const checkpoint_id = course.state.checkpoint_id ?? "";
    const isLast = course.plan.ready().length === 0;
    const { bytes, row } = (this.#rows as Rows).next(course, layer, isLast);
    if (bytes > LARGE_BYTES) {
      this.#spec.warn("checkpoint is larger than 500 KB", { runId: this.#ctx.runId, checkpoint_id, bytes });
      this.#emit({ type: "checkpoint_large", layer_index: layer, checkpoint_id, bytes });
    }
    const saved = this.#ctx
      .checkpoint(layerLabel(layer), {
        trigger: "phase_completed",
        record: { table: "workflow_checkpoints", row },
      })
      .then(() => {
        const duration = this.#spec.now() - begun;
        this.#emit({ type: "checkpoint_saved", layer_index: layer, checkpoint_id, bytes, duration });
      });
    if (this.#config.onCheckpointFailure === "stop") await saved;
  }

  /** Goes on with the DAG that a resume has brought, once. */
  #replan(course: Course, draft: Held, layer: number): void {
    const replan = this.#ctx.memory.get<Replan>(REPLAN);
    if (replan === undefined || draft.replanned === replan.id) return;
    draft.replanned = replan.id;
    const warnings = course.replan(replan.dag);
    this.#rows?.replanned();
    for (const { message, taskId } of warnings)
      this.#spec.warn("the DAG has changed", { runId: this.#ctx.runId, taskId, message });
    this.#emit({ type: "dag_changed", layer_index: layer, warnings });
    const applied: AppliedCommand = { command: { type: "replan_dag", dag: replan.dag }, outcome: "applied" };
    const description = `Resumed with a DAG that differs in ${warnings.length} places`;
    this.#decided(course, {
      type: "replan",
      layer,
      made: { at: replan.at, description },
      commands: [applied],
    });
  }

  /** Reads what was sent from outside: commands, and context for everyone. `isLast`: nothing is left to do otherwise. */
  async #listen(
    course: Course,
    draft: Held,
    layer: number,
    isLast: boolean,
    ahead?: ReadonlyMap<string, Ended>,
  ): Promise<void> {
    const { messages, upTo } = await this.#ctx.injected(COMMANDS, { after: draft.heard, isLast });
    draft.heard = upTo;
    for (const { name, payload, at } of messages) {
      const command = name === injectTo(COMMANDS) ? payload : contextOf(payload);
      const [applied] = this.#apply(course, [command], layer, ahead);
      const description = name === INJECT ? "Context was injected" : `Command ${typeOf(command)}`;
      if (applied)
        this.#decided(course, { type: "command", layer, made: { at, description }, commands: [applied] });
    }
  }

  #apply(
    course: Course,
    commands: readonly unknown[],
    layer: number,
    ahead?: ReadonlyMap<string, Ended>,
  ): AppliedCommand[] {
    return commands.map((command) => {
      const applied = course.apply(command, ahead);
      this.#rows?.replanned();
      const type = applied.outcome === "applied" ? "command_applied" : "command_rejected";
      this.#emit({ type, layer_index: layer, command: applied });
      return applied;
    });
  }

  #decided(course: Course, { type, layer, made, commands }: Settled): void {
    const { at, description = "", rationale, alternatives, confidence, actor } = made;
    const more = defined({ rationale, alternatives, confidence });
    const decision: DAGDecision = {
      type,
      layer_index: layer,
      timestamp: at,
      description,
      commands,
      ...more,
      ...defined({ actor }),
    };
    course.decided(decision);
    this.#ctx.decide({ description, type, agent: actor ?? type, ...more });
    this.#emit({ type: "decision_made", layer_index: layer, decision });
  }

  async #runLayer(course: Course, tasks: Parameters<typeof runTasks>[2], layer: number): Promise<void> {
    const stop = this.#config.onTaskFailure === "stop";
    const outcomes = await runTasks(this.#bench, course, tasks, { layer, stop });
    const failed = outcomes.find((outcome) => outcome && "error" in outcome);
    if (stop && failed && "error" in failed) throw failed.error;
    for (const [index, outcome] of outcomes.entries()) {
      if ("ended" in outcome) course.finish(outcome.ended);
      else course.fail(tasks[index]?.id ?? "", outcome.error);
    }
  }

  get #bench(): Bench {
    const { tools, emit, now } = this.#spec;
    return { ctx: this.#ctx, tools, emit, now, config: this.#config };
  }

  /** The AI's decision, then a person's, then what was sent from outside. Speculative tasks run meanwhile. */
  async #decide(course: Course, draft: Held, finished: readonly string[], layer: number): Promise<void> {
    const { ail, hil, now } = this.#spec;
    const started = this.#config.speculation ? course.plan.speculative() : [];
    const running = this.#speculate(course, started, layer);
    const view = (): LayerView => this.#view(course, finished, layer);
    const made = ail ? await askAI(this.#ctx, ail, view(), now) : undefined;
    if (made) this.#take(course, "AIL", made, layer, await running);
    const question = await hil?.(view());
    if (question) {
      this.#emit({ type: "decision_required", layer_index: layer, choices: Object.keys(question.choices) });
      const answer = await askPerson(this.#ctx, question);
      this.#take(course, "HIL", answer, layer, await running);
    }
    const ahead = await running;
    if (started.length === 0) return;
    await this.#listen(course, draft, layer, false, ahead);
    for (const { id } of started) {
      const isConfirmed = course.plan.statusOf(id) === "completed";
      if (course.plan.statusOf(id) === "unconfirmed") course.discard(id);
      const type = isConfirmed ? "speculation_confirmed" : "speculation_discarded";
      this.#emit({ type, layer_index: layer, task_id: id });
    }
  }

  #view(course: Course, finished: readonly string[], layer: number): LayerView {
    return {
      workflow_id: this.#ctx.runId,
      layer_index: layer + 1,
      finished,
      next: course.plan.ready().map(({ id }) => id),
      speculative: course.plan.speculative().map(({ id }) => id),
      state: course.state,
      dag: course.plan.structure(),
    };
  }

  async #speculate(
    course: Course,
    tasks: Parameters<typeof runTasks>[2],
    layer: number,
  ): Promise<ReadonlyMap<string, Ended>> {
    const outcomes = await runTasks(this.#bench, course, tasks, { layer, stop: false });
    return new Map(
      outcomes.flatMap((one) => ("ended" in one ? [[one.ended.taskId, one.ended] as const] : [])),
    );
  }

  #take(
    course: Course,
    type: "AIL" | "HIL",
    made: Made,
    layer: number,
    ahead: ReadonlyMap<string, Ended>,
  ): void {
    const commands = this.#apply(course, made.commands ?? [], layer, ahead);
    const update: StateUpdate = defined({ messages: made.messages, context: made.context });
    course.reduce(update);
    const description = made.description ?? `${type} decision after layer ${layer + 1}`;
    this.#decided(course, { type, layer, made: { ...made, description }, commands });
  }

  #end(course: Course, draft: Held, turn: LoopTurn): LoopResult {
    if (!course.isAborted) draft.status = "completed";
    for (const { id } of course.plan.open()) {
      const problem = course.isAborted
        ? "The workflow was aborted."
        : "It was not confirmed, or needs one that was not.";
      draft.skipped.push({ taskId: id, problem });
    }
    this.#emit({ type: course.isAborted ? "workflow_aborted" : "workflow_completed" });
    return turn.done();
  }
}

interface Settled {
  readonly type: DAGDecision["type"];
  readonly layer: number;
  readonly made: Made;
  readonly commands: readonly AppliedCommand[];
}

const editedConfig = (config: Readonly<Record<string, unknown>>): ExecutionConfig =>
  isRecord(config["execution"]) ? config["execution"] : {};

const typeOf = (command: unknown): string =>
  isRecord(command) && typeof command["type"] === "string" ? command["type"].slice(0, 80) : "without a type";

/** Context that was injected for everyone: an object is merged, anything else is a message. */
const contextOf = (payload: unknown): unknown =>
  isRecord(payload)
    ? { type: "inject_context", context: payload }
    : { type: "add_messages", messages: [payload] };
