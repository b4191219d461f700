import type { Clock } from "./clock.ts";
import type { Workflow } from "./context.ts";
import type { ContentCheck } from "./guards/content.ts";
import type { Policy } from "./guards/policy.ts";
import type { Ids } from "./ids.ts";
import type { Logger } from "./logger.ts";
import type { RetentionPolicy } from "./manage/retention/policy.ts";
import type { CheckpointStrategy, Triggers } from "./options.ts";
import type { Probe } from "./ports.ts";
import type { RunQuery, Store } from "./store/contract.ts";
import type { Redaction } from "./values/redact.ts";
import type { SecretProvider } from "./values/secrets.ts";
import type { RecoveryOptions } from "./worker/recovery.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly workflows?: readonly Workflow<never, unknown>[];
  /** `false`: only starts, watches and controls runs; other processes advance them. */
  readonly execute?: boolean;
  /**
   * `false` switches saving off: new runs live in memory and are gone with the process, what is stored is left as it is and can only
   * be read. Default `true`.
   */
  readonly saving?: boolean;
  /** How often loops save their state, where neither they nor their workflow say it. Default: after every iteration. */
  readonly checkpoint?: CheckpointStrategy;
  /** Name of this process in claims and the journal. */
  readonly owner?: string;
  /** How long a claim lasts without renewal. Default 15 s. */
  readonly claimMs?: number;
  /** How often to look for due runs. Default 1 s. */
  readonly sweepMs?: number;
  /** Runs advanced at once. Default 1,000. */
  readonly concurrency?: number;
  /** What becomes of runs whose worker died; see {@link RecoveryOptions}. */
  readonly recovery?: RecoveryOptions;
  /** Waits that end within this time are sat out in memory. Default 5 s. */
  readonly holdMs?: number;
  /**
   * A run that waits is let go when nothing has happened for this long. Default 100 ms. A promise of the workflow's own that is
   * awaited for longer beside a wait is abandoned, and made again when the run goes on.
   */
  readonly quietMs?: number;
  /** How long a failing store is retried before runs are stopped cleanly. Default 60 s. */
  readonly storePatienceMs?: number;
  /**
   * What a run does while the store fails. `stop` (the default): it waits at its next step, and when `storePatienceMs` has passed it is
   * stopped cleanly and taken up again later. `continue`: it goes on as long as the steps it starts are `repeatable` and at most 1,000
   * events are unsaved; whatever has an effect, and the result, waits until everything before it is saved. After a crash the unsaved
   * steps run again. The price: what is written meanwhile by others, such as a pause, is not seen before the store is back.
   */
  readonly onSaveFailure?: "stop" | "continue";
  /** When checkpoints are marked by themselves; `false`: never, and memory is not watched either. See {@link Triggers}. */
  readonly triggers?: Triggers | false;
  /** Measures the share of memory in use, from 0 to 1. Default: of the heap. */
  readonly pressure?: () => number;
  /** Time limit assumed for steps that name none, before an unknown `once` call may be run again. Default 5 min. */
  readonly assumedStepMs?: number;
  /** Asked before every step that is about to be called; see {@link Policy}. */
  readonly policy?: Policy;
  /** Asked about every restored or injected value before the run sees it; see {@link ContentCheck}. */
  readonly contentCheck?: ContentCheck;
  /**
   * What is dropped of ended runs, now and then, while this engine advances runs. Default `default`: values go 7 days after a run has
   * ended, 30 days after it has failed; the record of what happened stays. `forever` keeps everything.
   */
  readonly retention?: RetentionPolicy;
  /** What is kept out of the journal, the log and error texts; see {@link Redaction}. Default: nothing is looked for. */
  readonly redact?: Redaction;
  /** Where `ctx.secret` finds secrets, such as `envSecrets()`. Those it has given are kept out of everything stored and logged. */
  readonly secrets?: SecretProvider;
  readonly limits?: { readonly valueBytes?: number; readonly warnBytes?: number };
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly logger?: Logger;
  /** Called at the protocol's named points, for crash tests. */
  readonly probe?: Probe;
}

/** Which runs to list; see {@link RunQuery}. */
export type ListQuery = Omit<RunQuery, "limit"> & Partial<Pick<RunQuery, "limit">>;

export const LIST_LIMIT = 100;
