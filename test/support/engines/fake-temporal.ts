import {
  type AppendAnswer,
  type AppendMessage,
  QUERIES,
  type RunArguments,
} from "../../../src/adapters/temporal/contract.ts";
import { JournalState } from "../../../src/adapters/temporal/journal-state.ts";
import type { Client } from "../../../src/adapters/temporal/sdk.ts";
import type { TemporalStoreParts } from "../../../src/adapters/temporal/store.ts";

type Link = TemporalStoreParts["link"];

/** Stands for a server and its sandboxes where a test must decide what is answered when. A real server can't be told that. */
export class FakeTemporal {
  readonly #runs = new Map<string, JournalState>();
  readonly #answers = new Map<string, AppendAnswer>();
  /** Called before an append's answer is given, when it has long been applied. */
  beforeAnswer: () => Promise<void> = async () => undefined;

  link(): Link {
    const request = { client: this.#client() };
    return {
      taskQueue: "fake",
      storeId: "fake-store",
      ask: (_run, work) => work(request.client),
      close: async () => undefined,
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
      },
      getHandle: (workflowId: string) => ({
        signal: async (_name: string, message: AppendMessage) => this.#append(workflowId, message),
        query: (name: string, ...args: unknown[]) => this.#query(workflowId, name, args),
      }),
    };
    return { workflow } as unknown as Client;
  }

  #state(runId: string): JournalState {
    const state = this.#runs.get(runId);
    if (!state) throw Object.assign(new Error(runId), { name: "WorkflowNotFoundError" });
    return state;
  }

  #append(runId: string, { append, number }: AppendMessage): void {
    const state = this.#state(runId);
    const reason = state.append(append, state.row.claim.token !== null, Date.now());
    this.#answers.set(number, reason ? { ok: false, reason, held: this.#held(state) } : { ok: true });
  }

  #held(state: JournalState) {
    return state.held(state.row.claim.token !== null);
  }

  async #query(runId: string, name: string, [arg]: unknown[]): Promise<unknown> {
    const state = this.#state(runId);
    switch (name) {
      case QUERIES.row:
        return this.#held(state);
      case QUERIES.entries:
        return state.page(arg as { from: number; limit: number });
      default:
        await this.beforeAnswer();
        return this.#answers.get(String(arg)) ?? null;
    }
  }
}
