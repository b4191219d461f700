import type { SpanPlace } from "./ids.ts";

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: Attributes;
}

/** A finished span as plain data. It follows from the journal alone: whoever exports it exports the same. */
export interface Span extends SpanPlace {
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "client" | "server";
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  /** `null`: nothing went wrong; otherwise why. */
  readonly error: string | null;
  readonly events: readonly SpanEvent[];
  readonly links: readonly (SpanPlace & { readonly attributes: Attributes })[];
}
