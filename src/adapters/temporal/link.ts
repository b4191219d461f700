import { HoldfastError } from "../../core/errors.ts";
import { type OfferEnd, storeWorkflowId } from "./contract.ts";
import { type Client, type Connection, type Handle, loadClient } from "./sdk.ts";
import { Turns } from "./turns.ts";

/** How to reach a Temporal server. */
export interface TemporalAddress {
  /** `host:port`. Default `127.0.0.1:7233`. */
  readonly address?: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** The task queue of the runs; each is a store of its own. Default `holdfast`. */
  readonly taskQueue?: string;
  /** More for Temporal's `Connection.connect`, as plain data: `tls`, `apiKey`, `metadata`. */
  readonly connect?: Readonly<Record<string, unknown>>;
  /** Data converter for everything that goes to Temporal, such as one with a codec that encrypts. */
  readonly dataConverter?: object;
}

/** How long one request may take before its outcome counts as unknown. */
const REQUEST_MS = 10_000;

const CODES = { notFound: 5, invalid: 3, exhausted: 8, deadline: 4, cancelled: 1, unavailable: 14 } as const;

/** The gRPC status of an error of the SDK, which may be inside another. */
export function statusOf(error: unknown): number | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at.name === "WorkflowNotFoundError") return CODES.notFound;
    if (at.name === "WorkflowUpdateRPCTimeoutOrCancelledError") return CODES.deadline;
    const { code } = at as { code?: unknown };
    if (typeof code === "number") return code;
  }
  return undefined;
}

export const isMissing = (error: unknown): boolean => statusOf(error) === CODES.notFound;

const isSlow = (error: unknown): boolean =>
  statusOf(error) === CODES.deadline || statusOf(error) === CODES.cancelled;

const messageOf = (error: unknown): string => {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return inner instanceof Error ? inner.message.replace(/[.\s]+$/, "") : String(inner);
};

/** Temporal's words for a query that nobody can answer now; an answer may come a moment later. */
const UNANSWERED = /no poller seen|unable to query workflow/i;

/** Waits for a connection; one that doesn't come has a code of ours. */
export async function reached<T>(address: string, connecting: Promise<T>): Promise<T> {
  try {
    return await connecting;
  } catch (error) {
    throw new HoldfastError("HF-7001", { address, problem: messageOf(error) }, { cause: error });
  }
}

/** An error that callers look at stays as it is; the others become ours. */
export function said(
  error: unknown,
  run: string,
  place: Required<Pick<TemporalAddress, "address" | "namespace" | "taskQueue">>,
): unknown {
  if (HoldfastError.is(error) || isMissing(error)) return error;
  const { name } = error as Error;
  if (name === "WorkflowExecutionAlreadyStartedError") return error;
  const { address, namespace, taskQueue: queue } = place;
  const cause = { cause: error };
  if (name === "NamespaceNotFoundError") return new HoldfastError("HF-7002", { namespace, address }, cause);
  const problem = messageOf(error);
  if (isSlow(error) || UNANSWERED.test(problem)) return new HoldfastError("HF-7003", { run, queue }, cause);
  if (/exceeds (?:size )?limit|larger than max|message larger/i.test(problem))
    return new HoldfastError("HF-7004", { run, problem }, cause);
  if (statusOf(error) === CODES.unavailable) return new HoldfastError("HF-7001", { address, problem }, cause);
  return new HoldfastError("HF-7006", { run, problem }, cause);
}

/** A connection to a namespace: every request has a deadline, and every failure a code of ours. */
export class Link {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly #options: TemporalAddress;
  readonly #open: (() => Promise<Connection>) | undefined;
  readonly #turns = new Turns();
  #client: Promise<{ readonly client: Client; readonly connection: Connection }> | null = null;

  /** `open`: a connection that somebody else opens and closes. */
  constructor(options: TemporalAddress, open?: () => Promise<Connection>) {
    this.address = options.address ?? "127.0.0.1:7233";
    this.namespace = options.namespace ?? "default";
    this.taskQueue = options.taskQueue ?? "holdfast";
    this.#options = options;
    this.#open = open;
  }

  /** Plain data, for a thread or a native connection. */
  get connectOptions(): Record<string, unknown> {
    return { ...this.#options.connect, address: this.address };
  }

  get dataConverter(): { dataConverter?: object } {
    const { dataConverter } = this.#options;
    return dataConverter ? { dataConverter } : {};
  }

  async #connected(): Promise<{ readonly client: Client; readonly connection: Connection }> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = null;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<{ client: Client; connection: Connection }> {
    const { Client, Connection } = await loadClient();
    const { namespace, address } = this;
    try {
      const connection = this.#open
        ? await this.#open()
        : await Connection.connect({ connectTimeout: 5_000, ...this.connectOptions });
      await connection.withDeadline(Date.now() + REQUEST_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      const client = new Client({ connection, namespace, ...this.dataConverter });
      return { client, connection };
    } catch (error) {
      if (HoldfastError.is(error)) throw error;
      if (isMissing(error)) throw new HoldfastError("HF-7002", { namespace, address }, { cause: error });
      throw new HoldfastError("HF-7001", { address, problem: messageOf(error) }, { cause: error });
    }
  }

  /** Makes one request when its turn has come. `run`: the run that it is about. */
  async ask<T>(run: string, request: (client: Client) => Promise<T>): Promise<T> {
    const { client, connection } = await this.#connected();
    try {
      return await this.#turns.take(() =>
        connection.withDeadline(Date.now() + REQUEST_MS, () => request(client)),
      );
    } catch (error) {
      throw said(error, run, this);
    }
  }

  /** Ends an activity of the run that its function has left open; false when nobody waits for it any more. */
  async complete(runId: string, taskToken: Uint8Array, result: OfferEnd | null): Promise<boolean> {
    // For a codec with a key for each run.
    const place = { type: "activity", namespace: this.namespace, workflowId: runId, isLocal: false };
    const how = { serializationContext: place };
    return this.ask(runId, async ({ activity }) => {
      try {
        await activity.complete(taskToken, result, how);
        return true;
      } catch (error) {
        if ((error as Error).name === "ActivityNotFoundError") return false;
        throw error;
      }
    });
  }

  /** Resolves or rejects when the run's execution has ended, however long that takes. */
  async untilEnded(runId: string, signal: AbortSignal): Promise<void> {
    const { client, connection } = await this.#connected();
    await connection.withAbortSignal(signal, () => client.workflow.getHandle(runId).result());
  }

  handle(client: Client, runId: string, execution?: string): Handle {
    return client.workflow.getHandle(runId, execution);
  }

  get storeId(): string {
    return storeWorkflowId(this.taskQueue);
  }

  async raw(): Promise<{ readonly client: Client; readonly connection: Connection }> {
    return this.#connected();
  }

  async close(): Promise<void> {
    const opened = await this.#client?.catch(() => null);
    this.#client = null;
    // The SDK tries requests again on a timer of its own, whose call on a closed connection would end the process.
    await this.#turns.settled();
    if (!this.#open) await opened?.connection.close();
  }
}
