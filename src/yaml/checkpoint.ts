import { defined } from "../core/defined.ts";
import type { RetentionRules } from "../core/manage/retention/policy.ts";
import { type SeedConfig, type SeedSettings, seedSettings } from "../core/seed-config.ts";
import type { RecoveryOptions } from "../core/worker/recovery.ts";
import type { WorkflowFile } from "./schema/workflow.ts";

/**
 * A file's settings for keeping its runs, as options of an engine and its store. Settings that the file omits are left
 * out.
 */
export interface CheckpointSettings {
  /** `false`: runs aren't saved at all (the engine's `saving`). */
  readonly saving: boolean;
  /** The kind of store, such as `sqlite` or `postgres`, and its location. */
  readonly storage?: string;
  readonly path?: string;
  readonly onFailure: "pause" | "continue" | "rollback";
  readonly retention?: RetentionRules;
  readonly recovery?: RecoveryOptions;
  /** Whether values are compressed, or how hard (1 to 9). */
  readonly compression?: boolean | number;
  readonly encryption?: boolean;
  /** The largest value that may be saved. */
  readonly valueBytes?: number;
  readonly onSaveFailure?: "stop" | "continue";
}

const MIB = 1_048_576;

/** The keys under `checkpoint` take precedence over the blocks of the checkpoint system design. */
export function checkpointSettings(file: WorkflowFile): CheckpointSettings {
  const { checkpoint: given, name } = file.workflow;
  const { notes: _, ...blocks } = blockSettings(file);
  const retention = { ...blocks.retention, ...retentionOf(file.workflow) };
  const recovery = {
    ...blocks.recovery,
    ...present<RecoveryOptions>({
      auto: given.auto_recovery,
      maxAttempts: given.max_recovery_attempts,
      timeoutMs:
        typeof given.recovery_timeout_seconds === "number"
          ? given.recovery_timeout_seconds * 1_000
          : undefined,
      fallbackToPrevious: given.fallback_to_previous,
    }),
  };
  return {
    saving: given.enabled ?? blocks.saving ?? true,
    onFailure: given.on_failure,
    ...present({
      storage: given.storage ?? blocks.storage,
      path: (given.path ?? blocks.path)?.replaceAll("${workflow.name}", name).replaceAll("{TASK}", name),
      compression: given.compression ?? blocks.compression,
      encryption: given.encryption ?? blocks.encryption,
      valueBytes:
        typeof given.size_limit_mb === "number" ? Math.floor(given.size_limit_mb * MIB) : blocks.valueBytes,
      onSaveFailure: blocks.onSaveFailure,
    }),
    ...(Object.keys(retention).length > 0 ? { retention } : {}),
    ...(Object.keys(recovery).length > 0 ? { recovery } : {}),
  };
}

/** The blocks of the checkpoint system design that a file has. */
export const blockSettings = ({
  checkpoint_config,
  recovery_config,
  performance_config,
}: SeedConfig): SeedSettings =>
  seedSettings(defined({ checkpoint_config, recovery_config, performance_config }));

/** Values of a rolled-back run are dropped at once; the command that ran it deletes the run. */
function retentionOf({ checkpoint, runtime }: WorkflowFile["workflow"]): RetentionRules {
  const { max_checkpoints: most, max_age_days: days, keep_successful: keep } = checkpoint.retention ?? {};
  const age = typeof days === "number" ? (`${days}d` as const) : undefined;
  return present<RetentionRules>({
    keepLast: most ?? runtime.checkpoint?.keep_last,
    keepPer: typeof most === "number" ? "workflow" : undefined,
    checkpointMaxAge: age,
    maxAge: age,
    failedMaxAge: checkpoint.on_failure === "rollback" ? 0 : age,
    keepSuccessful: keep,
  });
}

type Given<T> = { readonly [K in keyof T]: T[K] | null | undefined };

function present<T extends object>(given: Given<T>): { [K in keyof T]: NonNullable<T[K]> } {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: NonNullable<T[K]> };
}
