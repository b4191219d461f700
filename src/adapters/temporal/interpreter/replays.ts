import { checkKeys, checkWhole } from "../../../core/check-options.ts";
import { reached } from "../link.ts";
import { INTERPRETER } from "./contract.ts";
import { loadClient, loadWorker } from "./sdk.ts";
import { bundleInterpreter, dataConverter, type InterpreterPlace, PLACE } from "./worker.ts";

/** Options of `replayInterpreted`. */
export interface ReplayInterpretedOptions extends InterpreterPlace {
  /** The bundle of the code that is to be deployed. Default: of the installed version. */
  readonly bundle?: string;
  /** The most runs to replay, newest first. Default 1,000. */
  readonly most?: number;
}

/** What a replay of stored histories with other code has found. */
export interface ReplayReport {
  /** The histories that were replayed. */
  readonly replayed: number;
  /** Runs that the code would not continue as they began, and why. */
  readonly changed: readonly { readonly run: string; readonly problem: string }[];
  /** The same for people. */
  readonly text: string;
}

/**
 * Replays the histories of unfinished interpreted runs with the code that is to be deployed, before it is. Nothing is
 * called and nothing is written. A run that the code would not continue as it began is reported here, and not as a
 * non-determinism error at night.
 *
 * @example
 * ```ts
 * import { replayInterpreted } from "holdfast/adapters/temporal/interpreter";
 *
 * const { changed, text } = await replayInterpreted({ address: "127.0.0.1:7233" });
 * console.log(text);
 * if (changed.length > 0) process.exitCode = 1;
 * ```
 */
export async function replayInterpreted(options: ReplayInterpretedOptions = {}): Promise<ReplayReport> {
  checkKeys(options, ["address", "namespace", "taskQueue", "codec", "connection", "bundle", "most"]);
  const { address, namespace, taskQueue, codec, most = 1_000 } = { ...PLACE, ...options };
  checkWhole("most", most, 1);
  const [{ Worker }, { Client, Connection }] = await Promise.all([loadWorker(), loadClient()]);
  const code = options.bundle ?? (await bundleInterpreter());
  const connection = await reached(address, Connection.connect({ address, ...options.connection }));
  const converter = dataConverter(codec);
  const { workflow } = new Client({ connection, namespace, dataConverter: converter });
  const query = `WorkflowType = "${INTERPRETER}" AND TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running"`;
  async function* histories() {
    let left = most;
    for await (const { workflowId, runId } of workflow.list({ query })) {
      if (left-- === 0) return;
      yield { workflowId, history: await workflow.getHandle(workflowId, runId).fetchHistory() };
    }
  }
  try {
    let replayed = 0;
    const changed: { run: string; problem: string }[] = [];
    const replaying = { workflowBundle: { code }, dataConverter: converter };
    for await (const { workflowId: run, error } of Worker.runReplayHistories(replaying, histories())) {
      replayed++;
      if (error !== undefined && error !== null) changed.push({ run, problem: messageOf(error) });
    }
    return { replayed, changed, text: textOf(replayed, changed) };
  } finally {
    await connection.close();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function textOf(replayed: number, changed: ReplayReport["changed"]): string {
  const all = `${replayed} unfinished ${replayed === 1 ? "run was" : "runs were"} replayed.`;
  if (changed.length === 0) return `${all} The code continues every one as it began.`;
  const lines = changed.map(({ run, problem }) => `  ${run}: ${problem.split("\n")[0]}`);
  const advice =
    "Let these end on the workers that have them, or deploy the new code under a version of its own.";
  return [`${all} The code would not continue ${changed.length} as begun:`, ...lines, advice].join("\n");
}
