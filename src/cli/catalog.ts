import type { Listed } from "./command.ts";

/** Every command, in the order of the help text. */
export const catalog: readonly Listed[] = [
  {
    name: "init",
    summary: "Create a first workflow and its crash test, in a new or an existing project",
    load: async () => (await import("./commands/init.ts")).command,
  },
  {
    name: "run",
    summary: "Start a workflow and follow it",
    load: async () => (await import("./commands/run.ts")).command,
  },
  {
    name: "resume",
    summary: "Resume a run; finished steps are not repeated",
    load: async () => (await import("./commands/resume.ts")).command,
  },
  {
    name: "pause",
    summary: "Pause a run before its next step, wherever it runs",
    load: async () => (await import("./commands/pause.ts")).command,
  },
  {
    name: "cancel",
    summary: "Cancel a run for good; its checkpoints are kept",
    load: async () => (await import("./commands/cancel.ts")).command,
  },
  {
    name: "delete",
    summary: "Delete an ended run, its children and everything stored about them",
    load: async () => (await import("./commands/delete.ts")).command,
  },
  {
    name: "retry",
    summary: "Call a failed step again and continue the run",
    load: async () => (await import("./commands/retry.ts")).command,
  },
  {
    name: "inject",
    summary: "Give a run new context before its next step",
    load: async () => (await import("./commands/inject.ts")).command,
  },
  {
    name: "signal",
    summary: "Send a run the message that it waits for",
    load: async () => (await import("./commands/signal.ts")).command,
  },
  {
    name: "list",
    aliases: ["ls", "status"],
    summary: "List runs, newest first, with what they do or wait for",
    load: async () => (await import("./commands/list.ts")).command,
  },
  {
    name: "show",
    summary: "Show a run or a step: its state, its history and what you can do",
    load: async () => (await import("./commands/show.ts")).command,
  },
  {
    name: "schedules",
    summary: "Start runs at set times, and look at what was started",
    load: async () => (await import("./commands/schedules.ts")).command,
  },
  {
    name: "queues",
    summary: "Limit how many runs are at work at once, and see what waits in line",
    load: async () => (await import("./commands/queues.ts")).command,
  },
  {
    name: "rate-limits",
    summary: "Limit how often something is called, in all runs and processes together",
    load: async () => (await import("./commands/rate-limits.ts")).command,
  },
  {
    name: "logs",
    summary: "Print what happened in a run, line by line",
    load: async () => (await import("./commands/logs.ts")).command,
  },
  {
    name: "gate",
    summary: "List and answer the gates that runs wait at",
    load: async () => (await import("./commands/gate.ts")).command,
  },
  {
    name: "checkpoints",
    summary: "List, show, label, pin and drop checkpoints",
    load: async () => (await import("./commands/checkpoints.ts")).command,
  },
  {
    name: "diff",
    summary: "Compare two checkpoints, of one run or of two",
    load: async () => (await import("./commands/diff.ts")).command,
  },
  {
    name: "fork",
    summary: "Start a new run from a checkpoint, with other values if you like",
    load: async () => (await import("./commands/fork.ts")).command,
  },
  {
    name: "replay",
    summary: "Step through the stored results up to a checkpoint, without calling anything",
    load: async () => (await import("./commands/replay.ts")).command,
  },
  {
    name: "cost",
    summary: "Show tokens and money: spent, wasted on retries, saved by resuming",
    load: async () => (await import("./commands/cost.ts")).command,
  },
  {
    name: "prices",
    summary: "Set what models cost, with date and source",
    load: async () => (await import("./commands/prices.ts")).command,
  },
  {
    name: "budgets",
    summary: "Set what runs may cost in a month, and see what is spent",
    load: async () => (await import("./commands/budgets.ts")).command,
  },
  {
    name: "alerts",
    summary: "List alerts, take them over, and test who is told",
    load: async () => (await import("./commands/alerts.ts")).command,
  },
  {
    name: "slo",
    summary: "Show service levels beside their targets, or change a target",
    load: async () => (await import("./commands/slo.ts")).command,
  },
  {
    name: "report",
    summary: "Write reports for auditors and operators",
    load: async () => (await import("./commands/report.ts")).command,
  },
  {
    name: "audit",
    summary: "List who did what, and prove that nothing was changed",
    load: async () => (await import("./commands/audit.ts")).command,
  },
  {
    name: "validate",
    summary: "Check a workflow file, a run, a checkpoint, a bundle or the configuration",
    load: async () => (await import("./commands/validate.ts")).command,
  },
  {
    name: "verify",
    summary: "Check a whole store: every run's row, journal and values",
    load: async () => (await import("./commands/verify.ts")).command,
  },
  {
    name: "export",
    summary: "Export a run as a bundle that another store can import",
    load: async () => (await import("./commands/export.ts")).command,
  },
  {
    name: "import",
    summary: "Import the runs of a bundle",
    load: async () => (await import("./commands/import.ts")).command,
  },
  {
    name: "accept",
    summary: "Review what an imported run would execute, and let it continue",
    load: async () => (await import("./commands/accept.ts")).command,
  },
  {
    name: "migrate",
    summary: "Show what new code means for stored runs, and migrate them",
    load: async () => (await import("./commands/migrate.ts")).command,
  },
  {
    name: "doctor",
    summary: "Check the store, its latency, clock, versions, keys, disk and interrupted runs",
    load: async () => (await import("./commands/doctor.ts")).command,
  },
  {
    name: "crash-test",
    summary: "Kill a workflow at every boundary and count what was lost or done twice",
    load: async () => (await import("./commands/crash-test.ts")).command,
  },
  {
    name: "demo",
    summary: "Watch ten agents survive a rate limit and kill -9, and pay for nothing twice",
    load: async () => (await import("./commands/demo.ts")).command,
  },
  {
    name: "config",
    summary: "Show and check the configuration",
    load: async () => (await import("./commands/config.ts")).command,
  },
  {
    name: "worker",
    summary: "Advance the runs of the given files until you stop it",
    load: async () => (await import("./commands/worker.ts")).command,
  },
  {
    name: "workers",
    summary: "List the workers of the store, with their workflows and runs",
    load: async () => (await import("./commands/workers.ts")).command,
  },
  {
    name: "serve",
    summary: "Serve the dashboard and the management API, and advance runs of the given files",
    load: async () => (await import("./commands/serve.ts")).command,
  },
  {
    name: "mcp",
    summary: "Let assistants look at runs over MCP, and act on them if you allow it",
    load: async () => (await import("./commands/mcp.ts")).command,
  },
  {
    name: "token",
    summary: "Create, list, rotate and revoke access tokens for the server",
    load: async () => (await import("./commands/token.ts")).command,
  },
  {
    name: "list-checkpoints",
    summary: "Same as checkpoints list: --task=<run or workflow>",
    load: async () => (await import("./commands/checkpoints/list.ts")).listOfTask,
  },
  {
    name: "validate-checkpoint",
    summary: "Same as validate, for a checkpoint file: --file=<file>",
    load: async () => (await import("./commands/validate.ts")).validateFile,
  },
  {
    name: "diff-checkpoints",
    summary: "Same as diff: --from=<checkpoint> --to=<checkpoint>",
    load: async () => (await import("./commands/diff.ts")).diffOfTask,
  },
  {
    name: "explain",
    summary: "Explain an error code: what it means, what is safe and how to fix it",
    load: async () => (await import("./commands/explain.ts")).command,
  },
  {
    name: "completion",
    summary: "Print a shell completion script",
    load: async () => (await import("./commands/completion.ts")).completionFor(catalog),
  },
];
