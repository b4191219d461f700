import { resolve } from "node:path";
import { defined } from "../../core/defined.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { readEdits } from "../edits.ts";
import { usage } from "../globals.ts";
import { readText } from "../inputs.ts";
import { bulkOutcome } from "./pause.ts";

const options = {
  text: { flag: "--text <text>", summary: "What the run should know" },
  file: { flag: "--file <file>", summary: "The same, from a file" },
  set: { flag: "--set <path=json>", summary: "Change a value: memory.k, steps.k or config.k", list: true },
  children: { flag: "--children", summary: "Its children, too" },
  workflow: { flag: "--workflow <name>", summary: "Every run of this workflow" },
} as const;

/** `holdfast inject <run>`: gives a run context, which it reads with `ctx.inbox()`; the journal records who gave it. */
export const command = defineCommand({
  name: "inject",
  summary: "Give a run new context before its next step",
  args: ["[run]"],
  options,
  examples: [
    'inject aapl --text "The Q4 figures were restated."',
    'inject --workflow reconcile --text "The ledger is closed."',
  ],
  async run(context) {
    const { children, workflow } = context.options;
    const [named] = context.args;
    const content = contentOf(context);
    const edits = readEdits(context.options.set);
    if ((named === undefined) === (workflow === undefined))
      throw usage(
        "the run is missing",
        "Name a run, or a workflow with --workflow.",
        'holdfast inject <run> --text "…"',
      );
    if (content === undefined && !edits)
      throw usage(
        "there is nothing to inject",
        "Use --text, --file or --set.",
        'holdfast inject <run> --text "…"',
      );
    if (edits && (children || workflow !== undefined))
      throw usage(
        "--set works for one run only",
        "Each run has its own values.",
        "holdfast inject <run> --set …",
      );
    const act = await context.act("inject");
    const engine = await context.engine();
    if (workflow !== undefined)
      return bulkOutcome(
        context,
        "told",
        await engine.injectAll({ workflow }, content, { ...act, ...(children ? { children } : {}) }),
      );
    const { id } = await (await context.addresses()).run(named as string);
    if (!edits) await engine.inject(id, content, { ...act, ...(children ? { children } : {}) });
    else {
      // Values are changed while nothing is in progress: during a pause, which this starts and ends.
      await engine.pause(id, act);
      context.out.say("‖ pausing it to change values");
      await engine.settled(id);
      await engine.resume(id, { ...act, set: edits, ...defined({ inject: content }) });
    }
    const { headline } = await engine.status(id);
    return {
      data: { run: id, injected: content !== undefined, edited: edits ? Object.keys(edits) : [], headline },
      text: `✓ recorded for ${id}; it is ${headline}`,
      next: [`show ${id}`],
    };
  },
});

function contentOf({
  options: { text, file },
  host,
}: CommandContext<Values<typeof options>>): string | undefined {
  if (text !== undefined && file !== undefined)
    throw usage("--text and --file are both given", "The run takes one text.", "Use only one of the two.");
  return file === undefined ? text : readText(resolve(host.cwd, file));
}
