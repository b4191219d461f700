import { defined } from "../../../core/defined.ts";
import { addressOf } from "../../../core/journal/address.ts";
import { type Attempt, type Story, tookMs } from "../../../core/manage/reports/stories.ts";
import { ended } from "../../../core/types.ts";
import type { CommandContext } from "../../context.ts";
import { adviceFor } from "../../drive/advice.ts";
import {
  coarse,
  count,
  duration,
  fit,
  fitMiddle,
  oneLine,
  plural,
  tokens,
  when,
  width,
  wrap,
} from "../../format.ts";
import type { Paint } from "../../paint.ts";
import { rerunNote } from "../../view/doubt-ways.ts";
import { iso, itemData } from "../../view/run-rows.ts";
import { used } from "../../view/spending.ts";
import { badge, spoken, type Tone, toned } from "../../view/standing.ts";
import { errorData, errorIn, placeOf } from "../../view/stored-errors.ts";
import { type Fetched, shownValue, summary } from "../../view/stored-values.ts";
import { type Column, roomOf, table } from "../../view/table.ts";
import { unaskedText } from "../../view/unasked.ts";
import type { RunReading, ShowOptions } from "./read-run.ts";

/** The number of latest steps to list, unless all are requested. */
const MOST_STEPS = 30;

export function runText(context: CommandContext<unknown>, reading: RunReading, options: ShowOptions): string {
  const { out, host } = context;
  const { paint } = out;
  const room = roomOf(host);
  const sections = [
    head(reading, paint, room),
    steps(reading, options, paint, room),
    ...(options.input ? [block("Input", [shownText(reading.input, options.reveal, room - 4)], paint)] : []),
    ...(options.output ? [outputs(reading, options, paint, room)] : []),
    ...(options.decisions ? [decisions(reading, paint, room)] : []),
    lineage(reading, options, paint, host.stdout.isTTY),
    block(
      "You can",
      reading.acts.map((act) => context.cli(act)),
      paint,
    ),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

const block = (title: string, lines: readonly string[], paint: Paint): string[] =>
  lines.length === 0
    ? []
    : [paint.bold(title), ...lines.flatMap((line) => line.split("\n")).map((line) => `  ${line}`)];

/** The run, its state in one sentence, its progress and its usage. */
function head(
  { row, origin, standing, progress, now, unpriced, failure, unasked }: RunReading,
  paint: Paint,
  room: number,
): string[] {
  const name = origin.name === undefined ? "" : ` (${origin.name})`;
  const sentence =
    standing.stalledSince === null ? standing.headline : `${standing.headline}; no worker has it`;
  const warning = unaskedText(unasked);
  const advice = adviceFor(row.status === "failed" ? errorIn(failure) : undefined);
  const labels = Object.entries(origin.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const facts = [
    progress.total === undefined ? `${plural(progress.done, "step")} done` : progress.text,
    row.activeMs > 0 ? `${duration(row.activeMs)} at work` : "",
    used(row.usage),
    row.usage.costUsd > 0 && unpriced > 0 ? `${tokens(unpriced)} of it unpriced` : "",
    `checkpoint #${row.seq}`,
    `started ${coarse(Math.max(0, now - row.createdAt))} ago`,
    row.prunedAt === null ? "" : "values dropped",
    ...labels,
    row.queue === null ? "" : `queue ${row.queue}`,
    row.key === null ? "" : `key ${row.key}`,
    row.priority === 0 ? "" : `priority ${row.priority}`,
  ];
  const id = `${paint.bold(row.id)}${name}`;
  const state = badge(standing, paint);
  const version = row.version === "1" ? "" : ` v${row.version}`;
  const isShort = width(`${id}  ${row.workflow}${version}   ${state}`) <= room;
  const workflow = fitMiddle(`${row.workflow}${version}`, Math.max(8, room - width(state) - 3));
  return [
    ...(isShort ? [`${id}  ${workflow}   ${state}`] : [fitMiddle(id, room), `${workflow}   ${state}`]),
    ...(sentence === row.status ? [] : wrap(oneLine(`${spoken(sentence, now)}${thrown(failure)}`), room)),
    ...(advice.isMistake ? wrap(oneLine(`${advice.first ?? ""} Then resume the run.`), room) : []),
    ...wrap(facts.filter((fact) => fact !== "").join(" · "), room).map((line) => paint.dim(line)),
    ...(warning === undefined ? [] : wrap(oneLine(warning), room).map((line) => paint.yellow(line))),
  ];
}

const COLUMNS: readonly Column[] = [
  { title: "STEP", least: 16, isName: true },
  { title: "STATE" },
  { title: "TOOK", align: "right" },
  { title: "USED", spare: true },
  { title: "", least: 20 },
];

function steps(reading: RunReading, options: ShowOptions, paint: Paint, room: number): string[] {
  const { stories, pending } = reading;
  const isOpen = ({ state }: Story): boolean => state !== "done";
  const open = stories.filter(isOpen);
  const kept = new Set(options.all ? stories : [...stories.slice(-MOST_STEPS), ...open.slice(0, MOST_STEPS)]);
  const shown = stories.filter((story) => kept.has(story));
  const rows = shown.flatMap((story) => storyRows(story, reading, options, paint));
  const planned = pending.slice(0, options.all ? undefined : 5);
  rows.push(...planned.map((step) => [paint.dim(`○ ${step}`), paint.dim("planned"), "", "", ""]));
  if (rows.length === 0) return [paint.dim("No step has started.")];
  const left = stories.length - shown.length;
  const before = left > 0 ? [paint.dim(`  … ${count(left)} steps before these; --all shows them`)] : [];
  const after =
    pending.length > planned.length
      ? [paint.dim(`  … ${count(pending.length - planned.length)} more planned`)]
      : [];
  const [title = "", ...lines] = table(COLUMNS, rows, { room });
  return [paint.dim(title), ...before, ...lines, ...after];
}

function storyRows(story: Story, reading: RunReading, { attempts }: ShowOptions, paint: Paint): string[][] {
  const { step, attempts: all } = story;
  const last = all.at(-1);
  const [glyph, words, tone] = stateOf(story, reading);
  const usage = all.reduce(
    (sum, one) => ({
      tokens: sum.tokens + (one.usage?.tokens ?? 0),
      costUsd: sum.costUsd + (one.usage?.costUsd ?? 0),
    }),
    { tokens: 0, costUsd: 0 },
  );
  const main = [
    toned(paint, tone)(`${glyph} `) + step,
    words,
    last ? duration(tookMs(last, reading.now)) : "",
    used(usage),
    noteOf(story, reading),
  ];
  if (!attempts || all.length < 2) return [main];
  return [main, ...all.map((one) => attemptRow(one, reading, paint))];
}

/** The glyph, words and colour of a step. */
export function stateOf(
  story: Story,
  { row, now }: Pick<RunReading, "row" | "now">,
): readonly [string, string, Tone] {
  const { state, attempts, type } = story;
  const tries = attempts.length > 1 ? `, attempt ${attempts.at(-1)?.attempt ?? attempts.length}` : "";
  const last = attempts.at(-1);
  if (state === "done")
    return ["✓", `${type === "gate" ? (story.choice ?? "done") : "done"}${tries}`, "good"];
  if (state === "failed") return ["✗", `failed${tries}`, "bad"];
  if (state === "in doubt") return ["!", "in doubt", "waits"];
  if (last?.retryAt !== undefined)
    return ["●", `retry in ${coarse(Math.max(0, last.retryAt - now))}${tries}`, "waits"];
  if (ended(row.status)) return ["◌", type === "gate" ? "not answered" : `not ended${tries}`, "calm"];
  if (type === "gate") return ["‖", "waiting for you", "waits"];
  if (type === "timer" || type === "signal") return ["◌", type === "timer" ? "sleeping" : "waiting", "calm"];
  return row.status === "running" ? ["●", `running${tries}`, "busy"] : ["◌", `started${tries}`, "calm"];
}

function noteOf(
  { step, attempts, child, type, actor, state, until, rerunAfter }: Story,
  { errors, now, outputs }: RunReading,
): string {
  const failed = attempts.findLast(({ outcome }) => outcome === "failed");
  const error = state === "done" || failed?.seq === undefined ? undefined : errors.get(failed.seq);
  if (error && "value" in error) return `${summary(error.value, 120)}${thrown(error)}`;
  if (state === "in doubt") return rerunNote({ rerunAfter, now });
  if (child !== undefined) return `run ${child}`;
  if (type === "gate" && actor !== undefined) return `by ${actor}`;
  if (state === "under way" && until !== undefined) return `until ${when(until, now, true)}`;
  const output = outputs.get(step);
  return output && "value" in output && output.value !== undefined ? `→ ${summary(output.value, 60)}` : "";
}

/** ` (flow.ts:12:5)`: where in the user's code it was thrown. */
const thrown = (error: Fetched | undefined): string => {
  const place = placeOf(error);
  return place === undefined ? "" : ` (${place})`;
};

function attemptRow(one: Attempt, { now, errors }: RunReading, paint: Paint): string[] {
  const error = one.seq === undefined ? undefined : errors.get(one.seq);
  const why = error && "value" in error ? summary(error.value, 120) : "";
  return [
    paint.dim(`    attempt ${one.attempt}`),
    one.outcome ?? "no outcome",
    duration(tookMs(one, now)),
    one.usage ? used(one.usage) : "",
    why,
  ];
}

function outputs({ output, row }: RunReading, { reveal }: ShowOptions, paint: Paint, room: number): string[] {
  if (!output) return row.status === "completed" ? [] : block("Output", ["none yet"], paint);
  return block("Output", [shownText(output, reveal, room - 4)], paint);
}

/** A value for people: one line, or all of it with `--reveal`. */
export function shownText(found: Fetched | undefined, reveal: boolean, columns: number): string {
  if (!found) return "none";
  if ("gone" in found) return found.gone;
  const { value } = found;
  if (value === undefined) return "nothing";
  if (!reveal) return summary(value, Math.min(columns, 200));
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? typeof value);
}

function decisions({ decisions: made, now }: RunReading, paint: Paint, room: number): string[] {
  const lines = made.map(({ at, agent, description = "", rationale, confidence }) => {
    const who = agent === undefined ? "" : `${agent}: `;
    const sure = confidence === undefined ? "" : ` (${Math.round(confidence * 100)} % sure)`;
    const why = rationale === undefined ? "" : `: ${rationale}`;
    return fit(oneLine(`${coarse(Math.max(0, now - at))} ago  ${who}${description}${sure}${why}`), room - 4);
  });
  return block("Decisions", lines.length === 0 ? ["none recorded"] : lines, paint);
}

function lineage(
  { row, lineage: past, now }: RunReading,
  options: ShowOptions,
  paint: Paint,
  isTTY: boolean,
): string[] {
  const { recoveries, resumes, children } = past;
  const shown = options.lineage ? children : children.slice(0, 5);
  const lines = [
    row.origin ? `forked from ${addressOf(row.origin.runId, row.origin.seq)}` : "",
    row.parent ? `started by ${row.parent.runId}:${row.parent.step}` : "",
    recoveries > 0 ? `taken over after a crash ${times(recoveries)}` : "",
    resumes > 0 ? `resumed ${times(resumes)}` : "",
    ...shown.map(({ step, runId }) => `started ${runId} in ${step}`),
    children.length > shown.length
      ? `… and ${count(children.length - shown.length)} more runs; --lineage shows them`
      : "",
    options.lineage
      ? `created ${when(row.createdAt, now, isTTY)}, last written ${when(row.updatedAt, now, isTTY)}`
      : "",
  ].filter((line) => line !== "");
  return lines.length === 0 ? [] : block("Lineage", lines, paint);
}

const times = (amount: number): string => (amount === 1 ? "once" : `${count(amount)} times`);

export function runData(reading: RunReading, options: ShowOptions): Readonly<Record<string, unknown>> {
  const { row, standing, progress, origin, every, pending, acts, lineage: past, errors } = reading;
  const value = (found: Fetched | undefined): unknown =>
    found === undefined
      ? null
      : "gone" in found
        ? { gone: found.gone }
        : (shownValue(found.value, options.reveal) ?? null);
  return {
    ...itemData({ row, standing, progress, origin, input: "" }),
    input: options.input ? value(reading.input) : undefined,
    ...(options.output ? { output: value(reading.output) } : {}),
    checkpoint: addressOf(row.id, row.seq),
    activeMs: row.activeMs,
    budget: row.budget,
    steps: every.map((story) => storyData(story, value, errors, reading.outputs.get(story.step))),
    pending,
    ...(options.decisions
      ? { decisions: reading.decisions.map((one) => ({ ...one, at: iso(one.at) })) }
      : {}),
    lineage: past,
    ...(reading.unasked.length > 0 ? { unasked: reading.unasked } : {}),
    acts: acts.map((act) => `holdfast ${act}`),
  };
}

export function storyData(
  { step, type, effect, state, attempts, key, child, choice, seq }: Story,
  value: (found: Fetched | undefined) => unknown,
  errors: ReadonlyMap<number, Fetched>,
  output?: Fetched,
) {
  return {
    step,
    type,
    effect,
    state,
    seq,
    ...defined({ keyFingerprint: key, child, choice }),
    ...(output ? { output: value(output) } : {}),
    attempts: attempts.map(({ startedAt, endedAt, seq: at, ...rest }) => ({
      ...rest,
      startedAt: iso(startedAt),
      ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
      ...(at !== undefined && errors.has(at)
        ? {
            error: errorData(errorIn(errors.get(at))) ?? value(errors.get(at)),
            thrownAt: placeOf(errors.get(at)),
          }
        : {}),
    })),
  };
}
