import type { JournalEvent } from "../../core/journal/events.ts";
import type { ObservedEngine } from "../../core/journal/observer.ts";
import type { RunRow } from "../../core/types.ts";
import { placeOf } from "./ids.ts";
import { RunTrace, type Thrown } from "./run-trace.ts";
import type { Attributes, Span } from "./span.ts";

export interface TracerOptions {
  /** Takes finished spans. It must not throw. */
  readonly out: (spans: readonly Span[]) => void;
  /** False leaves the messages of errors out. */
  readonly messages: boolean;
  readonly failed: (error: unknown) => void;
}

/** The most runs that are remembered after this process has let them go. */
const MOST_RUNS = 1_000;
/** The most events that are read back when a run is taken over. */
const MOST_BACK = 5_000;
/** The first claim is among so many events of a run. */
const FIRST_CLAIM = 50;

interface Traced {
  trace: RunTrace | undefined;
  /** What has to be done in order before the next events; `null` when nothing is under way. */
  work: Promise<void> | null;
}

/**
 * Makes the spans of the runs that this process advances, from what it writes to their journals. Where others have
 * written in between (answers, the worker before), it reads that from the store: nothing of it is on a run's own way.
 */
export class Tracer {
  readonly #engine: ObservedEngine;
  readonly #options: TracerOptions;
  /** The least recently used first. */
  readonly #runs = new Map<string, Traced>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(engine: ObservedEngine, options: TracerOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** The trace of a run that this process knows. */
  traceOf(runId: string): RunTrace | undefined {
    return this.#runs.get(runId)?.trace;
  }

  wrote(run: RunRow, events: readonly JournalEvent[]): void {
    const [first] = events;
    const known = this.#runs.get(run.id);
    if (!first || (!known && !events.some(({ kind }) => kind === "run_claimed"))) return;
    const traced = known ?? { trace: undefined, work: null };
    this.#remember(run.id, traced);
    if (!traced.trace && first.kind === "run_created" && first.meta.origin === undefined)
      traced.trace = new RunTrace(run, first.meta.trace, [], this.#options.messages);
    const { trace } = traced;
    if (trace && !traced.work && first.seq === trace.seq + 1 && !events.some(hasError))
      return this.#options.out(events.flatMap((event) => trace.take(event)));
    this.#later(traced, () => this.#catchUp(traced, run, events));
  }

  /** Resolves when everything that was written so far has become spans. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #remember(runId: string, traced: Traced): void {
    this.#runs.delete(runId);
    this.#runs.set(runId, traced);
    if (this.#runs.size <= MOST_RUNS) return;
    for (const [id, { trace, work }] of this.#runs) {
      if (trace?.isHeld === true || work) continue;
      this.#runs.delete(id);
      if (this.#runs.size <= MOST_RUNS) return;
    }
  }

  #later(traced: Traced, work: () => Promise<void>): void {
    const before = traced.work ?? Promise.resolve();
    const next = before
      .then(work)
      .catch(this.#options.failed)
      .finally(() => {
        this.#underWay.delete(next);
        if (traced.work === next) traced.work = null;
      });
    traced.work = next;
    this.#underWay.add(next);
  }

  async #catchUp(traced: Traced, run: RunRow, events: readonly JournalEvent[]): Promise<void> {
    const first = events[0]?.seq ?? 1;
    const isTakeover = traced.trace === undefined;
    traced.trace ??= await this.#begin(run);
    const { trace } = traced;
    if (isTakeover) await this.#readBack(trace, run, first);
    else if (trace.seq + 1 < first)
      this.#options.out(await this.#read(trace, run.id, trace.seq + 1, first - 1));
    for (const event of events)
      if (event.seq > trace.seq) this.#options.out(await this.#take(trace, run.id, event));
  }

  /**
   * What the worker before may have had no time to export is exported again: everything of its stretch, and of those
   * before that ended with the loss of a worker, too. It is the same as what that worker exports, ids included.
   */
  async #readBack(trace: RunTrace, run: RunRow, before: number): Promise<void> {
    const begin = (run.origin?.seq ?? 0) + 1;
    const from = Math.max(begin, before - MOST_BACK);
    if (from > begin) await this.#skipTo(trace, run.id, begin, from);
    let spans: Span[] = [];
    for await (const event of this.#engine.events(run.id, from, before - 1)) {
      // The stretch before ended well, so its worker was there to export it; the run's own span is worth the doubt.
      if (event.kind === "run_claimed" && !trace.isHeld) spans = spans.filter((one) => isRun(one, trace));
      spans.push(...(await this.#take(trace, run.id, event)));
    }
    trace.seq = Math.max(trace.seq, before - 1);
    this.#options.out(spans);
  }

  /** Of a long journal only the beginning and the newest part are read. */
  async #skipTo(trace: RunTrace, runId: string, begin: number, from: number): Promise<void> {
    let epoch = 0;
    for await (const event of this.#engine.events(runId, begin, begin + FIRST_CLAIM)) {
      trace.take(event);
      if (event.kind !== "run_claimed") continue;
      ({ epoch } = event);
      break;
    }
    for await (const event of this.#engine.events(runId, from, from)) if (event.epoch !== epoch) trace.skip();
  }

  async #begin(run: RunRow): Promise<RunTrace> {
    const { origin, parent } = run;
    const { messages } = this.#options;
    if (origin) {
      const links = await this.#linksTo(origin.runId, { "holdfast.fork.seq": origin.seq });
      return new RunTrace(run, undefined, links, messages);
    }
    const trace = await this.#startedUnder(run.id);
    // A parent that was advanced without tracing recorded no context for its child.
    const links = parent && trace === undefined ? await this.#linksTo(parent.runId, {}) : [];
    return new RunTrace(run, trace, links, messages);
  }

  /** The trace context that a run was started with. */
  async #startedUnder(runId: string): Promise<string | undefined> {
    for await (const event of this.#engine.events(runId, 1, 1))
      if (event.kind === "run_created") return event.meta.trace;
    return undefined;
  }

  /** A fork has a trace of its own, which links to its source's. */
  async #linksTo(runId: string, more: Attributes): Promise<Span["links"]> {
    const source = await this.#engine.read(runId);
    if (!source) return [];
    const { traceId, spanId } = placeOf(source, await this.#startedUnder(source.id));
    return [{ traceId, spanId, attributes: { "holdfast.run.id": source.id, ...more } }];
  }

  async #read(trace: RunTrace, runId: string, from: number, upTo: number): Promise<Span[]> {
    const spans: Span[] = [];
    for await (const event of this.#engine.events(runId, from, upTo))
      spans.push(...(await this.#take(trace, runId, event)));
    return spans;
  }

  async #take(trace: RunTrace, runId: string, event: JournalEvent): Promise<Span[]> {
    return trace.take(event, hasError(event) ? await this.#thrown(runId, event) : undefined);
  }

  async #thrown(runId: string, event: JournalEvent): Promise<Thrown | undefined> {
    const error = await this.#engine.value(runId, event);
    if (!(error instanceof Error)) return undefined;
    return { type: error.name, message: this.#options.messages ? error.message : undefined };
  }
}

const hasError = ({ kind }: JournalEvent): boolean => kind === "step_failed";
const isRun = ({ spanId }: Span, { place }: RunTrace): boolean => spanId === place.spanId;
