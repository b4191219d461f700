import { HoldfastError } from "../../core/errors.ts";
import { StepLog } from "../../core/journal/step-log.ts";
import { isInside, isWithin } from "../../core/keys.ts";
import type { Replay } from "../../core/manage/replay/replay-run.ts";
import { journalOf, type Story, storyOf, tookMs } from "../../core/manage/reports/stories.ts";
import type { RunRow } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { count, duration, fit, oneLine } from "../format.ts";
import { usage } from "../globals.ts";
import { iso } from "../view/run-rows.ts";
import { used } from "../view/spending.ts";
import { nameColumn } from "../view/step-lines.ts";
import { type Fetched, fetched, shownValue, summary, valuesOf } from "../view/stored-values.ts";
import { Patience } from "../view/watch.ts";

/** Long waits of the run are shortened for the viewer. */
const LONGEST_PAUSE_MS = 3_000;

/** `holdfast replay`: walks through what is stored. Calls nothing. */
export const command = defineCommand({
  name: "replay",
  summary: "Step through the stored results up to a checkpoint, without calling anything",
  args: ["[checkpoint]"],
  options: {
    checkpoint: { flag: "--checkpoint <checkpoint>", summary: "Same as the argument" },
    step: { flag: "--step <step>", summary: "Only this step and those inside it" },
    until: { flag: "--until <step>", summary: "Stop after this step" },
    speed: {
      flag: "--speed <n>",
      summary: "Play n times as fast as it happened (default: at once)",
      parse: readSpeed,
    },
    file: { flag: "--file <file>", summary: "Code to check against what is stored" },
    reveal: { flag: "--reveal", summary: "Show values in full, neither shortened nor masked" },
  },
  examples: [
    "replay recon-88@phase2",
    "replay recon-88 --speed 10",
    "replay recon-88 --step pay --reveal",
    "replay --checkpoint=550e8400-e29b-41d4-a716-446655440000",
  ],
  async run(context) {
    const { args, options, out } = context;
    const named = args[0] ?? options.checkpoint;
    if (named === undefined)
      throw usage(
        "the checkpoint is missing",
        "Pass it as the argument.",
        "holdfast replay <run>@<checkpoint>",
      );
    const { run, address } = await (await context.addresses()).placed(named);
    const seq = Number(address.split("@")[1]);
    const steps = await storedSteps(context, run, seq, options.until);
    const shown =
      options.step === undefined ? steps : steps.filter(({ step }) => isOf(step, options.step as string));
    const walked = await walk(context, run, shown, options.speed, options.reveal);
    const code = await check(context, run, address, options.file);
    const data = {
      run: run.id,
      checkpoint: address,
      code: codeData(code),
      ...(out.isJson && !context.globals.jsonl ? { steps: walked } : { count: walked.length }),
    };
    return {
      data,
      text: [
        `${count(walked.length)} of ${count(steps.length)} steps replayed from the journal; nothing was called`,
        codeText(code),
      ].join("\n"),
    };
  },
});

function readSpeed(text: string): number {
  const value = Number(text.replace(/x$/i, ""));
  if (value > 0) return value;
  throw usage(
    `${text} isn't a valid speed`,
    "A speed is a number above 0. 1 is the original speed.",
    "--speed 10",
  );
}

const isOf = (step: string, wanted: string): boolean =>
  step === wanted || isInside(step, wanted) || isWithin(step, wanted);

/** Steps with an outcome up to the checkpoint, in the order of their outcomes. */
async function storedSteps(
  context: CommandContext<unknown>,
  run: RunRow,
  seq: number,
  until: string | undefined,
): Promise<Story[]> {
  const log = new StepLog();
  for await (const event of journalOf(await context.store(), run)) {
    if (event.seq > seq) break;
    log.take(event);
  }
  const ended = [...log.steps()].map(storyOf).filter(({ state }) => state === "done" || state === "failed");
  ended.sort((a, b) => a.seq - b.seq);
  if (until === undefined) return ended;
  const last = ended.findLastIndex(({ step }) => isOf(step, until));
  if (last >= 0) return ended.slice(0, last + 1);
  const known = ended.map(({ step }) => step);
  throw new HoldfastError("HF-4350", {
    run: run.id,
    step: until,
    why:
      known.length === 0
        ? "No step has an outcome there."
        : `Up to the checkpoint it has: ${known.slice(-8).join(", ")}.`,
    fix: run.id,
  });
}

