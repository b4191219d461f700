import type { Listed } from "./command.ts";

/** Every command, in the order of the help text. */
export const catalog: readonly Listed[] = [
  {
    name: "init",
    summary: "a first workflow and a configuration, also in an existing project",
    load: async () => (await import("./commands/init.ts")).command,
  },
  {
    name: "run",
    summary: "start a workflow and stay with it",
    load: async () => (await import("./commands/run.ts")).command,
  },
  {
    name: "resume",
    summary: "go on with a run; what is done is not done again",
    load: async () => (await import("./commands/resume.ts")).command,
  },
  {
    name: "pause",
    summary: "stop a run at its next step, wherever it is",
    load: async () => (await import("./commands/pause.ts")).command,
  },
  {
    name: "cancel",
    summary: "end a run for good; its checkpoints are kept",
    load: async () => (await import("./commands/cancel.ts")).command,
  },
  {
    name: "delete",
    summary: "delete an ended run and those it started, with everything stored of them",
    load: async () => (await import("./commands/delete.ts")).command,
  },
  {
    name: "retry",
    summary: "call a failed step again, and go on",
    load: async () => (await import("./commands/retry.ts")).command,
  },
  {
    name: "inject",
    summary: "give a run context; it is applied at its next step",
    load: async () => (await import("./commands/inject.ts")).command,
  },
  {
    name: "list",
    aliases: ["ls", "status"],
    summary: "runs, newest first: what they do, what they wait for",
    load: async () => (await import("./commands/list.ts")).command,
  },
  {
    name: "show",
    summary: "one run or step: what it does, what it has done, what you can do",
    load: async () => (await import("./commands/show.ts")).command,
  },
  {
    name: "logs",
    summary: "what happened in a run, line by line",
    load: async () => (await import("./commands/logs.ts")).command,
  },
  {
    name: "gate",
    summary: "decisions that runs wait for: look at them, answer them",
    load: async () => (await import("./commands/gate.ts")).command,
  },
  {
    name: "checkpoints",
    summary: "positions of runs: look at them, compare, name, keep and drop them",
    load: async () => (await import("./commands/checkpoints.ts")).command,
  },
  {
    name: "diff",
    summary: "what differs between two checkpoints, also of two runs",
    load: async () => (await import("./commands/diff.ts")).command,
  },
  {
    name: "fork",
    summary: "a new run that goes on from a checkpoint, with other values if you like",
    load: async () => (await import("./commands/fork.ts")).command,
  },
  {
    name: "replay",
    summary: "walk through stored results up to a checkpoint; nothing is called",
    load: async () => (await import("./commands/replay.ts")).command,
  },
  {
    name: "cost",
    summary: "tokens and money: spent, wasted on retries, saved by resume",
    load: async () => (await import("./commands/cost.ts")).command,
  },
  {
    name: "report",
    summary: "for auditors and operators: trail of a run, recoveries, effects, capacity",
    load: async () => (await import("./commands/report.ts")).command,
  },
  {
    name: "validate",
    summary: "check a workflow file, a run, a checkpoint, a bundle or the configuration",
    load: async () => (await import("./commands/validate.ts")).command,
  },
  {
    name: "verify",
    summary: "check a whole store: every run's row, journal, values and blobs",
    load: async () => (await import("./commands/verify.ts")).command,
  },
  {
    name: "export",
    summary: "a run as a bundle that another store can take in",
    load: async () => (await import("./commands/export.ts")).command,
  },
  {
    name: "import",
    summary: "take in the runs of a bundle",
    load: async () => (await import("./commands/import.ts")).command,
  },
  {
    name: "accept",
    summary: "see what an imported run would execute, and let it go on",
    load: async () => (await import("./commands/accept.ts")).command,
  },
  {
    name: "migrate",
    summary: "what new code means for stored runs, and carry them over",
    load: async () => (await import("./commands/migrate.ts")).command,
  },
  {
    name: "doctor",
    summary: "store, latency, clock, versions, keys, disk, interrupted runs",
    load: async () => (await import("./commands/doctor.ts")).command,
  },
  {
    name: "crash-test",
    summary: "kill a workflow at every boundary; count what was done twice or lost",
    load: async () => (await import("./commands/crash-test.ts")).command,
  },
  {
    name: "demo",
    summary: "ten agents, a rate limit, kill -9, resume: nothing is paid twice",
    load: async () => (await import("./commands/demo.ts")).command,
  },
  {
    name: "config",
    summary: "what is configured, and whether it is valid",
    load: async () => (await import("./commands/config.ts")).command,
  },
  {
    name: "token",
    summary: "who may use the server: make, list, replace and revoke tokens",
    load: async () => (await import("./commands/token.ts")).command,
  },
  {
    name: "list-checkpoints",
    summary: "the same as checkpoints list: --task=<run or workflow>",
    load: async () => (await import("./commands/checkpoints/list.ts")).listOfTask,
  },
  {
    name: "validate-checkpoint",
    summary: "the same as validate, for a checkpoint file: --file=<file>",
    load: async () => (await import("./commands/validate.ts")).validateFile,
  },
  {
    name: "diff-checkpoints",
    summary: "the same as diff: --from=<checkpoint> --to=<checkpoint>",
    load: async () => (await import("./commands/diff.ts")).diffOfTask,
  },
  {
    name: "explain",
    summary: "what an error code means, what is safe and how to fix it",
    load: async () => (await import("./commands/explain.ts")).command,
  },
  {
    name: "completion",
    summary: "what makes the Tab key know commands, options and runs",
    load: async () => (await import("./commands/completion.ts")).completionFor(catalog),
  },
];
