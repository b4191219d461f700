import { HoldfastError } from "../../../core/errors.ts";
import { addressOf } from "../../../core/journal/address.ts";
import { endsIn } from "../../../core/keys.ts";
import { type Story, tookMs } from "../../../core/manage/reports/stories.ts";
import { nearest } from "../../../core/nearest.ts";
import type { RunRow } from "../../../core/types.ts";
import type { CommandContext } from "../../context.ts";
import { columns, duration, oneLine, when, word } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { doubtWays } from "../../view/doubt-ways.ts";
import { used } from "../../view/spending.ts";
import { toned } from "../../view/standing.ts";
import { answersTo } from "../../view/step-lines.ts";
import { errorIn, fieldsOf, placeOf, stackOf } from "../../view/stored-errors.ts";
import { type Fetched, fetched, shownValue, summary, valuesOf } from "../../view/stored-values.ts";
import { type RunReading, readRun, type ShowOptions } from "./read-run.ts";
import { shownText, stateOf, storyData } from "./run-text.ts";

/** One step: every attempt, its value, and what can be done about it. */
export async function showStep(
  context: CommandContext<unknown>,
  run: RunRow,
  step: string,
  options: ShowOptions,
): Promise<Outcome> {
  const store = await context.store();
  const reading = await readRun(store, run.id, { ...options, attempts: true, output: false });
  const story = find(reading, run.id, step);
  const output =
    story.state === "done" ? await fetched(() => valuesOf(store).at(run.id, story.seq)) : undefined;
  const { row } = reading;
  const acts = actsOf(row, story, reading.now);
  const value = (found: typeof output): unknown =>
    found === undefined
      ? null
      : "gone" in found
        ? { gone: found.gone }
        : (shownValue(found.value, options.reveal) ?? null);
  const data = {
    run: row.id,
    ...storyData(story, value, reading.errors, output),
    acts: acts.map((act) => `holdfast ${act}`),
  };
  return {
    data,
    text: text(context, reading, story, shownText(output, options.reveal, 200), acts),
    next: acts,
  };
}

function find({ stories, every, pending }: RunReading, run: string, step: string): Story {
  const exact = [...every, ...stories].find((story) => story.step === step);
  if (exact) return exact;
  const ending = stories.filter((story) => endsIn(story.step, step));
  if (ending.length === 1 && ending[0]) return ending[0];
  const known = [...stories.map((story) => story.step), ...pending];
  throw new HoldfastError("HF-4350", {
    run,
    step,
    why: pending.includes(step)
      ? "It is planned and hasn't started."
      : ending.length > 1
        ? `Several steps have this ending: ${ending
            .slice(0, 8)
            .map((story) => story.step)
            .join(", ")}.`
        : known.length === 0
          ? "No step of the run has started."
          : `The closest name is ${nearest(step, known)}.`,
    fix: known.length === 0 ? run : `${run}:${nearest(step, known)}`,
  });
}

/** The last attempt's error, if the step hasn't succeeded since. */
function lastError({ attempts, state }: Story, { errors }: RunReading): Fetched | undefined {
  const failed = attempts.findLast(({ outcome }) => outcome === "failed");
  return state === "done" || failed?.seq === undefined ? undefined : errors.get(failed.seq);
}

function actsOf(row: RunRow, { step, state, type, seq, rerunAfter }: Story, now: number): string[] {
  const { id } = row;
  if (state === "in doubt") return doubtWays(id, { rerunAfter, now });
  if (state === "failed" && row.status === "failed")
    return [`retry ${word(`${id}:${step}`)}`, `resume ${id}`];
  if (state === "under way" && type === "gate") return answersTo(id, step, ["approve", "reject"]);
  return state === "done" && row.prunedAt === null ? [`fork ${addressOf(id, seq)}`] : [];
}

function text(
  context: CommandContext<unknown>,
  reading: RunReading,
  story: Story,
  output: string,
  acts: readonly string[],
): string {
  const { out, host } = context;
  const { paint } = out;
  const { row, now, errors } = reading;
  const { isTTY } = host.stdout;
  const [glyph, words, tone] = stateOf(story, reading);
  const failed = lastError(story, reading);
  const facts = [
    ["effect", story.effect],
    ["key", story.key === undefined ? "" : `fingerprint ${story.key}`],
    ["arguments", story.args === undefined ? "" : `digest ${story.args.slice(0, 16)}`],
    ["child run", story.child ?? ""],
    ["checkpoint", story.state === "under way" ? "" : addressOf(row.id, story.seq)],
    [story.type === "gate" ? "answer" : "output", story.state === "done" ? output : ""],
    ["error", oneLine(fieldsOf(errorIn(failed)))],
    ["thrown at", placeOf(failed) ?? ""],
  ].filter(([, fact]) => fact !== "");
  const stack = context.globals.verbose ? stackOf(errorIn(failed)) : [];
  const attempts = story.attempts.map((one) => {
    const error = one.seq === undefined ? undefined : errors.get(one.seq);
    return [
      `  ${one.attempt}`,
      when(one.startedAt, now, isTTY),
      one.outcome ?? "no outcome recorded",
      duration(tookMs(one, now)),
      one.usage ? used(one.usage) : "",
      error && "value" in error ? summary(error.value, 160) : "",
    ];
  });
  return [
    `${paint.bold(`${row.id}:${story.step}`)}   ${toned(paint, tone)(`${glyph} ${words}`)}`,
    ...facts.map(
      ([label = "", fact = ""]) =>
        `  ${paint.dim(label.padEnd(11))} ${fact.replaceAll("\n", `\n${" ".repeat(14)}`)}`,
    ),
    "",
    paint.bold("Attempts"),
    ...columns(attempts),
    ...(stack.length === 0 ? [] : ["", paint.bold("Stack"), ...stack.map((line) => paint.dim(`  ${line}`))]),
    ...(acts.length === 0 ? [] : ["", paint.bold("You can"), ...acts.map((act) => `  ${context.cli(act)}`)]),
  ].join("\n");
}
