import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import type { EventKind, JournalEvent } from "../journal/events.ts";
import type { Logger } from "../ports.ts";
import { EventStream, type EventsOptions } from "./event-stream.ts";
import { checkEventType } from "./event-types.ts";

interface JournaledEvent<K extends EventKind> {
  readonly type: K;
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly step: string;
  readonly actor?: string;
}

/** What listeners are told. Sent only after the append behind it is durable. */
export type EngineEvent =
  | { [K in EventKind]: JournaledEvent<K> }[EventKind]
  | {
      readonly type: "checkpoint_saved";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly step: string;
      readonly checkpointId: string;
    }
  | {
      readonly type: "recovered";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly recovery: number;
    }
  /** A run keeps losing its worker: this is its takeover number `recovery` without progress; after `limit` it waits for review. */
  | {
      readonly type: "recovery_alarm";
      readonly runId: string;
      readonly at: number;
      readonly recovery: number;
      readonly limit: number;
    }
  | {
      readonly type: "in_doubt";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly step: string;
    }
  | {
      readonly type: "gate_waiting";
      readonly runId: string;
      readonly seq: number;
      readonly at: number;
      readonly step: string;
      readonly digest: string;
    }
  | {
      readonly type: "checkpoint_failed";
      readonly runId: string;
      readonly at: number;
      readonly error: unknown;
      readonly sinceMs: number;
    }
  | EngineStateEvent;

/** What happens to the engine itself, not to one of its runs. */
type EngineStateEvent =
  /** Writes fail. Runs wait at their next step; starts and acts are refused (HF-3002) until it is back. */
  | { readonly type: "store_failing"; readonly at: number; readonly error: unknown }
  | { readonly type: "store_recovered"; readonly at: number; readonly sinceMs: number }
  /** Told to one reader of `engine.events()`: it reads too slowly, and so many events before the next one were dropped. */
  | { readonly type: "events_missed"; readonly at: number; readonly count: number }
  /** `high`: no run is taken any more; `false` when things are as usual again. `used`: the share of the heap in use. */
  | { readonly type: "memory_pressure"; readonly at: number; readonly used: number; readonly high: boolean };

export type EngineEventType = EngineEvent["type"];
export type EngineEventOf<T extends EngineEventType> = Extract<EngineEvent, { type: T }>;
type Listener = (event: EngineEvent) => unknown;

/** Typed events, by listener or as an async iterable. A listener that throws harms nobody. */
export class Emitter {
  readonly #listeners = new Map<EngineEventType | "*", Set<Listener>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  on(type: EngineEventType | "*", listener: Listener): () => void {
    if (type !== "*") checkEventType(type);
    if (typeof listener !== "function")
      throw new HoldfastError("HF-1003", { option: "listener", problem: "it is not a function" });
    let set = this.#listeners.get(type);
    if (!set) this.#listeners.set(type, (set = new Set()));
    set.add(listener);
    return () => set.delete(listener);
  }

  /** The events of one append, in order. */
  journal(runId: string, events: readonly JournalEvent[]): void {
    if (this.#listeners.size === 0) return;
    for (const event of events) {
      const { kind, seq, at, step, actor } = event;
      this.emit({
        type: kind,
        runId,
        seq,
        at,
        step,
        ...(actor === undefined ? {} : { actor }),
      } as EngineEvent);
      // One that is put aside in the same write is not going on.
      const isAside = event.kind === "run_claimed" && events.some((one) => one.kind === "run_waiting");
      for (const more of isAside ? [] : derived(runId, event)) this.emit(more);
    }
  }

  emit(event: EngineEvent): void {
    for (const type of [event.type, "*"] as const) {
      for (const listener of this.#listeners.get(type) ?? []) {
        try {
          const answer = listener(event);
          // One that answers later harms nobody, either.
          if (answer instanceof Promise)
            detached(answer, this.#logger, "an event listener", { type: event.type });
        } catch (error) {
          this.#logger.error("an event listener threw", { type: event.type, error: String(error) });
        }
      }
    }
  }

  /** Every event from this call on; ends when the consumer stops or `close` is called. */
  stream(options: EventsOptions = {}): EventStream {
    const stream = new EventStream(options, () => {
      off();
      this.#streams.delete(stream);
    });
    const off = this.on("*", (event) => stream.push(event));
    if (this.#closed) stream.end();
    else this.#streams.add(stream);
    return stream;
  }

  readonly #streams = new Set<EventStream>();
  #closed = false;

  /** How many readers there are. */
  get readers(): number {
    return this.#streams.size;
  }

  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.end();
  }
}

function derived(runId: string, event: JournalEvent): EngineEvent[] {
  const { seq, at, step } = event;
  switch (event.kind) {
    case "step_completed":
    case "gate_answered":
    case "loop_advanced":
    case "checkpoint_marked":
      return [{ type: "checkpoint_saved", runId, seq, at, step, checkpointId: `${runId}@${seq}` }];
    case "run_claimed":
      return event.meta.recovery > 0
        ? [{ type: "recovered", runId, seq, at, recovery: event.meta.recovery }]
        : [];
    case "step_in_doubt":
      return [{ type: "in_doubt", runId, seq, at, step }];
    case "step_started":
      return event.meta.type === "gate"
        ? [{ type: "gate_waiting", runId, seq, at, step, digest: event.meta.args ?? "" }]
        : [];
    default:
      return [];
  }
}
