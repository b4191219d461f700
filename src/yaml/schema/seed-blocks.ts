import { z } from "zod";

const flag = z.boolean().optional();
const whole = z.int();

/** The configuration blocks of the checkpoint system design, as the document writes them. Their meaning is in the core. */
export const seedBlocks = {
  checkpoint_config: z
    .strictObject({
      enabled: flag,
      storage_path: z.string().min(1).optional(),
      compression: flag,
      encryption: flag,
      retention_days: z.number().min(0).optional(),
      max_checkpoints_per_phase: whole.min(1).optional(),
      checkpoint_size_limit_mb: z.number().gt(0).optional(),
    })
    .describe("Where and how checkpoints are kept; a key that is left out has the document's default"),
  recovery_config: z
    .strictObject({
      auto_recovery: flag,
      max_recovery_attempts: whole.min(0).optional(),
      recovery_timeout_seconds: z.number().gt(0).optional(),
      fallback_to_previous: flag,
    })
    .describe("What happens to a run whose process died; a key that is left out has the document's default"),
  performance_config: z
    .strictObject({
      async_writes: flag,
      batch_decisions: flag,
      compression_level: whole.min(1).max(9).optional(),
      memory_mapped_threshold_mb: z.number().gt(0).optional(),
    })
    .describe("How writes are done; a key that is left out has the document's default"),
};
