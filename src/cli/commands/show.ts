import { ended } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import type { Outcome } from "../outcome.ts";
import { LiveBlock } from "../view/live-block.ts";
import { watching } from "../view/watch.ts";
import { isWorkflowFile, showFile } from "./show/file.ts";
import { type RunReading, readRun, type ShowOptions } from "./show/read-run.ts";
import { runData, runText } from "./show/run-text.ts";
import { showStep } from "./show/step.ts";

const WATCH_MS = 1_000;

/** `holdfast show`: one run, or one step of it, and what can be done about it. */
export const command = defineCommand({
  name: "show",
  summary: "Show a run or a step: its state, its history and what you can do",
  args: ["<run[:step]|file.yaml>"],
  options: {
    input: { flag: "--input", summary: "The run's input" },
    output: { flag: "--output", summary: "The run's result, or that of each step" },
    attempts: { flag: "--attempts", summary: "Every attempt of every step" },
    decisions: { flag: "--decisions", summary: "What was decided, and why" },
    lineage: { flag: "--lineage", summary: "Forks, children and resumes" },
    steps: { flag: "--steps", summary: "Every model call and tool call of agents; same as -v" },
    all: { flag: "--all", summary: "Every step, however many there are" },
    watch: { flag: "--watch", summary: "Refresh every second until the run ends or Ctrl-C" },
    reveal: { flag: "--reveal", summary: "Show values in full, neither shortened nor masked" },
  },
  examples: ["show recon-88", "show recon-88:pay --attempts", "show @last --output --reveal"],
  async run(context) {
    const { args } = context;
    const options = { ...context.options, steps: context.options.steps || context.globals.verbose };
    if (isWorkflowFile(context, args[0] ?? "")) return showFile(context, args[0] ?? "");
    const addresses = await context.addresses();
    const { run, step } = await addresses.step(args[0] ?? "");
    if (step !== undefined) return showStep(context, run, step, options);
    return options.watch ? watch(context, run.id, options) : show(context, run.id, options);
  },
});

async function show(context: CommandContext<unknown>, runId: string, options: ShowOptions): Promise<Outcome> {
  const reading = await readRun(await context.store(), runId, options);
  return outcome(context, reading, options);
}

const outcome = (context: CommandContext<unknown>, reading: RunReading, options: ShowOptions): Outcome => ({
  data: runData(reading, options),
  text: runText(context, reading, options),
  next: reading.acts,
});

async function watch(
  context: CommandContext<unknown>,
  runId: string,
  options: ShowOptions,
): Promise<Outcome> {
  const { host, out } = context;
  const store = await context.store();
  const block = host.stdout.isTTY && !out.isJson ? new LiveBlock(host.stdout) : undefined;
  let last = await readRun(store, runId, options);
  let seq = -1;
  await watching(host, WATCH_MS, async () => {
    last = await readRun(store, runId, options);
    const text = runText(context, last, options);
    if (block) block.draw(out.plain(text).split("\n"));
    if (last.row.seq !== seq) {
      out.record({ type: "run", ...runData(last, options) });
      if (!block && !out.isJson && seq >= 0) host.stdout.write(out.plain(`${text}\n\n`));
    }
    seq = last.row.seq;
    return !ended(last.row.status);
  });
  block?.end();
  return outcome(context, last, options);
}
