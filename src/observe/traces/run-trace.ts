import type { JournalEvent, StepStarted } from "../../core/journal/events.ts";
import { around } from "../../core/keys.ts";
import type { RunRow } from "../../core/types.ts";
import { nameOf, ofClaim, ofRun, ofStep, ofUsage } from "./attributes.ts";
import { placeOf, type SpanPlace, stepSpanId, stretchSpanId, type TracePlace } from "./ids.ts";
import type { Attributes, Span, SpanEvent } from "./span.ts";

/** An error as it was stored, if it may be shown. */
export interface Thrown {
  readonly type: string;
  readonly message: string | undefined;
}

interface OpenStep {
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly start: number;
  readonly meta: StepStarted;
}

/** The time in which one claim holds the run. The first one is the run's own span, the later ones are below it. */
interface Stretch {
  readonly spanId: string;
  readonly isFirst: boolean;
  readonly start: number;
  readonly attributes: Attributes;
  readonly events: SpanEvent[];
  /** True when nothing but the claim is recorded yet. */
  isEmpty: boolean;
}

/** Everything else stays open when a worker is lost: the run waits for it, whoever has it. */
const isCall = (type: StepStarted["type"]): boolean => type === "call" || type === "transaction";
/** The most events that a span tells of. */
const MOST_EVENTS = 100;
/** Told of as events of the stretch in which they happened. */
const TOLD: ReadonlySet<JournalEvent["kind"]> = new Set([
  "pause_requested",
  "cancel_requested",
  "run_resumed",
  "run_migrated",
  "signal_received",
  "step_resolved",
  "decision_made",
  "budget_set",
  "value_edited",
  "content_checked",
] as const);

/**
 * Turns a run's journal into spans, event by event. What it returns depends on the journal alone, so two processes that
 * read the same journal make the same spans.
 */
export class RunTrace {
  readonly place: TracePlace;
  readonly #run: RunRow;
  readonly #links: Span["links"];
  readonly #messages: boolean;
  readonly #open = new Map<string, OpenStep>();
  #stretch: Stretch | null = null;
  /** True when somebody has had the run. */
  #isBegun = false;
  /** The position up to which the journal is known. */
  seq = 0;

  constructor(run: RunRow, trace: string | undefined, links: Span["links"] = [], messages = true) {
    this.#run = run;
    this.#messages = messages;
    this.#links = links;
    this.place = placeOf(run, trace);
  }

  /** True while a worker has the run. */
  get isHeld(): boolean {
    return this.#stretch !== null;
  }

  /** A part of the journal isn't read: whatever was open has ended in it. */
  skip(): void {
    this.#stretch = null;
    this.#isBegun = true;
    this.#open.clear();
  }

