import type { Engine } from "../../core/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Act } from "../../core/journal/act.ts";
import { defineCommand } from "../command.ts";
import { advance } from "../drive/advance.ts";
import { usage } from "../globals.ts";
import { RunView } from "../view/run-view.ts";

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
    const view = new RunView(store, run.id);
    await view.catchUp();
    const record = view.state.find(step);
    if (!record) throw new HoldfastError("HF-1010", { run: run.id, step });
    const code = await context.codeOf(run, { file: context.options.file });
    const go = goFor(record.status, run.id, step, act, context.options);
    return advance(context, { store, code, runId: run.id, act, go });
  },
});

function goFor(
  status: string,
  run: string,
  step: string,
  act: Act,
  { newKey, now }: { readonly newKey: boolean; readonly now: boolean },
): (engine: Engine) => Promise<unknown> {
  if (status === "in_doubt")
    return (engine) => engine.resolve(run, step, { ...act, action: "rerun", ...(newKey ? { newKey } : {}) });
  if (newKey) throw new HoldfastError("HF-2173", { step });
  if (status === "failed") return (engine) => engine.resume(run, { ...act, retryFailed: true, now });
  const why = status === "completed" ? "It already has a result." : "It is running now.";
  const fix =
    status === "completed"
      ? `To run it again in a new run: holdfast fork ${run}@<checkpoint before it>`
      : `holdfast show ${run}`;
  throw new HoldfastError("HF-1007", { run, status: `past ${step}`, verb: "call it again", why, fix });
}
