import { defined } from "../../core/defined.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { addressOf } from "../../core/journal/address.ts";
import type { ForkOptions } from "../../core/manage/fork/fork.ts";
import type { ForkPreview } from "../../core/manage/fork/fork-preview.ts";
import type { Edits } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { readEdits } from "../edits.ts";
import { columns, plural, when } from "../format.ts";
import { usage } from "../globals.ts";
import { editState } from "./fork/edit-state.ts";

/** `holdfast fork`: creates a run from a checkpoint of another, which stays as it is. */
export const command = defineCommand({
  name: "fork",
  summary: "Start a new run from a checkpoint, with other values if you like",
  args: ["<checkpoint>"],
  options: {
    set: {
      flag: "--set <path=json>",
      summary: "Change a value: memory.x=1, steps.load=[2], input={}",
      list: true,
    },
    edit: { flag: "--edit", summary: "Edit the whole state in $EDITOR first" },
    name: { flag: "--name <id>", summary: "The new run's id" },
    effects: {
      flag: "--effects <what>",
      summary: "What to do with calls the source already made (default reuse)",
      choices: ["reuse", "block", "simulate", "allow"] as const,
    },
    dryEffects: { flag: "--dry-effects", summary: "Same as --effects simulate: nothing is called" },
    dryRun: { flag: "--dry-run", summary: "Only print what would happen to those calls" },
  },
  examples: [
    "fork recon-88@14",
    "fork recon-88@draft --set 'memory.model=\"larger\"' --name recon-88-b",
    "fork aapl@phase1 --edit --dry-effects",
  ],
  async run(context) {
    const { args, options, out } = context;
    const { dryEffects, name, dryRun } = options;
    if (dryEffects && options.effects !== undefined && options.effects !== "simulate")
      throw usage(
        "--dry-effects and --effects contradict each other",
        "--dry-effects means --effects simulate.",
        "--effects simulate",
      );
    const act = dryRun ? {} : await context.act("fork");
    const { address } = await (await context.addresses()).checkpoint(args[0] ?? "");
    const engine = await context.engine();
    const set = await editsOf(context, engine, address, options.set, options.edit);
    const effects = dryEffects ? "simulate" : options.effects;
    const forking: ForkOptions = {
      ...act,
      ...defined({ id: name, set, effects }),
    };
    const preview = await engine.previewFork(address, forking);
    const now = await (await context.store()).now();
    const foreseen = previewText(preview, now, context.host.stdout.isTTY);
    if (dryRun) return { data: { dryRun, ...preview }, text: foreseen };
    const again = preview.calls.filter(({ becomes }) => becomes === "called again");
    if (preview.calls.length > 0) out.say(foreseen);
    if (again.length > 0)
      await context.confirm(
        "fork",
        `${plural(again.length, "call")} would be made again: ${again
          .map(({ step }) => step)
          .slice(0, 5)
          .join(", ")}`,
      );
    const made = await engine.fork(address, forking);
    return {
      data: { run: made.id, workflow: made.workflow, status: made.status, ...preview },
      text: `✓ forked ${address} as ${made.id}\n  ${await context.goesOn(made)}`,
      next: [`resume ${made.id}`, `diff ${address} ${made.id}@last`],
    };
  },
});

async function editsOf(
  context: CommandContext<unknown>,
  engine: Engine,
  address: string,
  given: readonly string[] | undefined,
  isEdited: boolean,
): Promise<Edits | undefined> {
  const set = readEdits(given);
  if (!isEdited) return set;
  if (set)
    throw usage(
      "--set and --edit are both given",
      "With --edit you change every value in the editor.",
      "holdfast fork <checkpoint> --edit",
    );
  return editState(context.host, context.out, await engine.checkpoints.state(address));
}

/** Describes a fork before it is created. */
export function previewText(
  { from, effects, calls, children, edits }: ForkPreview,
  now: number,
  isTTY: boolean,
): string {
  const head = `fork at ${addressOf(from.runId, from.seq)} (effects: ${effects})`;
  const rows = calls.map(({ runId, step, effect, status, at, becomes }) => [
    `  ${becomes === "called again" ? "!" : "·"} ${runId === from.runId ? step : `${runId}:${step}`}`,
    effect,
    `${status} ${when(at, now, isTTY)}`,
    `→ ${becomes}`,
  ]);
  return [
    head,
    ...(calls.length === 0 ? ["  no call with an effect was made after it"] : columns(rows)),
    ...children.map(
      ({ step, runId, seq, kept }) =>
        `  · ${step} forks ${addressOf(runId, seq)}${kept ? "" : ", whose values are gone: it would fail"}`,
    ),
    ...edits.map(({ what, name }) => `  ~ ${what}${name === "" ? "" : ` ${name}`} edited`),
  ].join("\n");
}
