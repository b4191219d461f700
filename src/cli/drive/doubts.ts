import type { Resolution } from "../../core/control/decisions.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Act } from "../../core/journal/act.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import type { CommandContext } from "../context.ts";
import { readJson } from "../inputs.ts";
import { doubtWays, type Rerun, rerunNote } from "../view/doubt-ways.ts";
import { RunView } from "../view/run-view.ts";

/** How to resolve steps with an unknown outcome. */
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
 * Resolves every step in doubt. Returns whether it did, so that the run can be taken up again. If no person can be
 * asked, the run is left as it is (HF-4315); with `verify`, only the steps' own hooks decide.
 */
export async function settleDoubts(
  context: CommandContext<unknown>,
  { engine, store }: { engine: Engine; store: Store },
  row: RunRow,
  decide: Decide,
): Promise<boolean> {
  const steps = doubtful(row);
  if (steps.length === 0) return false;
  const rerun = await rerunOf(store, row.id, steps);
  const canAsk = decide.how === "ask" && context.host.canAsk && !context.out.isJson;
  if (decide.how === "verify" || (decide.how === "ask" && !canAsk))
    throw new HoldfastError("HF-4315", {
      run: row.id,
      steps: steps.join(", "),
      fix: ways(context, row.id, rerun),
    });
  if (decide.how === "mark-done") await context.confirm("mark-done", `${steps.join(", ")} of ${row.id}`);
  for (const step of steps) {
    const resolution = canAsk ? await ask(context, step, rerun) : resolutionOf(decide);
    if (!resolution)
      throw new HoldfastError("HF-4315", { run: row.id, steps: step, fix: ways(context, row.id, rerun) });
    await engine.resolve(row.id, step, { ...resolution, ...decide.act });
  }
  return true;
}

const resolutionOf = ({ how, value }: Decide): Resolution =>
  how === "rerun" ? { action: "rerun" } : { action: "done", value };

/** The time from which all of them may be called again. */
async function rerunOf(store: Store, runId: string, steps: readonly string[]): Promise<Rerun> {
  const view = new RunView(store, runId);
  await view.catchUp();
  const times = steps.map((step) => view.state.find(step)?.rerunAfter ?? 0);
  return { rerunAfter: Math.max(...times), now: await store.now() };
}

function ways(context: CommandContext<unknown>, id: string, rerun: Rerun): string {
  const [again = "", done = ""] = doubtWays(id, rerun);
  return [
    `${context.cli(again)}   if it didn't happen${note(rerun)}`,
    `${context.cli(done)}   if it did`,
    context.cli(`cancel ${id}`),
  ].join("\n");
}

const menu = (rerun: Rerun): string => `  1 run it again        it didn't happen${note(rerun)}
  2 mark it done        it happened, and you know its result
  3 mark it failed      it was tried, and it failed
  4 cancel the run
  Enter: decide later`;

const note = (rerun: Rerun): string => (rerunNote(rerun) === "" ? "" : `; ${rerunNote(rerun)}`);

/** `undefined`: later. */
async function ask(
  context: CommandContext<unknown>,
  step: string,
  rerun: Rerun,
): Promise<Resolution | undefined> {
  const { out, host } = context;
  out.say(
    `${out.note.yellow("!")} The outcome of ${out.note.bold(step)} is unknown: it was started, and no outcome was recorded.`,
  );
  out.say("  Check whether it happened before you answer.");
  out.say(menu(rerun));
  for (;;) {
    const answer = await host.ask("  > ");
    if (answer === undefined || answer === "") return undefined;
    if (answer === "1" && note(rerun) === "") return { action: "rerun" };
    if (answer === "1") out.say(`  Not yet: ${rerunNote(rerun)}.`);
    if (answer === "2")
      return {
        action: "done",
        value: readJson((await host.ask("  its result, as JSON: ")) || "null", "The result"),
      };
    if (answer === "3") return { action: "failed" };
    if (answer === "4") return { action: "cancel" };
  }
}
