import { parseEntry } from "../core/journal/journal.ts";
import { entryAt } from "../core/journal/read.ts";
import { Values } from "../core/journal/values.ts";
import { silentLogger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";

/** The key of a run's config that the command line keeps its own notes under. */
export const ORIGIN_KEY = "$holdfast";

export type OnFailure = "pause" | "continue" | "rollback";

/** How a run was started from the command line. Part of the run, so it is found again wherever the run goes. */
export interface RunOrigin {
  /** The file its workflow is in, relative to the project's folder where it lies inside. */
  readonly file?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly onFailure?: OnFailure;
}

const NOTHING: RunOrigin = {};

/** What its first entry says; nothing for runs that a program has started. */
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
