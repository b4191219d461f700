import type { Context, StepCall } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import type { FullConfig } from "./config.ts";
import type { Course, Ended } from "./course.ts";
import type { DAGEvent } from "./events.ts";
import { dependenciesOf } from "./graph.ts";
import type { Toolbox } from "./tools.ts";
import type { DAGTask, StateUpdate } from "./types.ts";

/** What a layer needs to run its tasks. */
export interface Bench {
  readonly ctx: Context;
  readonly tools: Toolbox;
  readonly config: FullConfig;
  readonly emit: (event: DAGEvent) => void;
  readonly now: () => number;
}

type Outcome = { readonly ended: Ended } | { readonly error: unknown };

/** Runs tasks side by side, and returns their outcomes in their order. With `stop`, none starts after a failure. */
export async function runTasks(
  bench: Bench,
  course: Course,
  tasks: readonly DAGTask[],
  { layer, stop }: { readonly layer: number; readonly stop: boolean },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    while (next < tasks.length && !(stop && hasFailed)) {
      const index = next++;
      const task = tasks[index] as DAGTask;
      try {
        outcomes[index] = { ended: await runTask(bench, course, task, layer) };
      } catch (error) {
        hasFailed = true;
        outcomes[index] = { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(bench.config.concurrency, tasks.length) }, lane));
  return outcomes;
}

/** A task is a step. Its outcome in the journal has the result, the time it took, and what it adds to the state. */
async function runTask(
  { ctx, tools, config, emit, now }: Bench,
  course: Course,
  task: DAGTask,
  layer: number,
): Promise<Ended> {
  const { retry, keyWindowMs, verify, run } = tools.of(task);
  const about = { workflow_id: ctx.runId, layer_index: layer, task_id: task.id };
  const work = async (call: StepCall): Promise<Ended> => {
    const begun = now();
    emit({ type: task.speculative ? "speculation_started" : "task_started", ...about, timestamp: begun });
    const added: { messages?: readonly unknown[]; context?: Readonly<Record<string, unknown>> } = {};
    try {
      const result = await run(task.arguments ?? {}, { ...callOf(course, task, call), update: adder(added) });
      const timestamp = now();
      const duration = Math.max(0, timestamp - begun);
      if (!task.speculative) emit({ type: "task_completed", ...about, timestamp, duration });
      const hasMore = added.messages !== undefined || added.context !== undefined;
      return { taskId: task.id, result, timestamp, duration, ...(hasMore ? { update: added } : {}) };
    } catch (error) {
      emit({ type: "task_failed", ...about, timestamp: now(), error });
      throw error;
    }
  };
  return ctx.step(task.id, work, {
    effect: tools.effectOf(task),
    input: { tool: task.tool, arguments: task.arguments ?? {} },
    ...defined({ retry, keyWindowMs, timeoutMs: task.timeout ?? config.timeout }),
    ...(verify ? { verify: verified(task.id, verify, now) } : {}),
  });
}

function callOf(course: Course, task: DAGTask, call: StepCall) {
  const results = dependenciesOf(task).flatMap((id) =>
    course.results.has(id) ? [[id, course.results.get(id)] as const] : [],
  );
  return {
    workflowId: call.runId,
    taskId: task.id,
    attempt: call.attempt,
    key: call.key,
    signal: call.signal,
    results: Object.fromEntries(results),
    context: course.state.context,
  };
}

const adder =
  (added: { messages?: readonly unknown[]; context?: Readonly<Record<string, unknown>> }) =>
  ({ messages, context }: Pick<StateUpdate, "messages" | "context">): void => {
    if (messages) added.messages = [...(added.messages ?? []), ...messages];
    if (context) added.context = { ...added.context, ...context };
  };

/** The outside world knows the result, but not when the task ended. */
const verified =
  (taskId: string, verify: NonNullable<ReturnType<Toolbox["of"]>["verify"]>, now: () => number) =>
  async ({ key }: StepCall) => {
    const verdict = await verify({ key, taskId });
    if (verdict.status !== "done") return verdict;
    return {
      status: "done" as const,
      value: { taskId, result: verdict.value, timestamp: now(), duration: 0 },
    };
  };
