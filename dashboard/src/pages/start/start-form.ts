import type { ArgsOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { fromLocalInput } from "../spans.ts";

/** What somebody has typed to start a run. */
export interface StartForm {
  readonly workflow: string;
  readonly input: string;
  readonly id: string;
  readonly name: string;
  readonly labels: string;
  readonly queue: string;
  readonly key: string;
  readonly priority: string;
  readonly startAt: string;
}

export const EMPTY: StartForm = {
  workflow: "",
  input: "",
  id: "",
  name: "",
  labels: "",
  queue: "",
  key: "",
  priority: "",
  startAt: "",
};

export type Problems = Partial<Record<keyof StartForm, string>>;
export type Started = { readonly args: ArgsOf<"startRun"> } | { readonly problems: Problems };

/** `team=billing, region=eu` as labels; `null` if something isn't one. */
export function readLabels(text: string): Record<string, string> | null {
  const pairs = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .map((one) => /^([^=\s]+)\s*=\s*(.*)$/.exec(one));
  if (pairs.includes(null)) return null;
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? "", pair[2] ?? ""]] : [])));
}

function readInput(text: string): { readonly value?: unknown; readonly problem?: string } {
  if (text.trim() === "") return {};
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: TEXT.start.badJson(error instanceof Error ? error.message : "") };
  }
}

/** What the API takes, or what is wrong with which field. */
export function readStart(form: StartForm): Started {
  const input = readInput(form.input);
  const labels = readLabels(form.labels);
  const priority = form.priority.trim() === "" ? undefined : Number(form.priority);
  const isPriority = priority === undefined || (Number.isInteger(priority) && Math.abs(priority) <= 100);
  const problems: Problems = {
    ...(input.problem === undefined ? {} : { input: input.problem }),
    ...(labels === null ? { labels: TEXT.start.badLabels } : {}),
    ...(isPriority ? {} : { priority: TEXT.start.badPriority }),
  };
  if (Object.keys(problems).length > 0) return { problems };
  const startAt = fromLocalInput(form.startAt);
  const texts = { id: form.id, name: form.name, queue: form.queue, key: form.key };
  const given = Object.entries(texts).flatMap(([name, text]) =>
    text.trim() === "" ? [] : [[name, text.trim()]],
  );
  return {
    args: {
      workflow: form.workflow.trim(),
      ...(Object.fromEntries(given) as Partial<typeof texts>),
      ...(input.value === undefined ? {} : { input: input.value }),
      ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
      ...(priority === undefined ? {} : { priority }),
      ...(startAt === null ? {} : { startAt }),
    },
  };
}

/** The words of the command that does the same. */
export function wordsOf(form: StartForm): string[] {
  const flag = (name: string, text: string): string[] => (text.trim() === "" ? [] : [name, text.trim()]);
  const startAt = fromLocalInput(form.startAt);
  return [
    "run",
    form.workflow.trim() || "<workflow>",
    "--detach",
    ...flag("--input", form.input),
    ...flag("--id", form.id),
    ...flag("--name", form.name),
    ...Object.entries(readLabels(form.labels) ?? {}).flatMap(([name, value]) => [
      "--label",
      `${name}=${value}`,
    ]),
    ...flag("--queue", form.queue),
    ...flag("--key", form.key),
    ...flag("--priority", form.priority),
    ...(startAt === null ? [] : ["--start-at", new Date(startAt).toISOString()]),
  ];
}
