import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    passWithNoTests: false,
    reporters: ["default", "./scripts/summary-reporter.mjs"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/{architecture,docs,exports,requirements}.test.ts"],
          testTimeout: 20_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Crash tests kill child processes and measure recovery: one file at a time, in processes of their own.
        test: {
          name: "crash",
          include: ["test/crash/**/*.test.ts", "test/{demo,process-exit}.test.ts"],
          pool: "forks",
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