async function walk(
  context: CommandContext<unknown>,
  run: RunRow,
  steps: readonly Story[],
  speed: number | undefined,
  reveal: boolean,
): Promise<Readonly<Record<string, unknown>>[]> {
  const { host, out } = context;
  const values = valuesOf(await context.store());
  const walked: Readonly<Record<string, unknown>>[] = [];
  const patience = speed === undefined ? undefined : new Patience(host);
  let before: Story | undefined;
  for (const story of steps) {
    if (before && patience && !(await patience.rest(pause(before, story, speed ?? 1)))) break;
    before = story;
    const found = await fetched(() => values.at(run.id, story.seq));
    const record = recordOf(run, story, found, reveal);
    walked.push(record);
    out.record({ type: "step", ...record });
    if (!out.isJson) host.stdout.write(out.plain(`${lineOf(context, story, found, reveal)}\n`));
  }
  patience?.end();
  return walked;
}

const pause = (before: Story, next: Story, speed: number): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(0, endOf(next) - endOf(before)) / speed);

const endOf = ({ attempts }: Story): number => attempts.at(-1)?.endedAt ?? attempts.at(-1)?.startedAt ?? 0;

const recordOf = (
  run: RunRow,
  { step, type, effect, state, seq, attempts }: Story,
  found: Fetched,
  reveal: boolean,
) => ({
  run: run.id,
  step,
  kind: type,
  effect,
  status: state,
  seq,
  attempts: attempts.length,
  at: iso(attempts.at(-1)?.endedAt ?? 0),
  ...("value" in found ? { value: shownValue(found.value, reveal) ?? null } : { gone: found.gone }),
});

function lineOf(
  { host, out }: CommandContext<unknown>,
  story: Story,
  found: Fetched,
  reveal: boolean,
): string {
  const { paint } = out;
  const { isTTY, columns } = host.stdout;
  const last = story.attempts.at(-1);
  const glyph = story.state === "done" ? paint.green("✓") : paint.red("✗");
  const took = last ? duration(tookMs(last, last.startedAt)) : "";
  const cost = last?.usage ? `  ${used(last.usage)}` : "";
  const head = `${paint.dim(`#${story.seq}`.padStart(5))} ${glyph} ${nameColumn(story.step, 20)} ${took.padStart(6)}${cost}`;
  const value =
    "gone" in found ? found.gone : found.value === undefined ? "" : `→ ${summary(found.value, 200)}`;
  if (reveal && "value" in found && found.value !== undefined)
    return `${head}\n${(JSON.stringify(found.value, null, 2) ?? "")
      .split("\n")
      .map((line) => `        ${line}`)
      .join("\n")}`;
  const line = `${head}  ${oneLine(value)}`;
  return isTTY ? fit(line, columns) : line;
}

type Checked = { readonly replay: Replay } | { readonly missing: string };

/**
 * Runs the workflow's function over the stored data, if its code can be found. Its steps are answered, never called.
 */
async function check(
  context: CommandContext<unknown>,
  run: RunRow,
  address: string,
  file: string | undefined,
): Promise<Checked> {
  try {
    const code = await context.codeOf(run, { file });
    return { replay: await (await context.engine({ workflows: code.all })).replay(address) };
  } catch (error) {
    if (!HoldfastError.is(error) || file !== undefined) throw error;
    return { missing: `${error.code} ${error.message}` };
  }
}

const codeData = (checked: Checked) =>
  "missing" in checked
    ? { checked: false, why: checked.missing }
    : {
        checked: true,
        end: checked.replay.end,
        stoppedAt: checked.replay.stoppedAt,
        notAsked: checked.replay.notAsked,
      };

function codeText(checked: Checked): string {
  if ("missing" in checked) return `code not checked: ${checked.missing}`;
  const { end, stoppedAt, notAsked } = checked.replay;
  const ways = stoppedAt.map((stop) =>
    stop.action === "wait" ? `wait for ${stop.for} at ${stop.step}` : `start ${stop.step}`,
  );
  const then =
    end === "stopped" ? (ways.length === 0 ? "stops there" : `would then ${ways.join(", ")}`) : end;
  const misses = notAsked.length === 0 ? "" : `; it does not ask for: ${notAsked.join(", ")}`;
  return `${notAsked.length === 0 ? "✓ the code fits" : "! the code differs"}: ${then}${misses}`;
}
