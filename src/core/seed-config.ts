import { badOption, checkKeys, checkNumber, checkObject, checkText, checkWhole } from "./check-options.ts";
import { defined } from "./defined.ts";

/**
 * The three configuration blocks of the checkpoint system design (`checkpoint_config`, `recovery_config`,
 * `performance_config`), with its own keys. A block that is given takes the document's defaults for the keys it leaves
 * out; a block that isn't given changes nothing.
 */
export interface SeedConfig {
  readonly checkpoint_config?: CheckpointConfig | undefined;
  readonly recovery_config?: RecoveryConfig | undefined;
  readonly performance_config?: PerformanceConfig | undefined;
}

export interface CheckpointConfig {
  /** `false`: nothing is saved. Default true. */
  readonly enabled?: boolean | undefined;
  /** The folder of the file store; `{TASK}` stands for the workflow's name. Default `./outputs/{TASK}/checkpoints`. */
  readonly storage_path?: string | undefined;
  /** Default true. */
  readonly compression?: boolean | undefined;
  /** Default true: needs keys, in `HOLDFAST_KEYS` or a key file. */
  readonly encryption?: boolean | undefined;
  /** Days after its end that a run keeps its values. Default 30. */
  readonly retention_days?: number | undefined;
  /** The newest checkpoints of each phase that can be restored. Default 5. */
  readonly max_checkpoints_per_phase?: number | undefined;
  /** The largest value that is saved. Default 100. */
  readonly checkpoint_size_limit_mb?: number | undefined;
}

export interface RecoveryConfig {
  /** `false`: a run whose process died waits for a person. Default true. */
  readonly auto_recovery?: boolean | undefined;
  /** Takeovers without progress before the run waits for review. Default 3. */
  readonly max_recovery_attempts?: number | undefined;
  /** A recovered run that writes nothing for this long waits for review. Default 300. */
  readonly recovery_timeout_seconds?: number | undefined;
  /** Pass over a damaged snapshot for the one before. Default true. */
  readonly fallback_to_previous?: boolean | undefined;
}

export interface PerformanceConfig {
  /** Repeatable steps go on while the store fails; effects always wait. Default true. */
  readonly async_writes?: boolean | undefined;
  /** Decisions travel with other events. They always do, so `false` has no effect. Default true. */
  readonly batch_decisions?: boolean | undefined;
  /** 1 to 9; for `checkpoint_config.compression`. Default 6. */
  readonly compression_level?: number | undefined;
  /** Without effect: large values are stored once and read by reference, not memory-mapped. Default 10. */
  readonly memory_mapped_threshold_mb?: number | undefined;
}

/** The same settings in the words of the engine and its store. Settings of blocks that weren't given are left out. */
export interface SeedSettings {
  readonly saving?: boolean;
  readonly storage?: "file";
  /** The store's folder, with `{TASK}` still in it. */
  readonly path?: string;
  /** The level, or `false`. */
  readonly compression?: number | false;
  readonly encryption?: boolean;
  /** The largest value that may be saved. */
  readonly valueBytes?: number;
  readonly retention?: {
    readonly keepPerPhase: number;
    readonly maxAge: `${number}d`;
    readonly failedMaxAge: `${number}d`;
  };
  readonly recovery?: {
    readonly auto: boolean;
    readonly maxAttempts: number;
    readonly timeoutMs: number;
    readonly fallbackToPrevious: boolean;
  };
  readonly onSaveFailure?: "stop" | "continue";
  /** What a key doesn't do here, and why; a sentence each. */
  readonly notes: readonly string[];
}

/** The document's own values. */
export const SEED_DEFAULTS = {
  checkpoint_config: {
    enabled: true,
    storage_path: "./outputs/{TASK}/checkpoints",
    compression: true,
    encryption: true,
    retention_days: 30,
    max_checkpoints_per_phase: 5,
    checkpoint_size_limit_mb: 100,
  },
  recovery_config: {
    auto_recovery: true,
    max_recovery_attempts: 3,
    recovery_timeout_seconds: 300,
    fallback_to_previous: true,
  },
  performance_config: {
    async_writes: true,
    batch_decisions: true,
    compression_level: 6,
    memory_mapped_threshold_mb: 10,
  },
} as const;

