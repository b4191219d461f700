import type { Logger } from "../logger.ts";
import type { Append } from "../store/contract.ts";
import type { Parent, RunRow } from "../types.ts";
import type { JournalEvent } from "./events.ts";

/**
 * Watches an engine: what it writes, how long that takes, and the calls it makes. Nothing here is awaited, and an engine
 * without an observer does nothing for one.
 */
export interface Observer {
  /** Events that this process has written to a run. They are durable, and no other process reports them. */
  wrote?(run: RunRow, events: readonly JournalEvent[]): void;
  /** One flush to the store: its appends, and how long it took in milliseconds. */
  flushed?(appends: readonly Append[], ms: number): void;
  /** An attempt to save these runs has failed. */
  notSaved?(runIds: readonly string[], error: unknown): void;
  /** Calls a step's function: returns what `work` returns, and may call it in a context of its own. */
  call?<R>(call: ObservedCall, work: () => R): R;
  /** The trace context (W3C `traceparent`) of whoever starts a run: the caller's, or that of the parent's step. */
  traceparent?(parent: Parent | null): string | undefined;
}

/** A call of a step's function whose intent is durable. */
export interface ObservedCall {
  readonly run: RunRow;
  /** The trace context in which the run was started. */
  readonly trace: string | undefined;
  readonly step: string;
  readonly attempt: number;
}

/** The part of a run that observers may read. */
export interface ObservedEngine {
  /** The kind of the store, such as `sqlite`. */
  readonly store: string;
  /** Reads a run, or `null`. */
  read(runId: string): Promise<RunRow | null>;
  /** The events of a run between two positions, with their values as far as those still exist. */
  events(runId: string, from: number, upTo: number): AsyncIterable<JournalEvent>;
  /** The value that an event recorded; `undefined` when it can't be read. Secrets are already redacted in it. */
  value(runId: string, event: JournalEvent): Promise<unknown>;
}

/** Something that observes engines, such as tracing or metrics. Each engine asks it for an observer of its own. */
export interface Observable {
  observe(engine: ObservedEngine): Observer;
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** True for a trace context in the form of W3C Trace Context. */
export const isTraceparent = (text: unknown): text is string =>
  typeof text === "string" && TRACEPARENT.test(text) && !text.startsWith("ff");

/** One observer for several. */
export function observers(all: readonly Observer[]): Observer | undefined {
  const [first, second] = all;
  if (!second) return first;
  return {
    wrote: (run, events) => all.forEach((one) => one.wrote?.(run, events)),
    flushed: (appends, ms) => all.forEach((one) => one.flushed?.(appends, ms)),
    notSaved: (runIds, error) => all.forEach((one) => one.notSaved?.(runIds, error)),
    call: (call, work) =>
      all.reduceRight<typeof work>(
        (inner, one) => (one.call ? () => one.call?.(call, inner) as never : inner),
        work,
      )(),
    traceparent: (parent) => {
      for (const one of all) {
        const found = one.traceparent?.(parent);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

/** Wraps an observer so that its own failures do no harm: it is called where nothing may be thrown. */
export function unfailingObserver(observer: Observer, logger: Logger): Observer {
  const safely =
    <A extends readonly unknown[]>(tell: (...args: A) => void) =>
    (...args: A): void => {
      try {
        tell(...args);
      } catch (error) {
        logger.error("an observer threw", { error: String(error) });
      }
    };
  return {
    ...observer,
    ...(observer.wrote ? { wrote: safely(observer.wrote.bind(observer)) } : {}),
    ...(observer.flushed ? { flushed: safely(observer.flushed.bind(observer)) } : {}),
    ...(observer.notSaved ? { notSaved: safely(observer.notSaved.bind(observer)) } : {}),
  };
}
