import { defined } from "../../../core/defined.ts";
import type { Act } from "../../../core/journal/act.ts";
import { defineCommand } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import type { Outcome } from "../../outcome.ts";

const ALL = { flag: "--all", summary: "The run itself, with all its checkpoints" } as const;

/** Pins the whole run, whichever of its checkpoints was named. */
async function pinRun(context: CommandContext<unknown>, act: Act, pinned: boolean): Promise<Outcome> {
  const { id } = await (await context.addresses()).run(context.args[0] ?? "");
  const { retention } = await context.engine();
  await (pinned ? retention.pin(id, act) : retention.unpin(id, act));
  return { data: { run: id, pinned }, text: `✓ ${pinned ? "pinned" : "unpinned"} all of ${id}` };
}

export const create = defineCommand({
  name: "create",
  summary: "Mark the run where it is now",
  args: ["<run>"],
  options: { label: { flag: "--label <name>", summary: "The label (default: manual)" } },
  examples: ["checkpoints create recon-88 --label before-deploy"],
  async run(context) {
    const act = await context.act("checkpoints create");
    const run = await (await context.addresses()).run(context.args[0] ?? "");
    const label = context.options.label ?? "manual";
    const id = await (await context.engine()).checkpoints.mark(run.id, label, act);
    return {
      data: { checkpoint: id, run: run.id, label },
      text: `✓ marked ${id} as ${label}`,
      next: [`checkpoints show ${id}`],
    };
  },
});

export const pin = defineCommand({
  name: "pin",
  summary: "Keep a checkpoint's values, whatever retention says",
  args: ["<checkpoint>"],
  options: {
    label: { flag: "--label <name>", summary: "Label it, too" },
    all: ALL,
  },
  examples: ["checkpoints pin recon-88@14 --reason audit", "checkpoints pin recon-88 --all"],
  async run(context) {
    const act = await context.act("checkpoints pin");
    if (context.options.all) return pinRun(context, act, true);
    const { address } = await (await context.addresses()).checkpoint(context.args[0] ?? "");
    const { checkpoints } = await context.engine();
    const id = await checkpoints.pin(address, act);
    const { label } = context.options;
    if (label !== undefined) await checkpoints.label(id, label, act);
    return {
      data: { checkpoint: id, pinned: true, ...defined({ label }) },
      text: `✓ pinned ${id}`,
    };
  },
});

export const unpin = defineCommand({
  name: "unpin",
  summary: "Remove a pin",
  args: ["<checkpoint>"],
  options: { all: ALL },
  async run(context) {
    const act = await context.act("checkpoints unpin");
    if (context.options.all) return pinRun(context, act, false);
    const { address } = await (await context.addresses()).checkpoint(context.args[0] ?? "");
    const id = await (await context.engine()).checkpoints.unpin(address, act);
    return { data: { checkpoint: id, pinned: false }, text: `✓ unpinned ${id}` };
  },
});
