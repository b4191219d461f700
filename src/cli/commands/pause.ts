import type { BulkReport } from "../../core/control/family.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { plural } from "../format.ts";
import { usage } from "../globals.ts";
import type { Outcome } from "../outcome.ts";

const options = {
  workflow: { flag: "--workflow <name>", summary: "Every run of this workflow" },
} as const;

/** `holdfast pause <run>`: a durable request, wherever the run is. */
export const command = defineCommand({
  name: "pause",
  summary: "Pause a run before its next step, wherever it runs",
  args: ["[run]"],
  options,
  examples: ['pause aapl --reason "wrong customer"', "pause --workflow reconcile"],
  async run(context) {
    const { workflow } = context.options;
    const [named] = context.args;
    if ((named === undefined) === (workflow === undefined))
      throw usage("the run is missing", "Name a run, or a workflow with --workflow.", "holdfast pause <run>");
    const act = await context.act("pause");
    const engine = await context.engine();
    if (workflow !== undefined)
      return bulkOutcome(context, "paused", await engine.pauseAll({ workflow }, act));
    const { id } = await (await context.addresses()).run(named as string);
    await engine.pause(id, { ...act, children: true });
    const { run, headline } = await engine.status(id);
    const isPaused = run.status === "paused";
    return {
      data: { run: id, status: run.status, control: run.control, headline },
      // Never reports a pause that isn't complete.
      text: isPaused
        ? `‖ Paused at #${run.seq} · resume: ${context.cli(`resume ${id}`)}`
        : `‖ ${headline}; it pauses after that`,
      next: [`resume ${id}`],
    };
  },
});

/** The outcome for each of many runs. */
export function bulkOutcome({ out }: CommandContext<unknown>, verb: string, report: BulkReport): Outcome {
  const { done, refused } = report;
  for (const { runId, error } of refused) out.warn(`${runId}: ${error.message}`);
  return {
    data: {
      done,
      refused: refused.map(({ runId, error }) => ({ run: runId, code: error.code, message: error.message })),
    },
    text: `${plural(done.length, "run")} ${verb}${refused.length > 0 ? `, ${refused.length} not` : ""}`,
    exit: refused.length > 0 ? EXIT.refused : EXIT.done,
  };
}
