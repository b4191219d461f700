import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { encode } from "../values/codec.ts";
import type { JournalEvent } from "./events.ts";
import { parseEntry } from "./journal.ts";
import { entriesOf } from "./read.ts";
import type { Values } from "./values.ts";

/** An item as its writer compares it. */
export interface StreamItem {
  readonly text: string;
  readonly by: string;
  /** Written anew since. */
  isVoid?: true;
}

/** What a run has written to one of its streams and hasn't voided since. */
export interface StreamContent {
  readonly items: StreamItem[];
  inBody: boolean | undefined;
  closed: boolean;
}

export type StreamEvent = JournalEvent & { readonly kind: "stream_written" };

/** The events of a run's stream, from a position on, with their values. Those of dropped values say so (`dropped`). */
export async function* streamEvents(
  store: Store,
  runId: string,
  stream: string,
  range: { readonly from: number; readonly upTo: number },
): AsyncGenerator<StreamEvent> {
  for await (const entry of entriesOf(store, runId, Math.max(1, range.from), range.upTo)) {
    if (!entry.head.includes(MARK)) continue;
    for (const event of parseEntry(runId, entry).events)
      if (event.kind === "stream_written" && event.meta.stream === stream && event.seq >= range.from)
        yield event;
  }
}

/** Heads are JSON: one without this text has no such event. */
const MARK = "stream_written";

/** The content of a stream, as its next writer finds it. */
export async function streamContent(
  store: Store,
  values: Values,
  { id, seq }: Pick<RunRow, "id" | "seq">,
  stream: string,
): Promise<StreamContent> {
  const content: StreamContent = { items: [], inBody: undefined, closed: false };
  for await (const event of streamEvents(store, id, stream, { from: 1, upTo: seq })) {
    const { at, by = "", inBody = false, closed } = event.meta;
    // A value that is gone compares as different, and is written anew.
    const found = event.dropped ? [] : ((await values.decode(id, event.data)) as unknown[] | undefined);
    content.items.length = Math.min(content.items.length, at);
    for (const value of found ?? []) content.items.push({ text: encode(value), by });
    content.inBody = inBody;
    content.closed ||= closed === true;
  }
  return content;
}
