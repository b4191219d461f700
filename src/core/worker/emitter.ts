import { checkFunction, checkKeys } from "../check-options.ts";
import { defined } from "../defined.ts";
import { detached } from "../detached.ts";
import type { JournalEvent } from "../journal/events.ts";
import type { Logger } from "../logger.ts";
import { EventStream, type EventsOptions } from "./event-stream.ts";
import { checkEventType, type EngineEvent, type EngineEventType } from "./event-types.ts";

type Listener = (event: EngineEvent) => unknown;

/** Typed events, by listener or as an async iterable. A listener that throws does no harm. */
export class Emitter {
  readonly #listeners = new Map<EngineEventType | "*", Set<Listener>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  on(type: EngineEventType | "*", listener: Listener): () => void {
    if (type !== "*") checkEventType(type);
    checkFunction("listener", listener);
    let set = this.#listeners.get(type);
    if (!set) this.#listeners.set(type, (set = new Set()));
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Emits the events of one append, in order. */
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
        ...defined({ actor }),
      } as EngineEvent);
      // A run that is put aside in the same write doesn't continue.
      const isAside = event.kind === "run_claimed" && events.some((one) => one.kind === "run_waiting");
      for (const more of isAside ? [] : derived(runId, event)) this.emit(more);
    }
  }

  emit(event: EngineEvent): void {
    for (const type of [event.type, "*"] as const) {
      for (const listener of this.#listeners.get(type) ?? []) {
        try {
          const answer = listener(event);
          // A rejected promise of a listener does no harm, either.
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
    checkKeys(options, ["most"]);
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

  /** The number of readers. */
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
