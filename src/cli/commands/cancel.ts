import { defineCommand } from "../command.ts";
import { advance } from "../drive/advance.ts";
import { plural } from "../format.ts";
import { usage } from "../globals.ts";
import { bulkOutcome } from "./pause.ts";

const options = {
  compensate: { flag: "--compensate", summary: "First undo what the run did, in reverse order" },
  workflow: { flag: "--workflow <name>", summary: "Every run of this workflow" },
  file: { flag: "--file <file>", summary: "With --compensate: the file with its workflow" },
} as const;

/** `holdfast cancel <run>`: ends it for good. Its record is kept. */
export const command = defineCommand({
  name: "cancel",
  summary: "Cancel a run for good; its checkpoints are kept",
  args: ["[run]"],
  options,
  examples: ['cancel aapl --reason "not needed any more"', "cancel order-7 --compensate"],
  async run(context) {
    const { workflow, compensate, file } = context.options;
    const [named] = context.args;
    if ((named === undefined) === (workflow === undefined))
      throw usage(
        "the run is missing",
        "Name a run, or a workflow with --workflow.",
        "holdfast cancel <run>",
      );
    const act = await context.act("cancel");
    if (workflow !== undefined) {
      const engine = await context.engine();
      const open = {
        workflow,
        status: ["queued", "running", "waiting", "paused", "failed"] as const,
        limit: 1_000,
      };
      const { runs, cursor } = await engine.list(open);
      await context.confirm(
        "cancel",
        `${plural(runs.length, "run")}${cursor === null ? "" : " and more"} of ${workflow}`,
      );
      return bulkOutcome(context, "cancelled", await engine.cancelAll({ workflow }, { ...act, compensate }));
    }
    const store = await context.store();
    const run = await (await context.addresses()).run(named as string);
    if (compensate) {
      const code = await context.codeOf(run, { file });
      await (await context.engine()).cancel(run.id, { ...act, compensate });
      return advance(context, { store, code, runId: run.id, act, isCancel: true });
    }
    const row = await (await context.engine()).cancel(run.id, act);
    return {
      data: { run: row.id, status: row.status },
      text: `✗ ${row.id} is cancelled; its checkpoints are kept`,
      next: [`fork ${row.id}@<checkpoint>`],
    };
  },
});
