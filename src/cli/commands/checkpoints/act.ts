import { defineCommand } from "../../command.ts";

export const create = defineCommand({
  name: "create",
  summary: "mark the run as it stands now",
  args: ["<run>"],
  options: { label: { flag: "--label <name>", summary: "what it is called (default: manual)" } },
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
  summary: "keep its values, whatever retention says",
  args: ["<checkpoint>"],
  options: { label: { flag: "--label <name>", summary: "and give it this name" } },
  examples: ["checkpoints pin recon-88@14 --reason audit"],
  async run(context) {
    const act = await context.act("checkpoints pin");
    const { address } = await (await context.addresses()).checkpoint(context.args[0] ?? "");
    const { checkpoints } = await context.engine();
    const id = await checkpoints.pin(address, act);
    const { label } = context.options;
    if (label !== undefined) await checkpoints.label(id, label, act);
    return {
      data: { checkpoint: id, pinned: true, ...(label === undefined ? {} : { label }) },
      text: `✓ pinned ${id}`,
    };
  },
});

export const unpin = defineCommand({
  name: "unpin",
  summary: "let retention have it again",
  args: ["<checkpoint>"],
  async run(context) {
    const act = await context.act("checkpoints unpin");
    const { address } = await (await context.addresses()).checkpoint(context.args[0] ?? "");
    const id = await (await context.engine()).checkpoints.unpin(address, act);
    return { data: { checkpoint: id, pinned: false }, text: `✓ unpinned ${id}` };
  },
});
