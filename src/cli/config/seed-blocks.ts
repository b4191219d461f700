import { defined } from "../../core/defined.ts";
import { type SeedSettings, seedSettings } from "../../core/seed-config.ts";
import type { ConfigValues } from "./schema.ts";

interface Unfolded {
  readonly layers: readonly (readonly [string, ConfigValues])[];
  /** Keys without effect here, and why. */
  readonly notes: readonly string[];
}

/**
 * Replaces the blocks of the checkpoint system design by the keys that mean the same. They form a layer of their own
 * below the one they stand in, so that a key written beside a block takes precedence.
 */
export function unfoldBlocks(origin: string, layer: ConfigValues): Unfolded {
  const { checkpoint_config, recovery_config, performance_config, ...rest } = layer;
  const blocks = defined({ checkpoint_config, recovery_config, performance_config });
  const names = Object.keys(blocks);
  if (names.length === 0) return { layers: [[origin, rest]], notes: [] };
  const { notes, ...settings } = seedSettings(blocks);
  return {
    layers: [
      [`${origin} (${names.join(", ")})`, keysOf(settings)],
      [origin, rest],
    ],
    notes,
  };
}

function keysOf(settings: Omit<SeedSettings, "notes">): ConfigValues {
  const { saving, storage, path, compression, encryption, valueBytes, retention, recovery, onSaveFailure } =
    settings;
  return defined({
    enabled: saving,
    storage,
    path,
    compression,
    encryption,
    size_limit: valueBytes,
    retention: retention && {
      max_checkpoints_per_phase: retention.keepPerPhase,
      max_age_days: Number.parseFloat(retention.maxAge),
    },
    auto_recovery: recovery?.auto,
    max_recovery_attempts: recovery?.maxAttempts,
    recovery_timeout: recovery?.timeoutMs,
    fallback_to_previous: recovery?.fallbackToPrevious,
    async_writes: onSaveFailure && onSaveFailure === "continue",
  });
}
