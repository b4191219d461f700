import type { Budget, Effect, EffectPolicy, Origin, Parent, RunStatus, Waiting } from "../types.ts";

/** An agent whose confidence has crossed the threshold, and the side it is on since. */
export interface Crossed {
  readonly agent: string;
  readonly to: "below" | "above";
}

/**
 * The journal's vocabulary: every kind of event and what its header says. Values of any size travel beside the
 * header as `data`; headers stay small, hold no user data but names, and are never pruned.
 */
export interface EventMeta {
  run_created: {
    workflow: string;
    version: string;
    schema?: number;
    lineage: string;
    /** What its random values are made of, wherever it goes; the first format had none. */
    seed?: string;
    /** The incarnation of the store it was made on, fingerprinted; where it was not claimed at once, which says the same. */
    store?: string;
    parent?: Parent;
    origin?: Origin;
  };
  /** Everything before it was copied from `from`, a checkpoint made at `at`; what was under way there is as if it had never begun. */
  run_forked: { from: Origin; at: number; effects: EffectPolicy; reason?: string };
  /**
   * Everything before it came from another store (`from`, fingerprinted) in a bundle. What people had said there, and nothing had come
   * of yet, does not count here. `held`: nobody here has said yet that it may go on; `waiting`: so it waits for that.
   */
  run_imported: {
    from: string;
    bundle: string;
    was: RunStatus;
    held?: true;
    waiting?: readonly Waiting[];
  };
  /** Somebody has seen the list of what an imported run would execute, and lets it go on. */
  import_accepted: { digest: string; paused?: true; reason?: string };
  run_migrated: Migrated;
  /**
   * `store`: the incarnation of the store it was claimed on, fingerprinted. Without it: of an older version, or not to be relied on.
   * `ms`: how long the claim lasts when it is not renewed. `keep`: how many checkpoints are left whenever one is added.
   */
  run_claimed: { owner: string; recovery: number; store?: string; ms?: number; keep?: Keep };
  run_waiting: { waiting: readonly Waiting[] };
  /** The worker let go in good order, at a shutdown: anyone may go on at once. */
  run_released: Empty;
  run_paused: Empty;
  budget_set: Budget;
  /**
   * `now`: calls that wait for their next try are not to wait any longer. `attempt`: its parent did it, in this attempt at the step that
   * the run is.
   */
  run_resumed: { reason?: string; retryFailed?: boolean; now?: boolean; id?: string; attempt?: number };
  /** `unasked`: finished steps that the code, when it went on after a stop, has not asked for again; the first hundred. */
  run_completed: { unasked?: readonly string[] };
  run_failed: { message: string; steps: readonly string[]; compensated?: boolean };
  run_cancelled: Told;
  /** `children`: the runs below it, too, those that are only being made included. */
  pause_requested: Told & { children?: true };
  cancel_requested: Told;
  /** Somebody has asked for something that was so already. Nothing has changed; the name of their act counts as used. */
  act_noted: Told & { act: "pause" | "resume" | "cancel" };
  /** Parent and children have been told how the run ended. */
  family_told: Empty;
  step_started: StepStarted;
  step_completed: { ms?: number; took?: number; usage?: UsageMeta; instead?: "reused" | "simulated" };
  /** `harmless`: its error proves that nothing was done outside. */
  /** `notBefore`: the receiver asks for no further call until then, and no attempt is left. */
  step_failed: {
    attempt: number;
    retryAt?: number;
    usage?: UsageMeta;
    harmless?: true;
    notBefore?: number;
  };
  /** `newKey`: the step allows it to be called under another key, should a person say so. */
  step_in_doubt: { attempt: number; rerunAfter: number; newKey?: true };
  /** `call`: the number it is called under from now on, which gives it another key. */
  step_resolved: Told & { action: "rerun" | "done" | "failed"; call?: number };
  /** A result that came after its worker lost the claim: proof that the call was made. A late failure proves nothing. */
  step_evidence: { attempt: number };
  gate_answered: Told & { digest: string; choice: string };
  /** With what it has used up since it last reported; of journals of older versions only `usage`. */
  child_finished: { child: string; status: RunStatus; usage?: UsageMeta; turns?: number; activeMs?: number };
  signal_received: { name: string; id: string; reason?: string };
  /** The mailbox was looked into, and these were taken out. */
  /** `kept`: they were read, and stay for others. */
  signals_taken: { took: readonly number[]; kept?: true };
  /** Somebody put another value in the place of a recorded one, which stays in the journal. */
  value_edited: { what: "step" | "loop" | "input" | "config"; reason?: string };
  /** A quarantined value is the one at `seq` (0: of another run); without that, its marker was recorded right before this. */
  content_checked: {
    verdict: "allow" | "quarantine" | "park";
    items?: number;
    reason?: string;
    seq?: number;
  };
  /** The steps expected in this place, by name or by number: what progress is measured against. */
  plan_made: { steps?: readonly string[]; of?: number };
  value_recorded: { value: number };
  memory_written: { name: string; deleted?: boolean };
  usage_recorded: UsageMeta;
  decision_made: Empty;
  agent_updated: { agent: string };
  checkpoint_marked: { label: string; trigger: string; crossed?: Crossed };
  /** A name or a pin for the checkpoint at `seq`, given afterwards. */
  checkpoint_tagged: { seq: number; label?: string; pinned?: boolean; pins: number; reason?: string };
  /** A rotation has been here: the key of its values is wrapped by this one (`""`: it has none); the values are as they were. */
  key_wrapped: { kek: string };
  /** `keep`: how many checkpoints it has left. Early ones do not say. */
  values_dropped: { entries: number; blobs: number; all?: true; keep?: Keep; reason?: string };
  /** `count`: iterations since the last one that was written, when more than one. */
  loop_advanced: { iteration: number; count?: number; done?: boolean };
  /** `previous`: where the one before is; early ones do not say. `format`: the journal's at the time; without it, the first. */
  snapshot_taken: { previous?: number; format?: number };
}

/** How many checkpoints are left: the newest ones, and besides those the newest ones of each phase. */
export interface Keep {
  readonly last?: number;
  readonly perPhase?: number;
}

/** How a run was carried to another version of its workflow. */
export interface Migrated {
  readonly from: string;
  readonly to: string;
  readonly schema: number;
  readonly renamed?: Readonly<Record<string, string>>;
  readonly dropped?: readonly string[];
  /** Somebody said: go on with the new code, whatever differs. */
  readonly asIs?: true;
  readonly reason?: string;
}

type Empty = Record<never, never>;

/** What somebody gave as the reason, and the name under which their act counts once. */
interface Told {
  readonly reason?: string;
  readonly id?: string;
}

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
  /** Version of the policy that allowed it. */
  readonly policy?: string;
  /** An earlier attempt may have acted: no error of this one can prove that nothing was done. */
  readonly unproven?: true;
  /** Position of the answer by which a person approved this very call. */
  readonly approved?: number;
  /** A question that is put anew: what was asked or answered there before does not count any more. */
  readonly voids?: Voided;
}

export interface Voided {
  readonly seq: number;
  /** It had been answered. */
  readonly answered?: true;
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
  /** It had a value, which retention has dropped. */
  readonly dropped?: true;
}
