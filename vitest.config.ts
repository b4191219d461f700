import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Tests that talk to real servers and real disks. */
const SERVED = [
  "src/stores/{postgres,pglite,redis,tiered,file,dynamodb}/**/*.test.ts",
  "src/adapters/langgraph/postgres.test.ts",
  "src/stores/folder-lock.test.ts",
  "src/core/manage/transfer/transfer.test.ts",
  "test/damage/**/*.test.ts",
];

const TEMPORAL = "src/adapters/temporal/**/*.test.ts";

/** Tests that replace a package for everybody who imports it. */
const MOCKED = ["src/adapters/missing-packages.test.ts", "src/security/kms-driver.test.ts"];

export default defineConfig({
  test: {
    // Every core. The default leaves one idle, which is half of a machine with two.
    maxWorkers: "100%",
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/requirements/reporter.ts", "./scripts/summary-reporter.mjs"],
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "src/**/*.test.ts",
            "lab/**/*.test.ts",
            "test/seeds/**/*.test.ts",
            "test/{architecture,deploy,docs,docs-generated,docs-yaml,exports,requirements,yaml-conductor,jinja,release}.test.ts",
          ],
          exclude: [...SERVED, TEMPORAL, ...MOCKED, "**/node_modules/**"],
          // Loading the same modules anew for each file took a third of the time. Nothing in them is kept between files.
          isolate: false,
          // Says only that a test hangs: a busy machine may be many times slower than an idle one.
          testTimeout: 120_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: { name: "mocked", include: MOCKED, testTimeout: 120_000, sequence: { groupOrder: 0 } },
      },
      {
        test: {
          name: "stores",
          include: SERVED,
          pool: "forks",
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The server, its workers and the sandbox need every core: a claim there lives on a heartbeat of one second.
        test: {
          name: "temporal",
          include: [TEMPORAL],
          pool: "forks",
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // Crash tests kill child processes, so they run in processes of their own.
        test: {
          name: "crash",
          include: [
            "test/crash/**/*.test.ts",
            "test/{ai-sdk-diff,create,demo,docs-commands,durable-diff,examples,mastra-diff,mcp,openai-agents-diff,pack,play,process-exit,readme,screens}.test.ts",
          ],
          pool: "forks",
          globalSetup: ["test/support/build-lab.ts"],
          setupFiles: ["test/support/unhandled/setup.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // The logic of the dashboard's parts, without a browser.
        resolve: {
          alias: { "holdfast/client": fileURLToPath(new URL("src/client/index.ts", import.meta.url)) },
        },
        test: {
          name: "dashboard",
          include: ["dashboard/src/**/*.test.{ts,tsx}"],
          environment: "happy-dom",
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The dashboard in a real browser, on real server and worker processes of the built package.
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          pool: "forks",
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        // Asks what the tests above have proven, so it runs after all of them.
        test: { name: "proven", include: ["test/proven.test.ts"], sequence: { groupOrder: 5 } },
      },
    ],
  },
});
