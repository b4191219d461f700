import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store.ts";
import { type Commands, text, texts } from "./commands.ts";
import { allBuckets, metaKey } from "./keys.ts";
import { PREPARE } from "./scripts.ts";

const SCHEMA = 1;

export interface Prepared {
  readonly identity: StoreIdentity;
  readonly buckets: number;
}

/** Makes the store where it is not there, and says who it is. Many processes may do so at once. */
export async function prepare(
  commands: Commands,
  { prefix, buckets, name }: { prefix: string; buckets: number; name: string },
): Promise<Prepared> {
  const key = (): string => randomBytes(32).toString("base64url");
  const fields = {
    application: "holdfast",
    schema: SCHEMA,
    incarnation: key(),
    secret: key(),
    buckets,
  };
  const reply = texts(await commands.run(PREPARE, [metaKey(prefix)], Object.entries(fields).flat()));
  const [application, schema, incarnation, secret, count] = reply;
  const foreign = (message: string) => new HoldfastError("HF-3006", { file: name, message });
  if (application !== "holdfast" || !incarnation || !secret)
    throw foreign("Another program keeps something under this prefix.");
  if (Number(schema) > SCHEMA)
    throw new HoldfastError("HF-3005", { file: name, found: Number(schema), known: SCHEMA });
  const prepared = { identity: { incarnation, secret }, buckets: Number(count) };
  // Writes are refused where the mark is missing, so that a store that was emptied meanwhile is noticed.
  const marks = allBuckets({ prefix, buckets: prepared.buckets }).map(async ({ mark }) =>
    text(await commands.send(mark, ["SET", mark, incarnation, "NX", "GET"])),
  );
  const others = (await Promise.all(marks)).filter((found) => found !== null && found !== incarnation);
  if (others.length > 0) throw foreign("A part of it belongs to another store.");
  return prepared;
}
