import type { RecordTable } from "../records.ts";
import type { TagMeta } from "../tags.ts";
import type { Budget, Effect, EffectPolicy, Origin, Parent, RunStatus, Waiting } from "../types.ts";

/** An agent whose confidence has crossed the threshold, and the side it is on since. */
export interface Crossed {
  readonly agent: string;
  readonly to: "below" | "above";
}

/**
 * The journal's vocabulary: every kind of event and the content of its head. Values of any size travel beside the head
 * as `data`; heads stay small, hold no user data but names, and are never pruned.
 */
export interface EventMeta {
  run_created: TagMeta & {
    workflow: string;
    version: string;
    schema?: number;
    lineage: string;
    /** The seed of its random values, wherever it goes; the first format had none. */
    seed?: string;
    /**
     * The fingerprint of the incarnation of the store it was created on; omitted when it was claimed at once, because
     * the claim says the same.
     */
    store?: string;
    /** The trace context (W3C `traceparent`) of whoever started it. */
    trace?: string;
    reason?: string;
    parent?: Parent;
    origin?: Origin;
  };
  /**
   * Everything before it was copied from `from`, a checkpoint made at `at`. Calls in progress there count as never
   * begun.
   */
  run_forked: { from: Origin; at: number; effects: EffectPolicy; reason?: string };
  /**
   * Everything before it came from another store (`from`, fingerprinted) in a bundle. Unused answers of people there
   * don't count here. `held`: nobody here has accepted it yet, so it is `waiting` for that.
   */
  run_imported: {
    from: string;
    bundle: string;
    was: RunStatus;
    held?: true;
    waiting?: readonly Waiting[];
  };
  /** A person has seen the list of what an imported run would execute, and lets it continue. */
  import_accepted: { digest: string; paused?: true; reason?: string };
  run_migrated: Migrated;
  /**
   * `store`: the fingerprint of the incarnation of the store it was claimed on; missing in older versions, or when it
   * isn't reliable. `ms`: how long the claim lasts without renewal. `keep`: how many checkpoints to keep whenever one
   * is added.
   */
  /** `gone`: the process that had it before is provably dead, and so are its calls. */
  /** `lapsed`: when the claim of the lost worker ended, which is when its loss was noticed. */
  run_claimed: {
    owner: string;
    recovery: number;
    store?: string;
    ms?: number;
    keep?: Keep;
    gone?: true;
    lapsed?: number;
  };
  run_waiting: { waiting: readonly Waiting[] };
  /** The worker released the run cleanly, at a shutdown: any worker may continue at once. */
  run_released: Empty;
  run_paused: Empty;
  budget_set: Budget;
  /**
   * `now`: calls that wait for their next try are not to wait any longer. `attempt`: its parent did it, in this attempt at the step that
   * the run is.
   */
  run_resumed: { reason?: string; retryFailed?: boolean; now?: boolean; id?: string; attempt?: number };
  /** `unasked`: finished steps that the code didn't ask for again after a stop; the first hundred. */
  run_completed: { unasked?: readonly string[] };
  run_failed: { message: string; steps: readonly string[]; compensated?: boolean };
  run_cancelled: Told;
  /** `children`: includes the runs below it, even those that are just being created. */
  pause_requested: Told & { children?: true };
  cancel_requested: Told;
  /** An act that asked for the current state. Nothing has changed; the act's id counts as used. */
  act_noted: Told & { act: "pause" | "resume" | "cancel" };
  /** Somebody has read values as they are stored, such as `state at #12`. Nothing has changed. */
  values_read: { what: string; reason: string };
  /** Parent and children have been told how the run ended. */
  family_told: Empty;
  step_started: StepStarted;
  /** `fitted`: its value is what a schema made of the message at `took`. */
  step_completed: {
    ms?: number;
    took?: number;
    fitted?: true;
    usage?: UsageMeta;
    instead?: "reused" | "simulated";
  };
  /** `harmless`: its error proves that nothing was done outside. */
  /** `notBefore`: the receiver asks for no further call until then, and no attempt is left. */
  /**
   * `waitMs`: how long the next attempt waits. It isn't the time from the event to `retryAt`: the event may be written
   * much later, by a clock that was set in between.
   */
  step_failed: {
    attempt: number;
    retryAt?: number;
    waitMs?: number;
    usage?: UsageMeta;
    harmless?: true;
    notBefore?: number;
  };
  /** `newKey`: the step may be called under another key, if a person says so. */
  step_in_doubt: { attempt: number; rerunAfter: number; newKey?: true };
  /** `call`: its new call number, which gives it another key. */
  step_resolved: Told & { action: "rerun" | "done" | "failed"; call?: number };
  /**
   * A result that arrived after its worker lost the claim: it proves that the call was made. A late failure proves
   * nothing.
   */
  step_evidence: { attempt: number };
  gate_answered: Told & { digest: string; choice: string };
  /** The answer matches the gate's schema; its value is what the schema made of it, if that is something else. */
  answer_fitted: Empty;
  /** Includes its usage since the last report; journals of older versions only have `usage`. */
  child_finished: { child: string; status: RunStatus; usage?: UsageMeta; turns?: number; activeMs?: number };
  signal_received: { name: string; id: string; reason?: string };
  /** The mailbox was read, and these messages were taken. */
  /** `kept`: they were read, and stay for other readers. */
  /** `refused`: they were set aside, because they don't match what the workflow declares. */
  signals_taken: { took: readonly number[]; kept?: true; refused?: string };
  /** A person replaced a recorded value, which stays in the journal. */
  value_edited: { what: "step" | "loop" | "input" | "config"; reason?: string };
  /**
   * The quarantined value is the one at `seq` (0: from another run); without `seq`, its marker was recorded right
   * before this.
   */
  content_checked: {
    verdict: "allow" | "quarantine" | "park";
    items?: number;
    reason?: string;
    seq?: number;
  };
  /** The steps expected at this place, by name or number: progress is measured against it. */
  plan_made: { steps?: readonly string[]; of?: number };
  value_recorded: { value: number };
  memory_written: { name: string; deleted?: boolean };
  /**
   * Items of a stream: `count` of them, the first of which has the number `at`. `by`: the step that wrote them, or with
   * `inBody` the place in the workflow's function. `restarted`: what had this number and later ones is void, and this is
   * the attempt that writes it anew.
   */
  stream_written: {
    stream: string;
    at: number;
    count: number;
    by?: string;
    inBody?: true;
    restarted?: number;
    closed?: true;
  };
  usage_recorded: UsageMeta;
  decision_made: Empty;
  agent_updated: { agent: string };
  /** `record`: the table of the record that shows its value. */
  checkpoint_marked: { label: string; trigger: string; crossed?: Crossed; record?: RecordTable };
  /** A name or a pin for the checkpoint at `seq`, set afterwards. */
  checkpoint_tagged: { seq: number; label?: string; pinned?: boolean; pins: number; reason?: string };
  /** A rotation rewrapped the key of its values with this one (`""`: it has none); the values are unchanged. */
  key_wrapped: { kek: string };
  /** `keep`: how many checkpoints it has left. Early events omit it. */
  values_dropped: { entries: number; blobs: number; all?: true; keep?: Keep; reason?: string };
  /** In the record of deletions: these runs were about to be erased. */
  runs_deleted: { runs: readonly DeletedRun[]; reason?: string };
  /** `count`: iterations since the last written one, when more than one. */
  loop_advanced: { iteration: number; count?: number; done?: boolean };
  /** The open part of a long run, for readers that need not know the rest. */
  summary_taken: Empty;
  /**
   * `previous`: the position of the previous snapshot; early events omit it. `format`: the journal's format at the
   * time; without it, the first.
   */
  snapshot_taken: { previous?: number; format?: number };
}

