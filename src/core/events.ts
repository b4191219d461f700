import type { Effect, Parent, RunStatus, Waiting } from "./types.ts";

/**
 * The journal's vocabulary: every kind of event and what its header says. Values of any size travel beside the
 * header as `data`; headers stay small, hold no user data but names, and are never pruned.
 */
export interface EventMeta {
  run_created: { workflow: string; version: string; lineage: string; parent?: Parent };
  run_claimed: { owner: string; recovery: number };
  run_waiting: { waiting: readonly Waiting[] };
  /** The worker let go in good order, at a shutdown: anyone may go on at once. */
  run_released: Empty;
  run_paused: Empty;
  run_resumed: { reason?: string; retryFailed?: boolean };
  run_completed: Empty;
  run_failed: { message: string; steps: readonly string[]; compensated?: boolean };
  run_cancelled: { reason?: string };
  pause_requested: { reason?: string };
  cancel_requested: { reason?: string };
  parent_notified: Empty;
  step_started: StepStarted;
  step_completed: { ms?: number; took?: number; usage?: UsageMeta };
  step_failed: { attempt: number; retryAt?: number; usage?: UsageMeta };
  step_in_doubt: { attempt: number; rerunAfter: number };
  step_resolved: { action: "rerun" | "done" | "failed"; reason?: string };
  /** A result that came after its worker lost the claim: proof that the call was made. A late failure proves nothing. */
  step_evidence: { attempt: number };
  gate_answered: { digest: string; choice: string };
  child_finished: { child: string; status: RunStatus };
  signal_received: { name: string; id: string };
  value_recorded: { value: number };
  memory_written: { name: string; deleted?: boolean };
  usage_recorded: UsageMeta;
  decision_made: Empty;
  agent_updated: { agent: string };
  checkpoint_marked: { label: string; trigger: string };
  loop_advanced: { iteration: number; done?: boolean };
  snapshot_taken: Empty;
}

type Empty = Record<never, never>;

export interface UsageMeta {
  readonly tokens: number;
  readonly costUsd: number;
  readonly model?: string;
}

/** What a step is: a call of user code, or a wait of a certain kind. */
export type StepType = "call" | "gate" | "timer" | "signal" | "child" | "transaction";

/** A step's intent. Durable before anything it announces may happen. */
export interface StepStarted {
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempt: number;
  /** Call number: part of the idempotency key. */
  readonly call: number;
  /** Fingerprint of the idempotency key; the key itself is never stored. */
  readonly key?: string;
  /** Digest of the arguments, or of what a gate shows. */
  readonly args?: string;
  readonly timeoutMs?: number;
  /** It can be undone, so a cancel with compensation must undo it. */
  readonly undo?: true;
  /** Waits: when they give up or fire. */
  readonly until?: number;
  readonly child?: string;
  readonly names?: readonly string[];
}

export type EventKind = keyof EventMeta;

type EventOf<K extends EventKind> = { readonly kind: K; readonly step: string; readonly meta: EventMeta[K] };

/** A stored value: its encoded text, or the hash of the blob that holds that text. */
export type Raw = string | { readonly blob: string };

/** An event on its way into the journal. */
export type EventDraft = { [K in EventKind]: EventOf<K> & { readonly data?: Raw } }[EventKind];

/** An event as the journal holds it. */
export type JournalEvent = EventDraft & Stamp;

interface Stamp {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly actor?: string;
}
