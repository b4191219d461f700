import {
  ApplicationFailure,
  AsyncLocalStorage,
  allHandlersFinished,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { interpretAgent } from "../../../agent/prompt-workflow.ts";
import type { Workflow } from "../../../core/context.ts";
import { createEngine, type Engine } from "../../../core/engine/engine.ts";
import { HoldfastError } from "../../../core/errors.ts";
import type { Remote } from "../../../core/interpretation.ts";
import { silentLogger } from "../../../core/logger.ts";
import { providePlatform } from "../../../core/platform.ts";
import type { Store } from "../../../core/store/contract.ts";
import { type MemoryRuns, memoryRuns, memoryStore } from "../../../core/store/in-memory.ts";
import { ended, type RunRow } from "../../../core/types.ts";
import { decode, encode } from "../../../core/values/codec.ts";
import { interpretDag } from "../../../dag/workflow.ts";
import { interpretYaml } from "../../../yaml/interpretation.ts";
import { carriedOf, restoreRuns } from "./carried.ts";
import { sandboxClock } from "./clock.ts";
import {
  ACT,
  type ActMessage,
  type InterpreterArguments,
  JOURNAL,
  type JournalAnswer,
  MOST_CARRIED,
  REFUSED,
  VERBS,
} from "./contract.ts";
import { sandboxPlatform } from "./platform.ts";
import { Calls } from "./remote.ts";

providePlatform(sandboxPlatform(<T>() => new AsyncLocalStorage<T>()));

/** A hundred years: a claim inside the sandbox is never lost. */
const CLAIM_MS = 100 * 365 * 86_400_000;

/** The interpreters, by kind. */
const INTERPRETERS: Readonly<
  Record<
    string,
    (data: unknown, remote: Remote) => Workflow<never, unknown> | Promise<Workflow<never, unknown>>
  >
> = { agent: interpretAgent, dag: interpretDag, yaml: interpretYaml };

/** The workflow of every interpreted run. */
export async function holdfastInterpreter(text: string): Promise<string> {
  const run = new InterpretedRun(decode(text) as InterpreterArguments);
  run.listen();
  return run.advance();
}

/** One run inside Temporal's sandbox: an engine of its own advances it, and its calls are activities. */
class InterpretedRun {
  readonly #args: InterpreterArguments;
  readonly #id = workflowInfo().workflowId;
  readonly #runs: MemoryRuns = memoryRuns(Date);
  readonly #engine: Engine;
  #changes = 0;

  constructor(args: InterpreterArguments) {
    this.#args = args;
    restoreRuns(this.#runs, args.carried ?? []);
    this.#engine = createEngine({
      store: this.#counting(memoryStore(this.#runs, args.identity)),
      clock: sandboxClock,
      logger: silentLogger,
      owner: "sandbox",
      claimMs: CLAIM_MS,
      quietMs: 0,
      schedules: false,
      pressure: () => 0,
      processes: { mark: "sandbox", isGone: () => false },
    });
  }

  /** Counts appends, so that whoever waits for a change looks again. */
  #counting(store: Store): Store {
    return {
      ...store,
      append: async (batch) => {
        const results = await store.append(batch);
        this.#changes++;
        return results;
      },
    };
  }

  listen(): void {
    setHandler(defineQuery(JOURNAL), () =>
      encode({ identity: this.#args.identity, runs: carriedOf(this.#runs) } satisfies JournalAnswer),
    );
    setHandler(defineUpdate(ACT), async (text: string) => {
      try {
        return encode((await this.#act(decode(text) as ActMessage)) ?? null);
      } catch (error) {
        throw refused(error);
      }
    });
  }

  async #act({ verb, args }: ActMessage): Promise<unknown> {
    // The row exists from the first activation on, but an act may be in the same one.
    await condition(() => this.#row !== undefined);
    if (!VERBS.includes(verb))
      throw new HoldfastError("HF-7105", { call: verb, run: this.#id, problem: "unknown" });
    const act = this.#engine[verb] as (runId: string, ...args: readonly unknown[]) => Promise<unknown>;
    return act.call(this.#engine, this.#id, ...args);
  }

  get #row(): RunRow | undefined {
    return this.#runs.rows.get(this.#id);
  }

  async advance(): Promise<string> {
    const workflow = await this.#interpreted();
    const { start } = this.#args;
    if (start && !this.#row)
      await this.#engine.start(workflow, start.input as never, { ...start.options, id: this.#id });
    else this.#engine.register(workflow);
    for (;;) {
      const row = this.#row as RunRow;
      if (ended(row.status) && row.claim.token === null) return this.#end();
      if (this.#isLong) return this.#continue();
      await this.#untilMoved(row);
    }
  }

  async #interpreted(): Promise<Workflow<never, unknown>> {
    const { workflow, settings } = this.#args;
    const calls = new Calls(workflow, this.#id, settings);
    const interpret = INTERPRETERS[workflow.kind];
    if (!interpret) throw refused(new HoldfastError("HF-7102", { workflow: workflow.name }));
    try {
      return calls.within(await interpret(workflow.data, calls.remote));
    } catch (error) {
      throw refused(error);
    }
  }

  get #isLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > this.#args.settings.eventsPerExecution;
  }

  /** Waits until something is written, or the run's time has come; a run that is due is taken up. */
  async #untilMoved({ claim, wakeAt, status }: RunRow): Promise<void> {
    setCurrentDetails(status);
    const seen = this.#changes;
    const moved = (): boolean => this.#changes !== seen || this.#isLong;
    const isFree = claim.token === null && wakeAt !== null;
    const ms = isFree ? wakeAt - Date.now() : undefined;
    if (ms === undefined) return condition(moved);
    if (ms > 0 && (await condition(moved, ms))) return;
    await this.#engine.recover();
    if (this.#changes === seen) await condition(moved);
  }

  /** Goes on in another execution, with the journal so far. Calls under way end first, so that none is made twice. */
  async #continue(): Promise<never> {
    await this.#engine.close({ drainMs: CLAIM_MS });
    await condition(allHandlersFinished);
    const { start: _, ...args } = this.#args;
    const text = encode({ ...args, carried: carriedOf(this.#runs) } satisfies InterpreterArguments);
    if (text.length > MOST_CARRIED)
      throw refused(new HoldfastError("HF-7106", { run: this.#id, bytes: text.length }));
    return continueAsNew(text);
  }

  /** Ends the execution as the run has ended, so that Temporal's own pages and alarms tell the truth. */
  async #end(): Promise<string> {
    await condition(allHandlersFinished);
    try {
      return encode((await this.#engine.result(this.#id)) ?? null);
    } catch (error) {
      if (HoldfastError.is(error, "HF-2110")) throw new CancelledFailure(error.message);
      throw refused(error);
    }
  }
}

/** Errors leave the sandbox with everything that is known about them, as a detail that the payload codec seals. */
function refused(error: unknown): ApplicationFailure {
  const message = error instanceof Error ? error.message : String(error);
  return ApplicationFailure.nonRetryable(message, REFUSED, encode(error));
}
