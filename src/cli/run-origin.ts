import { parseEntry } from "../core/journal/journal.ts";
import { entryAt } from "../core/journal/read.ts";
import { Values } from "../core/journal/values.ts";
import { silentLogger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import type { RunTags } from "../core/types.ts";

/** The config key under which the command line keeps its own notes. */
export const ORIGIN_KEY = "$holdfast";

export type OnFailure = "pause" | "continue" | "rollback";

/** How a run was started from the command line. Part of the run, so it moves with the run. */
export interface RunOrigin {
  /** The file of its workflow, relative to the project's folder if inside. */
  readonly file?: string;
  readonly onFailure?: OnFailure;
  /** Runs of earlier versions have their name and labels here; now they are the run's own. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A run's origin with the name and labels that the run has now. */
export const withTags = ({ name, labels }: RunTags, origin: RunOrigin): RunOrigin => ({
  ...origin,
  ...(name === null ? {} : { name }),
  labels: { ...origin.labels, ...labels },
});

const NOTHING: RunOrigin = {};

/** The origin from its first entry; empty for runs that a program started. */
export async function readOrigin(store: Store, runId: string): Promise<RunOrigin> {
  const entry = await entryAt(store, runId, 1);
  if (!entry || entry.data === null || !entry.data.includes(ORIGIN_KEY)) return NOTHING;
  const { events } = parseEntry(runId, entry);
  const event = events.find(
    ({ kind, meta }) => kind === "value_edited" && "what" in meta && meta.what === "config",
  );
  if (!event) return NOTHING;
  const values = new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, silentLogger);
  const config = (await values.of(runId, event)) as Readonly<Record<string, unknown>> | undefined;
  const origin = config?.[ORIGIN_KEY];
  return typeof origin === "object" && origin !== null ? origin : NOTHING;
}
