import { isRecord } from "../../check-options.ts";
import type { Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import { decode } from "../../values/codec.ts";

/** The most holders of places that are looked at. */
const MOST = 1_000;

/** What a queued run waits for in its queue: its limit and who holds the places; `undefined` when for nothing there. */
export async function placeInQueue(store: Store, row: RunRow): Promise<string | undefined> {
  const { queue, key, status } = row;
  if (status !== "queued" || queue === null) return undefined;
  const stored = await store.documents?.read("queue", queue);
  const record: unknown = stored ? decode(stored.value) : undefined;
  if (!isRecord(record) || !isRecord(record["definition"])) return undefined;
  if (isRecord(record["paused"])) return `its queue ${queue} is paused`;
  const { concurrency, perKey }: Partial<Record<string, unknown>> = record["definition"];
  const { runs } = await store.list({ queue, status: ["running"], limit: MOST });
  const ofKey = runs.filter((run) => key !== null && run.key === key);
  if (typeof concurrency === "number" && runs.length >= concurrency)
    return taken(`a place in queue ${queue}`, concurrency, runs);
  if (typeof perKey === "number" && key !== null && ofKey.length >= perKey)
    return taken(`a place for key ${key} in queue ${queue}`, perKey, ofKey);
  return undefined;
}

function taken(place: string, most: number, runs: readonly { readonly id: string }[]): string {
  const ids = runs.slice(0, 3).map(({ id }) => id);
  const more = runs.length > ids.length ? ` and ${runs.length - ids.length} more` : "";
  return `waits for ${place} (limit ${most}, held by ${ids.join(", ")}${more})`;
}