  /** Takes the next event, and returns the spans that it ends. */
  take(event: JournalEvent, thrown?: Thrown): Span[] {
    this.seq = event.seq;
    const stretch = this.#stretch;
    if (event.kind === "run_claimed") return this.#claimed(event);
    if (stretch) stretch.isEmpty = false;
    if (stretch && TOLD.has(event.kind) && stretch.events.length < MOST_EVENTS)
      stretch.events.push({ name: event.kind, at: event.at, attributes: toldOf(event) });
    switch (event.kind) {
      case "run_waiting":
      case "run_paused":
      case "run_released":
      case "run_failed":
        return [...this.#endAll(event.at, "abandoned"), ...this.#release(event)];
      case "run_completed":
      case "run_cancelled":
        return [...this.#endAll(event.at, "abandoned", () => true), ...this.#release(event)];
      default:
        return this.#step(event, thrown);
    }
  }

  #claimed(event: JournalEvent & { kind: "run_claimed" }): Span[] {
    const { at, epoch, meta } = event;
    const before = this.#stretch;
    // A claim that was only freed has no span of its own.
    const isLost = before !== null && (before.isFirst || !before.isEmpty);
    const spans = isLost ? [...this.#endAll(at, "lost"), this.#ended(before, at, "lost")] : [];
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    this.#stretch = {
      spanId: isFirst ? this.place.spanId : stretchSpanId(this.#run, epoch),
      isFirst,
      start: isFirst ? this.#run.createdAt : at,
      attributes: ofClaim(meta),
      events: [],
      isEmpty: true,
    };
    return spans;
  }

  /** Calls without an outcome: their worker was lost, or the run has ended without them. */
  #endAll(at: number, how: "lost" | "abandoned", which = isCall): Span[] {
    const ending = [...this.#open].filter(([, { meta }]) => which(meta.type));
    return ending.map(([step, open]) => {
      this.#open.delete(step);
      const error = how === "lost" ? "The worker was lost, and the outcome of the call with it." : null;
      return this.#spanOf(step, open, { at, error, attributes: { "holdfast.step.outcome": how } });
    });
  }

  #release(event: JournalEvent): Span[] {
    const stretch = this.#stretch;
    if (!stretch) return [];
    this.#stretch = null;
    return [this.#ended(stretch, event.at, event)];
  }

  #ended(
    { spanId, isFirst, start, attributes, events }: Stretch,
    end: number,
    how: "lost" | JournalEvent,
  ): Span {
    const outcome = how === "lost" ? "lost" : how.kind.slice("run_".length);
    const error =
      how === "lost"
        ? "The worker was lost."
        : how.kind === "run_failed"
          ? this.#why(how.meta.message)
          : null;
    const { traceId, parent } = this.place;
    return {
      traceId,
      spanId,
      parentSpanId: isFirst ? parent?.spanId : this.place.spanId,
      name: `${isFirst ? "run" : "resume"} ${this.#run.workflow}`,
      kind: "internal",
      start,
      end: Math.max(start, end),
      attributes: { ...ofRun(this.#run), ...attributes, "holdfast.run.outcome": outcome },
      error,
      events,
      links: isFirst ? this.#links : [],
    };
  }

  #why(message: string): string {
    return this.#messages ? message : "The run failed.";
  }

  #step(event: JournalEvent, thrown: Thrown | undefined): Span[] {
    const { step, at } = event;
    switch (event.kind) {
      case "step_started":
        return this.#started(step, event.meta, at);
      case "step_completed":
        return this.#end(step, {
          at,
          error: null,
          attributes: {
            ...ofUsage(event.meta.usage),
            ...(event.meta.instead ? { "holdfast.step.instead": event.meta.instead } : {}),
          },
        });
      case "step_failed":
        return this.#end(step, { ...failure(at, thrown), attributes: ofUsage(event.meta.usage) });
      case "step_in_doubt":
        return this.#end(step, {
          at,
          error: "Its outcome is unknown.",
          attributes: { "holdfast.step.outcome": "in doubt" },
        });
      case "gate_answered":
        return this.#end(step, {
          at,
          error: null,
          attributes: { "holdfast.gate.choice": event.meta.choice },
        });
      case "child_finished":
        return this.#end(step, {
          at,
          error: event.meta.status === "failed" ? "The child failed." : null,
          attributes: { "holdfast.child.status": event.meta.status, ...ofUsage(event.meta.usage) },
        });
      default:
        return [];
    }
  }

  #started(step: string, meta: StepStarted, at: number): Span[] {
    const before = this.#open.get(step);
    const spans = before
      ? [this.#spanOf(step, before, { at, error: null, attributes: { "holdfast.step.outcome": "replaced" } })]
      : [];
    const outer = around(step).findLast((key) => this.#open.has(key));
    this.#open.set(step, {
      spanId: this.stepSpan(step, meta).spanId,
      parentSpanId: this.#open.get(outer ?? "")?.spanId ?? this.#stretch?.spanId ?? this.place.spanId,
      start: at,
      meta,
    });
    return spans;
  }

  /** The place of an attempt at a step. */
  stepSpan(step: string, { attempt, voids }: Pick<StepStarted, "attempt" | "voids">): SpanPlace {
    return {
      traceId: this.place.traceId,
      spanId: stepSpanId(this.#run, step, attempt, voids?.seq),
    };
  }

  /** The span of a step that is under way, or else the run's. */
  placeOf(step: string): SpanPlace {
    const { traceId, spanId } = this.place;
    return { traceId, spanId: this.#open.get(step)?.spanId ?? spanId };
  }

  /** An outcome whose beginning isn't known any more has no span. */
  #end(step: string, end: StepEnd): Span[] {
    const open = this.#open.get(step);
    if (!open) return [];
    this.#open.delete(step);
    return [this.#spanOf(step, open, end)];
  }

  #spanOf(step: string, { spanId, parentSpanId, start, meta }: OpenStep, end: StepEnd): Span {
    const attributes = { ...ofRun(this.#run), ...ofStep(step, meta), ...end.attributes };
    return {
      traceId: this.place.traceId,
      spanId,
      parentSpanId,
      name: nameOf(step, attributes),
      kind: attributes["gen_ai.operation.name"] === "chat" ? "client" : "internal",
      start,
      end: Math.max(start, end.at),
      attributes,
      error: end.error,
      events: end.events ?? [],
      links: [],
    };
  }
}

interface StepEnd {
  readonly at: number;
  readonly error: string | null;
  readonly attributes: Attributes;
  readonly events?: readonly SpanEvent[];
}

function failure(at: number, thrown: Thrown | undefined): Omit<StepEnd, "attributes"> {
  const { type = "Error", message } = thrown ?? {};
  const attributes = {
    "exception.type": type,
    ...(message === undefined ? {} : { "exception.message": message }),
  };
  return { at, error: message ?? type, events: [{ name: "exception", at, attributes }] };
}

/** Who did it and why stay in the journal: traces are often read by more people than that. */
function toldOf(event: JournalEvent): Attributes {
  const step = event.step === "" ? {} : { "holdfast.step": event.step };
  if (event.kind === "signal_received") return { ...step, "holdfast.signal": event.meta.name };
  if (event.kind === "step_resolved") return { ...step, "holdfast.resolution": event.meta.action };
  return step;
}
