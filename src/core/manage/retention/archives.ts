import { HoldfastError } from "../../errors.ts";
import { onDemand } from "../../on-demand.ts";
import { checkStore } from "../../store/check-store.ts";
import type { Blob, Entry, Store } from "../../store/contract.ts";
import type { Archive, ArchiveBundle } from "./archive.ts";
import type { PolicyRules } from "./policy.ts";

const bundles = onDemand(() => import("../transfer/bundle.ts"));

/** Refuses rules that move rows to a table that the store doesn't have (HF-4505): the rows would be lost. */
export function checkArchiveTable({ name, capabilities }: Store, { every }: PolicyRules): void {
  if (capabilities.archives === true || every.every(({ archiveRecords }) => archiveRecords !== true)) return;
  throw new HoldfastError("HF-4505", { store: name });
}

/**
 * An archive that is another store, such as tables in another schema: each run is copied as it is. A run that is there
 * already, from an earlier end, is replaced.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { archiveInto } from "holdfast/manage";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const archive = archiveInto(await openSqliteStore({ file: "archive.db" }));
 * const store = await openSqliteStore();
 * export const engine = createEngine({ store, retention: { maxAge: "7d", onExpiry: "delete", archive } });
 * ```
 */
export function archiveInto(target: Store): Archive {
  checkStore("target", target);
  return async (bundle) => {
    const { claim, seq: _, head, ...run } = bundle.run;
    const entries = await all<Entry>(bundle.entries);
    const blobs = await all<Blob>(bundle.blobs);
    const kept = { kind: "release", epoch: claim.epoch } as const;
    const copy = { run, expect: null, claim: kept, entries, head, blobs };
    await target.identity();
    const [result] = await target.append([copy]);
    if (result?.ok) return;
    const before = result?.row ?? (await target.read(run.id));
    if (before?.head === head) return;
    if (before) await erase(target, before);
    const [again] = await target.append([copy]);
    if (!again?.ok) throw new Error(`The archive refused run ${run.id}: ${again?.reason ?? "no answer"}.`);
  };
}

async function erase(target: Store, row: ArchiveBundle["run"]): Promise<void> {
  const { claim, seq, head: _, ...run } = row;
  const expect = { seq, epoch: claim.epoch, token: null };
  await target.append([{ run, expect, claim: { kind: "erase" }, entries: [], head: "", blobs: [] }]);
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The run as the text of a bundle, which `transfer.importRuns` and `holdfast import` take. */
export async function* bundleText({ run, entries, blobs }: ArchiveBundle): AsyncGenerator<string> {
  const { BundleWriter } = await bundles();
  const writer = new BundleWriter();
  yield writer.header({ runs: [run.id], createdAt: run.updatedAt, incarnation: "" });
  yield writer.run(run);
  for await (const entry of entries) yield writer.entry(entry);
  for await (const blob of blobs) yield writer.blob(blob);
  yield await writer.end();
}
