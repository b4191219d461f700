import { randomUUID } from "node:crypto";
import { checkKeys, checkText, keysOf } from "../../../core/check-options.ts";
import type { GateAnswer, Workflow } from "../../../core/context.ts";
import type { Answer, OpenGate, Resolution } from "../../../core/control/decisions.ts";
import { createEngine, type Engine } from "../../../core/engine/engine.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { checkId, systemIds } from "../../../core/ids.ts";
import type { Act, NamedAct } from "../../../core/journal/act.ts";
import { silentLogger } from "../../../core/logger.ts";
import type { StartOptions } from "../../../core/options.ts";
import type { StoreIdentity } from "../../../core/store/contract.ts";
import { type MemoryRuns, memoryRuns, memoryStore } from "../../../core/store/in-memory.ts";
import type { Run } from "../../../core/types.ts";
import { decode, encode } from "../../../core/values/codec.ts";
import { isMissing, reached, said } from "../link.ts";
import { interpretationFor } from "./activities.ts";
import { carriedOf, restoreRuns } from "./carried.ts";
import {
  ACT,
  type ActMessage,
  type CarriedRuns,
  INTERPRETER,
  type InterpreterArguments,
  type InterpreterSettings,
  JOURNAL,
  type JournalAnswer,
  REFUSED,
  type Verb,
} from "./contract.ts";
import { type Connection, loadClient, type WorkflowClient, type WorkflowHandle } from "./sdk.ts";
import { dataConverter, type InterpreterPlace, PLACE } from "./worker.ts";

/** Options of `connectInterpreter`. */
export interface InterpreterOptions extends InterpreterPlace {
  readonly settings?: Partial<InterpreterSettings>;
  /**
   * Labels that become search attributes of Temporal, readable by everybody who may list executions. They must be
   * registered with the server as keywords. Default: none.
   */
  readonly searchable?: readonly string[];
}

const OPTIONS = keysOf<InterpreterOptions>({
  address: true,
  namespace: true,
  taskQueue: true,
  codec: true,
  connection: true,
  settings: true,
  searchable: true,
});

const SETTINGS: InterpreterSettings = { heartbeatMs: 5_000, callMs: 86_400_000, eventsPerExecution: 8_000 };

/**
 * Connects to interpreted runs on a Temporal server: to start them, to read them, and to act on them.
 *
 * @example
 * ```ts
 * import { connectInterpreter } from "holdfast/adapters/temporal/interpreter";
 * import { loadWorkflow } from "holdfast/yaml";
 *
 * const { workflow, parseInputs } = await loadWorkflow("research.yaml", { providers: {} });
 * const runs = await connectInterpreter({ address: "127.0.0.1:7233" });
 * const id = await runs.start(workflow, parseInputs({ topic: "tides" }));
 * console.log(await runs.result(id));
 * await runs.close();
 * ```
 */
export async function connectInterpreter(options: InterpreterOptions = {}): Promise<InterpretedRuns> {
  checkKeys(options, OPTIONS);
  const { address, namespace, taskQueue, codec } = { ...PLACE, ...options };
  for (const [name, value] of Object.entries({ address, namespace, taskQueue })) checkText(name, value, 1);
  const { Client, Connection } = await loadClient();
  const connection = await reached(
    address,
    Connection.connect({ connectTimeout: 5_000, address, ...options.connection }),
  );
  const client = new Client({ connection, namespace, dataConverter: dataConverter(codec) });
  return new InterpretedRuns(client.workflow, connection, {
    address,
    namespace,
    taskQueue,
    settings: { ...SETTINGS, ...options.settings },
    searchable: options.searchable ?? [],
  });
}

interface Setting {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly settings: InterpreterSettings;
  readonly searchable: readonly string[];
}

/** Interpreted runs on a Temporal server. */
export class InterpretedRuns {
  readonly #client: WorkflowClient;
  readonly #connection: Connection;
  readonly #setting: Setting;

  constructor(client: WorkflowClient, connection: Connection, setting: Setting) {
    this.#client = client;
    this.#connection = connection;
    this.#setting = setting;
  }

