import { defined } from "../../core/defined.ts";
import type { EngineOptions } from "../../core/engine/options.ts";
import type { RetentionPolicy } from "../../core/manage/retention/policy.ts";
import type { Triggers } from "../../core/options.ts";
import type { CheckpointSettings } from "../../yaml/checkpoint.ts";
import type { ConfigValues } from "./schema.ts";
import type { Settings } from "./settings.ts";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const BYTES = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 } as const;

/** Parses `15s`, `10m` or a number to milliseconds; `undefined` for anything else. */
export function readDuration(value: string | number): number | undefined {
  if (typeof value === "number") return value;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(value) ?? [];
  return unit === undefined ? undefined : Number(amount) * UNITS[unit as keyof typeof UNITS];
}

function readSize(value: string | number): number {
  if (typeof value === "number") return value;
  const [, amount, unit = "b"] = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i.exec(value) ?? [];
  return Number(amount) * BYTES[unit.toLowerCase() as keyof typeof BYTES];
}

/** Converts the configuration to engine options. */
export function engineSettings({ values }: Settings): Omit<EngineOptions, "store"> {
  const { triggers } = values;
  return {
    saving: values.enabled,
    claimMs: readDuration(values.claim) ?? 15_000,
    retention: retentionOf(values.retention),
    limits: { valueBytes: readSize(values.size_limit) },
    onSaveFailure: values.async_writes ? "continue" : "stop",
    recovery: {
      auto: values.auto_recovery,
      maxAttempts: values.max_recovery_attempts,
      timeoutMs: readDuration(values.recovery_timeout) ?? 300_000,
      fallbackToPrevious: values.fallback_to_previous,
      ...defined({ onUnrestorable: values.on_unrestorable }),
    },
    ...(triggers === undefined ? {} : { triggers: triggersOf(triggers) }),
  };
}

/** A workflow file's settings for keeping and recovering its runs, which take precedence over the configuration. */
export function fileSettings(
  settings: Settings,
  workflow: string,
  said: Pick<CheckpointSettings, "retention" | "recovery" | "valueBytes" | "onSaveFailure"> | undefined,
): Pick<EngineOptions, "recovery" | "limits" | "retention" | "onSaveFailure"> {
  const { retention = "default", recovery, limits } = engineSettings(settings);
  const rules = typeof retention === "string" ? { preset: retention } : retention;
  return {
    recovery: { ...recovery, ...said?.recovery },
    limits: { ...limits, ...defined({ valueBytes: said?.valueBytes }) },
    retention: said?.retention ? { ...rules, workflows: { [workflow]: said.retention } } : rules,
    ...defined({ onSaveFailure: said?.onSaveFailure }),
  };
}

function retentionOf(given: NonNullable<ConfigValues["retention"]>): RetentionPolicy {
  if (typeof given === "string") return given;
  const {
    max_checkpoints,
    max_checkpoints_per_phase,
    max_age_days,
    keep_successful,
    cache_ttl,
    on_expiry,
    tombstone,
  } = given;
  const ttl = cache_ttl === undefined ? undefined : readDuration(cache_ttl);
  const age = max_age_days === undefined ? undefined : max_age_days * UNITS.d;
  return defined({
    keepLast: max_checkpoints,
    keepPer: max_checkpoints === undefined ? undefined : ("workflow" as const),
    keepPerPhase: max_checkpoints_per_phase,
    maxAge: age,
    failedMaxAge: age,
    checkpointMaxAge: age,
    onExpiry: on_expiry,
    tombstone,
    keepSuccessful: keep_successful,
    cacheTtl: ttl,
  });
}

/** A list names the wanted marks; the engine sets only six of them automatically. */
function triggersOf(given: NonNullable<ConfigValues["triggers"]>): Triggers | false {
  if (given === false) return false;
  if (Array.isArray(given))
    return {
      errors: given.includes("error_encountered"),
      phases: given.includes("phase_completed"),
      agents: given.includes("specialist_finished"),
      evaluations: given.includes("evaluation_completed"),
      // A threshold that nothing crosses.
      ...(given.includes("confidence_threshold_crossed") ? {} : { confidence: Number.MIN_VALUE }),
      ...(given.includes("memory_pressure_high") ? {} : { memoryPressure: 1 }),
    };
  const { confidence, memory_pressure, errors } = given;
  return defined({ confidence, memoryPressure: memory_pressure, errors });
}