type Blocks = typeof SEED_DEFAULTS;
/** A block with its defaults filled in. */
type Filled<K extends keyof Blocks> = { readonly [P in keyof Blocks[K]]: Widened<Blocks[K][P]> };
type Widened<T> = T extends boolean ? boolean : T extends number ? number : string;

const MIB = 1_048_576;

/**
 * Translates the blocks; the one place that knows what they mean. Throws HF-1003 for a key or a value that makes no
 * sense.
 */
export function seedSettings(config: SeedConfig): SeedSettings {
  checkObject("configuration", config);
  checkKeys(config, Object.keys(SEED_DEFAULTS));
  const checkpoint = filled("checkpoint_config", config.checkpoint_config);
  const recovery = filled("recovery_config", config.recovery_config);
  const performance = filled("performance_config", config.performance_config);
  const level = performance?.compression_level ?? SEED_DEFAULTS.performance_config.compression_level;
  return {
    ...(checkpoint ? checkpointPart(checkpoint, level) : {}),
    ...(recovery ? { recovery: recoveryPart(recovery) } : {}),
    ...(performance ? { onSaveFailure: performance.async_writes ? "continue" : "stop" } : {}),
    notes: [...performanceNotes(config.performance_config, checkpoint !== undefined)],
  };
}

function checkpointPart(block: Filled<"checkpoint_config">, level: number): Omit<SeedSettings, "notes"> {
  const age = `${block.retention_days}d` as const;
  return {
    saving: block.enabled,
    storage: "file",
    path: block.storage_path,
    compression: block.compression ? level : false,
    encryption: block.encryption,
    valueBytes: Math.floor(block.checkpoint_size_limit_mb * MIB),
    retention: { keepPerPhase: block.max_checkpoints_per_phase, maxAge: age, failedMaxAge: age },
  };
}

const recoveryPart = (block: Filled<"recovery_config">): NonNullable<SeedSettings["recovery"]> => ({
  auto: block.auto_recovery,
  maxAttempts: block.max_recovery_attempts,
  timeoutMs: block.recovery_timeout_seconds * 1_000,
  fallbackToPrevious: block.fallback_to_previous,
});

function* performanceNotes(given: PerformanceConfig | undefined, compresses: boolean): Generator<string> {
  if (given?.batch_decisions === false)
    yield "batch_decisions: false has no effect: a decision is always saved together with the events around it, in one write.";
  if (given?.memory_mapped_threshold_mb !== undefined)
    yield "memory_mapped_threshold_mb has no effect: values over 8 KiB are stored once and read by reference, so large state isn't loaded to begin with.";
  if (given?.compression_level !== undefined && !compresses)
    yield "compression_level has no effect without checkpoint_config.";
}

const LEAST: Readonly<Record<string, (option: string, value: unknown) => unknown>> = {
  retention_days: (option, value) => checkNumber(option, value, { least: 0 }),
  max_checkpoints_per_phase: checkWhole,
  max_recovery_attempts: (option, value) => checkWhole(option, value, 0),
  compression_level: (option, value) => checkWhole(option, value, 1, 9),
  storage_path: (option, value) => checkText(option, value, 1),
};

function filled<K extends keyof Blocks>(name: K, given: SeedConfig[K]): Filled<K> | undefined {
  if (given === undefined) return undefined;
  checkObject(name, given, "an object of settings");
  const defaults = SEED_DEFAULTS[name];
  checkKeys(given, Object.keys(defaults), name);
  const block: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(defined(given))) {
    const option = `${name}.${key}`;
    const check = LEAST[key];
    if (check) check(option, value);
    else if (typeof block[key] === "number") checkNumber(option, value);
    else if (typeof value !== "boolean") throw badOption(option, "it must be true or false");
    block[key] = value;
  }
  return block as Filled<K>;
}
