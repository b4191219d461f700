import { failsOnRecord } from "../guards/code-failure.ts";
import { unasked, warnOfVaried, watchAsking } from "../guards/code-unasked.ts";
import { inspectInput, readConfig } from "../guards/inspector.ts";
import { untilTimely } from "../guards/limit.ts";
import type { EventDraft } from "../journal/events.ts";
import { toError } from "../journal/values.ts";
import { conform } from "../standard-schema.ts";
import { leaveOpen, untilDone } from "./asked.ts";
import type { Execution } from "./execution.ts";
import { RunContext } from "./run-context.ts";
import { settleStreams } from "./streams.ts";
import { compensate, undoFailed } from "./undo.ts";
import { untilResolved } from "./unresolved.ts";

/** Calls the workflow's function with the run's input, and ends the run accordingly. */
export async function runBody(execution: Execution): Promise<void> {
  const { writer, workflow, deps, state, runId } = execution;
  if (writer.row.control !== "none") execution.considerEnding();
  if (writer.row.control === "pausing") {
    // Its code may have another version than the run: told to continue, the run is taken up again.
    execution.onward = () => execution.finish("stopped", { kind: "run_released", step: "", meta: {} });
    return;
  }
  await execution.memory.load();
  execution.config = await readConfig(execution);
  const stored = await execution.read(() => deps.values.decode(runId, state.input));
  deps.values.forget(runId);
  const input = await inspectInput(execution, stored);
  watchAsking(execution);
  if (execution.grants.length > 0) await untilTimely(execution, execution.grants);
  let ending: () => void;
  try {
    const result = await execution.within(execution.scope(), async () =>
      workflow.body(new RunContext(execution), input),
    );
    await untilDone(execution, execution.rootScope);
    await untilResolved(execution);
    const { output } = workflow;
    const made = output
      ? await execution.busy(conform(output, result, `The result of ${workflow.name}`))
      : result;
    const { data, blobs } = deps.values.encode("result", made);
    const left = unasked(execution);
    const meta = left.length > 0 ? { unasked: left } : {};
    ending = () => execution.finish("completed", { kind: "run_completed", step: "", meta, data }, blobs);
  } catch (error) {
    ending = await failure(execution, error);
  }
  leaveOpen(execution);
  await settleStreams(execution, undefined);
  execution.bodyEnded = true;
  await execution.enter();
  await execution.calls.none();
  if (writer.row.control === "none") return ending();
  execution.onward = ending;
  execution.considerEnding();
}

async function failure(execution: Execution, error: unknown): Promise<() => void> {
  const { values } = execution.deps;
  const wait = failsOnRecord(execution, error);
  if (wait)
    return () => execution.finish("waiting", { kind: "run_waiting", step: "", meta: { waiting: [wait] } });
  warnOfVaried(execution);
  const compensated = execution.workflow.compensateOnFailure;
  let left: readonly string[] = [];
  try {
    // Calls in progress may have to be undone, too.
    if (compensated) await execution.calls.none();
    if (compensated && !execution.closed) left = await compensate(execution);
  } catch (problem) {
    return () => execution.parkForReview(undoFailed(problem));
  }
  const steps = [...new Set(execution.blamed.of(error))];
  const real = toError(error);
  const meta = {
    message: `${values.headline(real)}${left.length > 0 ? ` (not undone: ${left.join(", ")})` : ""}`,
    steps,
    ...(compensated ? { compensated } : {}),
  };
  const encoded = values.encodeError("error", real);
  const event: EventDraft = { kind: "run_failed", step: "", meta, data: encoded.data };
  return () => execution.finish("failed", event, encoded.blobs);
}
