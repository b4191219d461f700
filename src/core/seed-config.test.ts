import { describe, expect, it } from "vitest";
import { SEED_DEFAULTS, type SeedConfig, seedSettings } from "./seed-config.ts";

describe("the configuration blocks of the checkpoint system design", () => {
  it("mean for engine and store what the document says (S4-19, S4-20, S4-21)", () => {
    expect(seedSettings(SEED_DEFAULTS)).toEqual({
      saving: true,
      storage: "file",
      path: "./outputs/{TASK}/checkpoints",
      compression: 6,
      encryption: true,
      valueBytes: 104_857_600,
      retention: { keepPerPhase: 5, maxAge: "30d", failedMaxAge: "30d" },
      recovery: { auto: true, maxAttempts: 3, timeoutMs: 300_000, fallbackToPrevious: true },
      onSaveFailure: "continue",
      notes: [expect.stringContaining("memory_mapped_threshold_mb has no effect")],
    });
  });

  it("take the document's defaults for keys that a given block leaves out (S4-19)", () => {
    const all = { checkpoint_config: {}, recovery_config: {}, performance_config: {} };
    expect(seedSettings(all)).toEqual({ ...seedSettings(SEED_DEFAULTS), notes: [] });
  });

  it("change nothing when they aren't given", () => {
    expect(seedSettings({})).toEqual({ notes: [] });
    expect(seedSettings({ recovery_config: { max_recovery_attempts: 0 } })).toEqual({
      recovery: { auto: true, maxAttempts: 0, timeoutMs: 300_000, fallbackToPrevious: true },
      notes: [],
    });
  });

  it("say which keys have no effect here, and why (S4-21)", () => {
    const { notes } = seedSettings({ performance_config: { batch_decisions: false, compression_level: 3 } });
    expect(notes).toEqual([
      expect.stringContaining("batch_decisions: false has no effect"),
      expect.stringContaining("without checkpoint_config"),
    ]);
  });

  it.each([
    [{ checkpoint_config: { retention: 3 } }, "checkpoint_config.retention"],
    [{ checkpoint_config: { storage_path: "" } }, "checkpoint_config.storage_path"],
    [{ checkpoint_config: { encryption: "yes" } }, "checkpoint_config.encryption"],
    [{ checkpoint_config: { max_checkpoints_per_phase: 0 } }, "checkpoint_config.max_checkpoints_per_phase"],
    [{ recovery_config: { recovery_timeout_seconds: 0 } }, "recovery_config.recovery_timeout_seconds"],
    [{ performance_config: { compression_level: 10 } }, "performance_config.compression_level"],
    [{ performance_config: [] }, "performance_config"],
    [{ checkpoints_config: {} }, "checkpoints_config"],
  ])("refuse %o with the key", (given, option) => {
    expect(() => seedSettings(given as SeedConfig)).toThrow(
      expect.objectContaining({ code: "HF-1003", detail: expect.objectContaining({ option }) }),
    );
  });
});
