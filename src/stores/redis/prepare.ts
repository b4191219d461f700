import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store/contract.ts";
import { newKey, restoration } from "../restoration.ts";
import { type Commands, text, texts } from "./commands.ts";
import { allBuckets, metaKey } from "./keys.ts";
import { ADOPT, PREPARE, RESTORED } from "./scripts.ts";

/** Raised together with the journal's format, and when lists were added that older versions don't know. */
export const SCHEMA = 3;

export interface Prepared {
  readonly identity: StoreIdentity;
  readonly buckets: number;
}

/** Creates the store if it doesn't exist, and returns its identity. Many processes may do this at once. */
export async function prepare(
  commands: Commands,
  { prefix, buckets, name }: { prefix: string; buckets: number; name: string },
): Promise<Prepared> {
  const fields = {
    application: "holdfast",
    schema: SCHEMA,
    incarnation: newKey(),
    secret: newKey(),
    buckets,
  };
  const reply = texts(await commands.run(PREPARE, [metaKey(prefix)], Object.entries(fields).flat()));
  const [application, schema, incarnation, secret, count, restored, former] = reply;
  const foreign = (message: string) => new HoldfastError("HF-3006", { file: name, message });
  if (application !== "holdfast" || !incarnation || !secret)
    throw foreign("Another program keeps something under this prefix.");
  if (Number(schema) > SCHEMA)
    throw new HoldfastError("HF-3005", { file: name, found: Number(schema), known: SCHEMA });
  const since = restored ? { restoredAt: Number(restored) } : {};
  const prepared = { identity: { incarnation, secret, ...since }, buckets: Number(count) };
  // Writes are refused where the mark is missing, so that a store emptied in the meantime is noticed.
  const marks = allBuckets({ prefix, buckets: prepared.buckets }).map(async ({ mark }) =>
    text(await commands.run(ADOPT, [mark], [incarnation, former ?? ""])),
  );
  const others = (await Promise.all(marks)).filter((found) => found !== incarnation);
  if (others.length > 0) throw foreign("A part of it belongs to another store.");
  return prepared;
}

/**
 * Gives the store a new incarnation. Its buckets adopt it when the store is next opened, even if this is interrupted.
 */
export async function renameStore(
  commands: Commands,
  prefix: string,
  { incarnation }: StoreIdentity,
  times: { readonly now: number; readonly newestRun: number },
): Promise<void> {
  const next = restoration(times.now, times.newestRun);
  await commands.run(RESTORED, [metaKey(prefix)], [next.incarnation, incarnation, next.restoredAt]);
}