/** A deleted run: `mark` names it without its id, the rest is there only if a tombstone was asked for. */
export interface DeletedRun {
  readonly mark: string;
  readonly id?: string;
  readonly workflow?: string;
  readonly status?: RunStatus;
  readonly createdAt?: number;
  readonly finishedAt?: number | null;
  /** The position and the head hash it had, which prove what it was to whoever has a copy. */
  readonly seq?: number;
  readonly head?: string;
}

/** How many checkpoints to keep: the newest ones, and the newest ones of each phase. */
export interface Keep {
  readonly last?: number;
  readonly perPhase?: number;
  /** Of these only those saved at this time or later, and the newest one. */
  readonly after?: number;
}

/** How a run was migrated to another version of its workflow. */
export interface Migrated {
  readonly from: string;
  readonly to: string;
  readonly schema: number;
  readonly renamed?: Readonly<Record<string, string>>;
  readonly dropped?: readonly string[];
  /** A person said to continue with the new code despite any difference. */
  readonly asIs?: true;
  readonly reason?: string;
}

type Empty = Record<never, never>;

/** The reason of an act, and the id under which it counts once. */
interface Told {
  readonly reason?: string;
  readonly id?: string;
}

export interface UsageMeta {
  readonly tokens: number;
  readonly costUsd: number;
  /** The tokens without a known price, where `costUsd` doesn't tell: by itself, 0 means that none has one. */
  readonly unpriced?: number;
  readonly model?: string;
}

/** The type of a step: a call of user code, or a kind of wait. */
export type StepType = "call" | "gate" | "timer" | "signal" | "child" | "transaction";

/** A step's intent. It is durable before anything it announces may happen. */
export interface StepStarted {
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempt: number;
  /** The call number, part of the idempotency key. */
  readonly call: number;
  /** The fingerprint of the idempotency key; the key itself is never stored. */
  readonly key?: string;
  /** The digest of the arguments, or of what a gate shows. */
  readonly args?: string;
  readonly timeoutMs?: number;
  /** The step can be undone, so a cancel with compensation must undo it. */
  readonly undo?: true;
  /** When a wait gives up or fires. */
  readonly until?: number;
  readonly child?: string;
  readonly names?: readonly string[];
  /** The version of the policy that allowed it. */
  readonly policy?: string;
  /** An earlier attempt may have taken effect, so no error of this one proves that nothing was done. */
  readonly unproven?: true;
  /** The position of the answer with which a person approved exactly this call. */
  readonly approved?: number;
  /** Set when a question is asked again: earlier questions or answers there don't count any more. */
  readonly voids?: Voided;
}

export interface Voided {
  readonly seq: number;
  /** True when it had been answered. */
  readonly answered?: true;
  /** Why the data of that answer doesn't match its schema. */
  readonly refused?: string;
}

export type EventKind = keyof EventMeta;

type EventOf<K extends EventKind> = { readonly kind: K; readonly step: string; readonly meta: EventMeta[K] };

/** A stored value: its encoded text, or the hash of the blob that holds the text. */
export type Raw = string | { readonly blob: string };

/** An event to be written. */
export type EventDraft = { [K in EventKind]: EventOf<K> & { readonly data?: Raw } }[EventKind];

/** An event as stored. */
export type JournalEvent = EventDraft & Stamp;

interface Stamp {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly actor?: string;
  /** Set when retention has dropped its value. */
  readonly dropped?: true;
}
