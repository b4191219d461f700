import type { RecordDraft } from "../records.ts";
import type { Blob } from "../store/contract.ts";
import type { EventDraft, JournalEvent } from "./events.ts";

/** An event on its way into the journal. */
export interface PendingEvent {
  readonly event: EventDraft;
  readonly blobs?: readonly Blob[] | undefined;
  /** The record that shows its value. */
  readonly record?: RecordDraft | undefined;
  /** True for an intent, which is held back while the run is told to stop. */
  intent?: boolean;
  /** Releases the claim with this event. */
  readonly release?: boolean;
  readonly onDurable?: (event: JournalEvent) => void;
  /** For events that others may decide or change first; called when they did, and then it isn't written. */
  onOvertaken?: (() => void) | undefined;
  /** Additional events that overtake it, besides those about its own step. */
  readonly overtakenBy?: ((event: JournalEvent) => boolean) | undefined;
  /** Called right before it is written: if its basis is no longer valid, it counts as overtaken. */
  readonly holds?: (() => boolean) | undefined;
  /** The intent of an undo: a pause holds it back, a cancel doesn't. */
  readonly undo?: boolean;
  /** For events that the run may continue without saving; called when the store fails and runs continue anyway. */
  onAhead?: (() => void) | undefined;
}

/** The optional parts of an intent. */
export type IntentParts = Pick<PendingEvent, "blobs" | "holds">;
