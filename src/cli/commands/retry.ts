import type { Engine } from "../../core/engine/engine.ts";
import { defineCommand } from "../command.ts";
import { advance } from "../drive/advance.ts";
import { usage } from "../globals.ts";

const options = {
  file: { flag: "--file <file>", summary: "The file with its workflow" },
  now: { flag: "--now", summary: "Try at once, even if the receiver asked to wait" },
  newKey: {
    flag: "--new-key",
    summary: "Use another idempotency key, if the step allows it and the receiver refused the first",
  },
} as const;

/** `holdfast retry <run>:<step>`: calls a step again that has failed, or whose outcome is unknown. */
export const command = defineCommand({
  name: "retry",
  summary: "Call a failed step again and continue the run",
  args: ["<run:step>"],
  options,
  examples: ["retry aapl:strategy"],
  async run(context) {
    const [written = ""] = context.args;
    const { run, step } = await (await context.addresses()).step(written);
    if (step === undefined)
      throw usage("the step is missing", "Write it as run:step.", `holdfast show ${run.id} lists its steps`);
    const act = await context.act("retry");
    const store = await context.store();
    const { newKey, now } = context.options;
    // A run that has ended for good is refused (HF-1007) whether or not its code is at hand.
    if (run.status === "completed" || run.status === "cancelled")
      await (await context.engine({ store })).retry(run.id, step, { ...act, newKey, now });
    const code = await context.codeOf(run, { file: context.options.file });
    const go = (engine: Engine): Promise<unknown> => engine.retry(run.id, step, { ...act, newKey, now });
    return advance(context, { store, code, runId: run.id, act, go });
  },
});
