import {
  type AppendAnswer,
  type AppendMessage,
  MEMO,
  QUERIES,
  type RunArguments,
} from "../../../src/adapters/temporal/contract.ts";
import { JournalState } from "../../../src/adapters/temporal/journal-state.ts";
import type { Client } from "../../../src/adapters/temporal/sdk.ts";
import type { TemporalStoreParts } from "../../../src/adapters/temporal/store.ts";
import { ended, type RunRow } from "../../../src/core/types.ts";

type Link = TemporalStoreParts["link"];

/** Stands for a server and its sandboxes where a test must decide what is answered when. A real server can't be told that. */
export class FakeTemporal {
  readonly #runs = new Map<string, JournalState>();
  readonly #answers = new Map<string, AppendAnswer>();
  /** The rows as the server shows them without a worker. */
  readonly #shown = new Map<string, RunRow>();
  /** The queries that workers have answered. */
  readonly queries: string[] = [];
  /** Called before an append's answer is given, when it has long been applied. */
  beforeAnswer: () => Promise<void> = async () => undefined;

  link(): Link {
    const request = { client: this.#client() };
    return {
      taskQueue: "fake",
      storeId: "fake-store",
      ask: (_run, work) => work(request.client),
      close: async () => undefined,
      complete: async (runId, _offer, end) => {
        if (end?.claim) this.#append(runId, end.claim);
        return true;
      },
      untilEnded: () => new Promise(() => undefined),
    };
  }

  #client(): Client {
    const workflow = {
      start: async (_type: string, { workflowId, args: [args] }: { workflowId: string; args: unknown[] }) => {
        const { create } = args as RunArguments;
        if (this.#runs.has(workflowId) || !create)
          throw Object.assign(new Error(workflowId), { name: "WorkflowExecutionAlreadyStartedError" });
        const state = new JournalState();
        state.append(create.append, false, Date.now());
        this.#runs.set(workflowId, state);
        this.#shown.set(workflowId, state.row);
      },
      getHandle: (workflowId: string) => ({
        signal: async (_name: string, message: AppendMessage) => this.#append(workflowId, message),
        query: (name: string, ...args: unknown[]) => this.#query(workflowId, name, args),
        describe: async () => this.#describe(workflowId),
      }),
    };
    return { workflow } as unknown as Client;
  }

  #state(runId: string): JournalState {
    const state = this.#runs.get(runId);
    if (!state) throw Object.assign(new Error(runId), { name: "WorkflowNotFoundError" });
    return state;
  }

  /** What ends is an execution; an append afterwards begins another. */
  #describe(runId: string) {
    const { row } = this.#state(runId);
    const isOver = ended(row.status) && row.wakeAt === null && row.claim.token === null;
    const status = { name: isOver ? "COMPLETED" : "RUNNING" };
    return { runId: `execution-${row.seq}`, status, memo: { [MEMO.row]: this.#shown.get(runId) } };
  }

  #append(runId: string, { append, number }: AppendMessage): void {
    const state = this.#state(runId);
    const reason = state.append(append, state.row.claim.token !== null, Date.now());
    this.#answers.set(number, reason ? { ok: false, reason, held: this.#held(state) } : { ok: true });
    if (!reason && !append.countsOnly) this.#shown.set(runId, state.row);
  }

  #held(state: JournalState) {
    return state.held(state.row.claim.token !== null);
  }

  async #query(runId: string, name: string, [arg]: unknown[]): Promise<unknown> {
    const state = this.#state(runId);
    this.queries.push(name);
    switch (name) {
      case QUERIES.row:
        return this.#held(state);
      case QUERIES.entries:
        return state.page(arg as { from: number; limit: number });
      case QUERIES.blobs:
        return state.blobs(arg as string[]);
      case QUERIES.carried:
        return state.carry("execution", { life: null, buried: [] });
      default:
        await this.beforeAnswer();
        return this.#answers.get(String(arg)) ?? null;
    }
  }
}
