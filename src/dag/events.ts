import type { AppliedCommand, DAGDecision, DAGWarning } from "./types.ts";

interface Base {
  readonly workflow_id: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

interface InLayer extends Base {
  readonly layer_index: number;
}

interface OfTask extends InLayer {
  readonly task_id: string;
}

/** What happens while a DAG is executed, for listeners in this process. */
export type DAGEvent =
  | (Base & { readonly type: "workflow_started"; readonly total_layers: number })
  | (InLayer & { readonly type: "layer_started"; readonly tasks: readonly string[] })
  | (OfTask & { readonly type: "task_started" })
  | (OfTask & { readonly type: "task_completed"; readonly duration: number })
  | (OfTask & { readonly type: "task_failed"; readonly error: unknown })
  | (InLayer & { readonly type: "decision_required"; readonly choices: readonly string[] })
  | (InLayer & { readonly type: "decision_made"; readonly decision: DAGDecision })
  | (InLayer & { readonly type: "command_applied" | "command_rejected"; readonly command: AppliedCommand })
  | (OfTask & { readonly type: "speculation_started" | "speculation_confirmed" | "speculation_discarded" })
  | (InLayer & { readonly type: "dag_changed"; readonly warnings: readonly DAGWarning[] })
  /** The checkpoint is durable. `duration`: how long that took, in milliseconds. */
  | (InLayer & {
      readonly type: "checkpoint_saved";
      readonly checkpoint_id: string;
      readonly bytes: number;
      readonly duration: number;
    })
  /** The store has refused a save. It is tried again; see `onCheckpointFailure`. */
  | (Base & { readonly type: "checkpoint_failed"; readonly error: unknown })
  /** The checkpoint is larger than 500 KB. */
  | (InLayer & { readonly type: "checkpoint_large"; readonly checkpoint_id: string; readonly bytes: number })
  | (Base & { readonly type: "workflow_completed" | "workflow_aborted" })
  | (Base & { readonly type: "workflow_failed"; readonly error: unknown });

/** The names of an executor's events. */
export type DAGEventType = DAGEvent["type"];
/** The event of a given type. */
export type DAGEventOf<T extends DAGEventType> = Extract<DAGEvent, { type: T }>;

/** An event without what all events have. */
export type EventBody<E = DAGEvent> = E extends DAGEvent ? Omit<E, keyof Base> : never;

/** Passes events to listeners and readers. */
export class DAGEvents {
  readonly #listeners = new Map<DAGEventType, Set<(event: DAGEvent) => void>>();
  readonly #streams = new Set<DAGEventStream>();

  emit(event: DAGEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) {
      try {
        listener(event);
      } catch {
        // A listener's failure must not change what the workflow does.
      }
    }
    for (const stream of this.#streams) stream.push(event);
  }

  on(type: DAGEventType, listener: (event: DAGEvent) => void): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  stream(): AsyncIterableIterator<DAGEvent> {
    const stream = new DAGEventStream(() => this.#streams.delete(stream));
    this.#streams.add(stream);
    return stream;
  }

  close(): void {
    for (const stream of this.#streams) stream.end();
  }
}

type Read = IteratorResult<DAGEvent, undefined>;

class DAGEventStream implements AsyncIterableIterator<DAGEvent, undefined> {
  readonly #stop: () => void;
  readonly #queue: DAGEvent[] = [];
  readonly #readers: ((read: Read) => void)[] = [];
  #ended = false;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(event: DAGEvent): void {
    const reader = this.#readers.shift();
    if (reader) reader({ done: false, value: event });
    else this.#queue.push(event);
  }

  next(): Promise<Read> {
    const value = this.#queue.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Ends the stream; waiting events can still be read. */
  end(): void {
    this.#ended = true;
    this.#stop();
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  return(): Promise<Read> {
    this.end();
    this.#queue.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }
}
