import type { Resolution } from "../../core/control/decisions.ts";
import type { Engine } from "../../core/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Act } from "../../core/journal/act.ts";
import type { RunRow } from "../../core/types.ts";
import type { CommandContext } from "../context.ts";
import { readJson } from "../inputs.ts";

/** What is to become of steps whose outcome is unknown. */
export interface Decide {
  readonly how: "ask" | "rerun" | "verify" | "mark-done";
  /** The result to record, with `mark-done`. */
  readonly value?: unknown;
  readonly act: Act;
}

const doubtful = (row: RunRow): readonly string[] =>
  row.status === "waiting"
    ? row.waiting.filter(({ kind }) => kind === "decision").map(({ step }) => step)
    : [];

/**
 * Decides about every step that waits for that. Answers whether it did: then the run can be taken up again. Where nobody can be asked
 * the run is left as it is (HF-4315); with `verify` only what the steps' own hooks find out counts.
 */
export async function settleDoubts(
  context: CommandContext<unknown>,
  engine: Engine,
  row: RunRow,
  decide: Decide,
): Promise<boolean> {
  const steps = doubtful(row);
  if (steps.length === 0) return false;
  const canAsk = decide.how === "ask" && context.host.canAsk && !context.out.isJson;
  if (decide.how === "verify" || (decide.how === "ask" && !canAsk))
    throw new HoldfastError("HF-4315", { run: row.id, steps: steps.join(", "), fix: ways(context, row.id) });
  if (decide.how === "mark-done") await context.confirm("mark-done", `${steps.join(", ")} of ${row.id}`);
  for (const step of steps) {
    const resolution = canAsk ? await ask(context, step) : resolutionOf(decide);
    if (!resolution)
      throw new HoldfastError("HF-4315", { run: row.id, steps: step, fix: ways(context, row.id) });
    await engine.resolve(row.id, step, { ...resolution, ...decide.act });
  }
  return true;
}

const resolutionOf = ({ how, value }: Decide): Resolution =>
  how === "rerun" ? { action: "rerun" } : { action: "done", value };

const ways = (context: CommandContext<unknown>, id: string): string =>
  [
    `${context.cli(`resume ${id} --in-doubt rerun`)}   if it did not happen`,
    `${context.cli(`resume ${id} --in-doubt mark-done --result '<json>'`)}   if it did`,
    context.cli(`cancel ${id}`),
  ].join("\n");

const MENU = `  1 run it again        it did not happen
  2 mark it done        it happened; you give its result
  3 mark it failed      it happened, and did not succeed
  4 cancel the run
  Enter decides later`;

/** `undefined`: later. */
async function ask(context: CommandContext<unknown>, step: string): Promise<Resolution | undefined> {
  const { out, host } = context;
  out.say(
    `${out.note.yellow("!")} The outcome of ${out.note.bold(step)} is unknown: it was begun, and no outcome was recorded.`,
  );
  out.say("  Look at what it does out there before you answer.");
  out.say(MENU);
  for (;;) {
    const answer = await host.ask("  > ");
    if (answer === undefined || answer === "") return undefined;
    if (answer === "1") return { action: "rerun" };
    if (answer === "2")
      return {
        action: "done",
        value: readJson((await host.ask("  its result, as JSON: ")) || "null", "The result"),
      };
    if (answer === "3") return { action: "failed" };
    if (answer === "4") return { action: "cancel" };
  }
}