  /** Starts a run and returns its id. */
  async start<I, O>(workflow: Workflow<I, O>, input: I, options: StartOptions = {}): Promise<string> {
    const { id = systemIds.runId(), ...rest } = options;
    checkId(id);
    const flow = workflow as Workflow<never, unknown>;
    const what = { identity: newIdentity(), start: { input, options: rest } };
    try {
      await this.#begin(id, flow, what, options.labels);
    } catch (error) {
      if ((error as Error).name !== "WorkflowExecutionAlreadyStartedError") throw error;
      await this.#sameAs(id, flow, input as never, rest);
    }
    return id;
  }

  /** The same id with the same input is the same run; anything else is refused as on every engine. */
  async #sameAs(
    id: string,
    workflow: Workflow<never, unknown>,
    input: never,
    options: object,
  ): Promise<void> {
    const engine = await this.copy(id, [workflow]);
    try {
      await engine.start(workflow, input, { ...options, id });
    } finally {
      await engine.close({ drainMs: 0 });
    }
  }

  async #begin(
    id: string,
    workflow: Workflow<never, unknown>,
    what: Pick<InterpreterArguments, "start" | "carried" | "identity">,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { name, version } = workflow;
    const interpretation = interpretationFor(workflow);
    const { taskQueue, settings, searchable } = this.#setting;
    const args: InterpreterArguments = {
      workflow: { name, version, kind: interpretation.kind, data: await interpretation.describe() },
      settings,
      ...what,
    };
    const known = searchable.flatMap((label) =>
      labels[label] === undefined ? [] : [[label, [labels[label]]]],
    );
    const starting = this.#client.start(INTERPRETER, {
      workflowId: id,
      taskQueue,
      args: [encode(args)],
      ...(known.length > 0 ? { searchAttributes: Object.fromEntries(known) } : {}),
      workflowIdReusePolicy: what.carried ? "ALLOW_DUPLICATE_FAILED_ONLY" : "REJECT_DUPLICATE",
    });
    await starting.catch((error: unknown) => {
      throw said(error, id, this.#setting);
    });
  }

  /** The result of a run, when it has one; throws what its engine would throw. */
  async result<O = unknown>(runId: string): Promise<O> {
    try {
      return decode(String(await this.#handle(runId).result())) as O;
    } catch (error) {
      throw this.#problem(error, runId, "result");
    }
  }

  #handle(runId: string): WorkflowHandle {
    checkId(runId);
    return this.#client.getHandle(runId);
  }

  async #journal(runId: string): Promise<JournalAnswer> {
    try {
      return decode(String(await this.#handle(runId).query(JOURNAL))) as JournalAnswer;
    } catch (error) {
      throw this.#problem(error, runId, JOURNAL);
    }
  }

  /**
   * An engine over a copy of the run as it is now: for checkpoints, reports, differences, an export. What is done to the
   * copy stays in it.
   */
  async copy(runId: string, workflows: readonly Workflow<never, unknown>[] = []): Promise<Engine> {
    const { identity, runs } = await this.#journal(runId);
    const { engine } = stage(identity, runs, workflows);
    return engine;
  }

  /** One run. */
  async get(runId: string): Promise<Run> {
    return this.#read(runId, async (engine) => {
      const run = await engine.get(runId);
      if (!run) throw new HoldfastError("HF-7104", { run: runId });
      return run;
    });
  }

  /** The gates that the run waits at. */
  gates(runId: string): Promise<OpenGate[]> {
    return this.#read(runId, (engine) => engine.gates(runId));
  }

  async #read<T>(runId: string, read: (engine: Engine) => Promise<T>): Promise<T> {
    const engine = await this.copy(runId);
    try {
      return await read(engine);
    } finally {
      await engine.close({ drainMs: 0 });
    }
  }

  async #act<T>(runId: string, verb: Verb, args: readonly unknown[]): Promise<T> {
    const message: ActMessage = { verb, args };
    try {
      return decode(String(await this.#handle(runId).executeUpdate(ACT, { args: [encode(message)] }))) as T;
    } catch (error) {
      throw this.#problem(error, runId, verb);
    }
  }

  pause(runId: string, act: Act = {}): Promise<Run> {
    return this.#act(runId, "pause", [act]);
  }

  cancel(runId: string, act: Act & { readonly compensate?: boolean } = {}): Promise<Run> {
    return this.#act(runId, "cancel", [act]);
  }

  answer(runId: string, gate: string, answer: Answer): Promise<GateAnswer> {
    return this.#act(runId, "answer", [gate, answer]);
  }

  resolve(runId: string, step: string, resolution: Resolution & NamedAct): Promise<Run> {
    return this.#act(runId, "resolve", [step, resolution]);
  }

  signal(runId: string, name: string, payload?: unknown): Promise<void> {
    return this.#act(runId, "signal", [name, payload]);
  }

  inject(runId: string, context: unknown, options: NamedAct = {}): Promise<void> {
    return this.#act(runId, "inject", [context, options]);
  }

  /**
   * Lets a paused run continue. A failed one has ended as an execution, so it goes on in another one, with its journal;
   * that needs its workflow.
   */
  async resume(runId: string, act: Act = {}, workflow?: Workflow<never, unknown>): Promise<void> {
    const { status } = await this.#handle(runId).describe();
    if (status.name === "RUNNING" || !workflow) return void (await this.#act(runId, "resume", [act]));
    const { identity, runs } = await this.#journal(runId);
    await this.#adopt(stage(identity, runs, [workflow]), runId, workflow, (engine) =>
      engine.resume(runId, act),
    );
  }

  /**
   * Continues a run of another store here, from where it stands. The other engine must not advance it any more: pause
   * it first. Steps keep their outcomes; a `keyed` or `once` call whose outcome was unknown waits for a person.
   */
  async adopt(
    from: Engine,
    runId: string,
    workflow: Workflow<never, unknown>,
    accept: Act = { reason: "moved to Temporal" },
  ): Promise<void> {
    await this.#adopt(stage(newIdentity(), [], [workflow]), runId, workflow, async (engine) => {
      await engine.transfer.importRuns(from.transfer.exportRun(runId, { children: true }), { accept });
      const run = await engine.get(runId);
      if (run?.status === "paused") await engine.resume(runId, accept);
    });
  }

  async #adopt(
    { engine, runs, identity }: Stage,
    runId: string,
    workflow: Workflow<never, unknown>,
    change: (engine: Engine) => Promise<unknown>,
  ): Promise<void> {
    try {
      await change(engine);
    } finally {
      await engine.close({ drainMs: 0 });
    }
    await this.#begin(runId, workflow, { identity, carried: carriedOf(runs) });
  }

  #problem(error: unknown, run: string, call: string): unknown {
    const found = detailOf(error);
    if (found !== undefined) return found;
    if (isMissing(error)) return new HoldfastError("HF-7104", { run }, { cause: error });
    const problem = said(error, run, this.#setting);
    if (!HoldfastError.is(problem, "HF-7006")) return problem;
    const { message = String(error) } = error as Partial<Error>;
    return new HoldfastError("HF-7105", { call, run, problem: message }, { cause: error });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

const newIdentity = (): StoreIdentity => ({
  incarnation: randomUUID(),
  secret: randomUUID() + randomUUID(),
});

/** Runs in memory, and an engine that acts on them and advances none. */
interface Stage {
  readonly engine: Engine;
  readonly runs: MemoryRuns;
  readonly identity: StoreIdentity;
}

function stage(
  identity: StoreIdentity,
  carried: CarriedRuns,
  workflows: readonly Workflow<never, unknown>[],
): Stage {
  const runs = memoryRuns(Date);
  restoreRuns(runs, carried);
  const store = memoryStore(runs, identity);
  const engine = createEngine({ store, workflows, execute: false, logger: silentLogger, schedules: false });
  return { engine, runs, identity };
}

/** The error that the run's own engine has thrown, from a chain of Temporal's failures. */
function detailOf(error: unknown): unknown {
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < 10; one = one.cause, depth++) {
    const { type, details } = one as { type?: string; details?: readonly unknown[] };
    if (type === REFUSED && typeof details?.[0] === "string") return decode(details[0]);
  }
  return undefined;
}
