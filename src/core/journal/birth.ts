import type { CommitResult } from "../store/commit.ts";
import type { ClaimChange } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { JournalEvent } from "./events.ts";
import type { PendingEvent } from "./pending-event.ts";

/** A run that is about to be created by its worker, in the append that also has the first intent, or its end. */
export interface Birth {
  /** The run before its first entry, with the claim that the append takes. */
  readonly before: RunRow;
  readonly claim: ClaimChange & { readonly kind: "acquire" };
  /** The time of the append, and with it of all its events. */
  readonly at: number;
  /** The events of the creation: the first of the append. */
  readonly pending: readonly PendingEvent[];
  /** The same, and the run's row, as they are when nothing joins them. */
  readonly events: readonly JournalEvent[];
  readonly row: RunRow;
  /** Called with the store's answer, or with why there will be none. */
  settle(result: CommitResult): void;
}
