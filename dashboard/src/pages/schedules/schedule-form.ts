import type { ArgsOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { fromLocalInput, localInput, parseSpan, writeSpan } from "../spans.ts";
import type { Schedule } from "./schedule-acts.ts";

export const KINDS = ["cron", "every", "at"] as const;
export type Kind = (typeof KINDS)[number];

export type Overlap = Schedule["definition"]["overlap"];
export type ScheduleOptions = ArgsOf<"createSchedule">["options"];

/** What somebody has typed so far. */
export interface ScheduleForm {
  readonly name: string;
  readonly workflow: string;
  readonly kind: Kind;
  readonly cron: string;
  readonly zone: string;
  readonly every: string;
  readonly at: string;
  readonly overlap: Overlap;
  readonly input: string;
  readonly queue: string;
}

export const emptyForm = (zone: string): ScheduleForm => ({
  name: "",
  workflow: "",
  kind: "cron",
  cron: "0 2 * * *",
  zone,
  every: "10m",
  at: "",
  overlap: "skip",
  input: "",
  queue: "",
});

/** The form for a schedule that exists. */
export function formOf({ name, definition }: Schedule): ScheduleForm {
  const { workflow, cron, timezone = "UTC", everyMs, at, overlap, input, queue = "" } = definition;
  return {
    ...emptyForm(timezone),
    name,
    workflow,
    kind: cron === undefined ? (everyMs === undefined ? "at" : "every") : "cron",
    ...(cron === undefined ? {} : { cron }),
    ...(everyMs === undefined ? {} : { every: writeSpan(everyMs) }),
    at: at === undefined ? "" : localInput(at),
    overlap,
    input: input === undefined ? "" : JSON.stringify(input, null, 2),
    queue,
  };
}

export type Read<T> = { readonly value: T } | { readonly problem: string };

/** JSON, or nothing at all. */
export function readJson(text: string): Read<unknown> {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: TEXT.schedules.form.badJson };
  }
}

/** When it ticks, as the API takes it; `null` while it isn't filled in. */
export function timingOf(form: ScheduleForm): ScheduleOptions | null {
  if (form.kind === "cron")
    return form.cron.trim() === "" ? null : { cron: form.cron.trim(), timezone: form.zone };
  if (form.kind === "every") {
    const everyMs = parseSpan(form.every);
    return everyMs === null ? null : { everyMs };
  }
  const at = fromLocalInput(form.at);
  return at === null ? null : { at };
}

/** All options, as the API takes them; `null` while the form isn't complete. */
export function optionsOf(form: ScheduleForm): ScheduleOptions | null {
  const timing = timingOf(form);
  const input = readJson(form.input);
  if (!timing || "problem" in input) return null;
  return {
    ...timing,
    overlap: form.overlap,
    ...(input.value === undefined ? {} : { input: input.value }),
    ...(form.queue.trim() === "" ? {} : { queue: form.queue.trim() }),
  };
}

/** What an edit changes: options that were emptied are removed. */
export function changesOf(form: ScheduleForm): ArgsOf<"updateSchedule">["changes"] | null {
  const options = optionsOf(form);
  return options && { input: null, queue: null, ...options };
}

/** The words of the command that does the same. */
export function wordsOf(form: ScheduleForm): string[] {
  const input = form.input.trim() === "" ? [] : ["--input", form.input.trim()];
  const at = fromLocalInput(form.at);
  const timing = {
    cron: ["--cron", form.cron.trim(), "--timezone", form.zone],
    every: ["--every", form.every.trim()],
    at: ["--at", at === null ? "" : new Date(at).toISOString()],
  }[form.kind];
  return [...timing, ...(form.overlap === "skip" ? [] : ["--overlap", form.overlap]), ...input];
}
