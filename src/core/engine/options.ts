import type { AuditOptions } from "../audit/options.ts";
import type { Clock } from "../clock.ts";
import type { Workflow } from "../context.ts";
import type { ScheduleDeclaration } from "../flow/declare.ts";
import type { ContentCheck } from "../guards/content.ts";
import type { Policy } from "../guards/policy.ts";
import type { Ids } from "../ids.ts";
import type { Observable } from "../journal/observer.ts";
import type { Logger } from "../logger.ts";
import type { AlertOptions } from "../manage/alerts/alerts.ts";
import type { RetentionPolicy } from "../manage/retention/policy.ts";
import type { CheckpointStrategy, Triggers } from "../options.ts";
import type { Probe } from "../ports.ts";
import type { Processes } from "../process-proof.ts";
import type { QueueOptions } from "../queue-options.ts";
import type { RateLimit } from "../rate-limit.ts";
import type { Store } from "../store/contract.ts";
import type { Redaction } from "../values/redact.ts";
import type { SecretProvider } from "../values/secrets.ts";
import type { RecoveryOptions } from "../worker/recovery.ts";

/** Options of `createEngine`. Only `store` is required. */
export interface EngineOptions {
  readonly store: Store;
  readonly workflows?: readonly Workflow<never, unknown>[];
  /** Schedules that code declares, made by `schedule`. `false`: declares none, and doesn't mind those of the store. */
  readonly schedules?: readonly ScheduleDeclaration[] | false;
  /** Queues that code declares, by name. */
  readonly queues?: Readonly<Record<string, QueueOptions>>;
  /** Rate limits that code declares, by name. */
  readonly rateLimits?: Readonly<Record<string, RateLimit>>;
  /** `false`: only starts, watches and controls runs; other processes advance them. */
  readonly execute?: boolean;
  /**
   * `false` turns saving off: new runs live in memory and end with the process, and stored runs are read-only. Default
   * `true`.
   */
  readonly saving?: boolean;
  /** How often loops save their state, unless they or their workflow set it. Default: after every iteration. */
  readonly checkpoint?: CheckpointStrategy;
  /** The name of this process in claims and the journal. */
  readonly owner?: string;
  /** How long a claim lasts without renewal. Default 15 s. */
  readonly claimMs?: number;
  /** How often to look for due runs. Default 1 s. */
  readonly sweepMs?: number;
  /** The number of runs advanced at once. Default 1,000. */
  readonly concurrency?: number;
  /** How to handle runs whose worker died; see {@link RecoveryOptions}. */
  readonly recovery?: RecoveryOptions;
  /** Waits that end within this time are kept in memory, and waits for a rate limit for 12 times as long. Default 5 s. */
  readonly holdMs?: number;
  /**
   * A waiting run is released when nothing has happened for this long. Default 100 ms. The workflow's own promise that
   * takes longer beside a wait is abandoned, and created again when the run continues.
   */
  readonly quietMs?: number;
  /** How long a failing store is retried before runs are stopped cleanly. Default 60 s. */
  readonly storePatienceMs?: number;
  /**
   * What a run does while the store fails. `stop` (the default): it waits at its next step, and after `storePatienceMs`
   * it is stopped cleanly and taken up again later. `continue`: it goes on as long as its new steps are `repeatable`
   * and at most 1,000 events are unsaved; every effect, and the result, waits until everything before it is saved.
   * After a crash the unsaved steps run again. The price: writes by others, such as a pause, aren't seen before the
   * store is back.
   */
  readonly onSaveFailure?: "stop" | "continue";
  /**
   * When checkpoints are marked automatically; `false`: never, and memory isn't watched either. See {@link Triggers}.
   */
  readonly triggers?: Triggers | false;
  /** Measures the share of memory in use, from 0 to 1. Default: of the heap. */
  readonly pressure?: () => number;
  /** The time limit assumed for steps without one, before an unknown `once` call may be run again. Default 5 min. */
  readonly assumedStepMs?: number;
  /**
   * `true`: `pause`, `resume`, `cancel` and `inject` are refused (HF-4365) unless they say who acts and why. Default
   * `false`: both are recorded if given.
   */
  readonly requireReason?: boolean;
  /** How the audit log is signed, and where its heads go; see {@link AuditOptions}. Default: acts are recorded, unsigned. */
  readonly audit?: AuditOptions;
  /** Called before every step call; see {@link Policy}. */
  readonly policy?: Policy;
  /** Called for every restored or injected value before the run sees it; see {@link ContentCheck}. */
  readonly contentCheck?: ContentCheck;
  /**
   * What is dropped from ended runs, periodically, while this engine advances runs. Default `default`: values are
   * dropped 7 days after a run has ended, 30 days after it has failed; the record of what happened stays. `forever`
   * keeps everything.
   */
  readonly retention?: RetentionPolicy;
  /** Patterns to keep out of the journal, the log and error texts; see {@link Redaction}. Default: none. */
  readonly redact?: Redaction;
  /** Provides secrets to `ctx.secret`, such as `envSecrets()`. They are kept out of everything stored and logged. */
  readonly secrets?: SecretProvider;
  /**
   * Who hears about failed, stalled and waiting runs, missed service levels and an absent store. A process that advances
   * runs then looks for causes; without it, call `engine.alerts.watch()`. See {@link AlertOptions}.
   */
  readonly alerts?: AlertOptions;
  readonly limits?: { readonly valueBytes?: number; readonly warnBytes?: number };
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly logger?: Logger;
  /** Traces and metrics: what `holdfast/observe` makes. Default: none, which costs nothing. */
  readonly observe?: Observable | readonly Observable[];
  /** Called at the protocol's named points, for crash tests. */
  readonly probe?: Probe;
  /** Tells whether the process behind a claim is alive, for tests. */
  readonly processes?: Processes;
}
