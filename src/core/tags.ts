import { badOption, checkObject, checkWhole } from "./check-options.ts";
import { checkNamed, isPrototypeKey, nameProblem } from "./names.ts";
import type { RunIdentity, RunTags } from "./types.ts";

/** How a run is named, found and queued: said once, when it is created. Its first event repeats it. */
export const NO_TAGS: RunTags = { name: null, labels: {}, queue: null, key: null, priority: 0 };

/** The tags of a run, and nothing else of it. */
export const tagsOf = ({ name, labels, queue, key, priority }: RunTags): RunTags => ({
  name,
  labels,
  queue,
  key,
  priority,
});

/** The fields that are written once, and nothing else of a row. */
export const identityOf = (run: RunIdentity): RunIdentity => ({
  id: run.id,
  workflow: run.workflow,
  lineage: run.lineage,
  parent: run.parent,
  origin: run.origin,
  createdAt: run.createdAt,
  ...tagsOf(run),
});

/** The tags that the first event of a run carries: those that say something. */
export interface TagMeta {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly queue?: string;
  readonly key?: string;
  readonly priority?: number;
}

export const tagMeta = ({ name, labels, queue, key, priority }: RunTags): TagMeta => ({
  ...(name === null ? {} : { name }),
  ...(Object.keys(labels).length === 0 ? {} : { labels }),
  ...(queue === null ? {} : { queue }),
  ...(key === null ? {} : { key }),
  ...(priority === 0 ? {} : { priority }),
});

/** The tags that a run's first event says it has. */
export const tagsIn = (meta: TagMeta): RunTags => tagsOf({ ...NO_TAGS, ...meta });

/** A fork is found and queued like its source. It hasn't its key, because that may be there only once. */
export const tagsOfFork = (source: RunTags): RunTags => ({ ...tagsOf(source), key: null });

/** A child is part of its parent's work: it has its labels, stands in its queue, and is as urgent. */
export const tagsOfChild = ({ labels, queue, priority }: RunTags): RunTags => ({
  ...NO_TAGS,
  labels,
  queue,
  priority,
});

/** What tags may be. A priority is one of few, so that the most urgent are found without looking at all runs. */
export const TAG_LIMITS = {
  name: 200,
  labels: 32,
  label: 64,
  value: 256,
  queue: 128,
  key: 256,
  priority: 100,
} as const;

/** The tags as given, checked (HF-1003, HF-1050); those that aren't given are as in `otherwise`. */
export function checkTags(given: TagMeta, otherwise: RunTags = NO_TAGS): RunTags {
  const { name, labels, queue, key, priority } = given;
  if (name !== undefined) checkNamed("name", name, TAG_LIMITS.name);
  if (queue !== undefined) checkNamed("queue", queue, TAG_LIMITS.queue);
  if (key !== undefined) checkNamed("key", key, TAG_LIMITS.key);
  if (priority !== undefined) checkWhole("priority", priority, -TAG_LIMITS.priority, TAG_LIMITS.priority);
  return {
    name: name ?? otherwise.name,
    labels: labels === undefined ? otherwise.labels : checkLabels(labels),
    queue: queue ?? otherwise.queue,
    key: key ?? otherwise.key,
    priority: priority ?? otherwise.priority,
  };
}

/** Labels as given, in order of their names. */
export function checkLabels(labels: unknown): Readonly<Record<string, string>> {
  checkObject("labels", labels, "an object of names and texts");
  const entries = Object.entries(labels);
  if (entries.length > TAG_LIMITS.labels) throw badOption("labels", `there may be ${TAG_LIMITS.labels}`);
  for (const [label, value] of entries) {
    checkNamed("label", label, TAG_LIMITS.label);
    if (isPrototypeKey(label)) throw badOption(`labels.${label}`, "objects have a meaning for this name");
    const problem = value === "" ? undefined : nameProblem(value, TAG_LIMITS.value);
    if (problem !== undefined)
      throw badOption(`labels.${label}`, `${problem.slice(0, 1).toLowerCase()}${problem.slice(1)}`);
  }
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) as Record<string, string>;
}
