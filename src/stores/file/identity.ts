import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store/contract.ts";
import { type Disk, ifThere, writeFiles } from "../disk.ts";
import { newKey, restoration } from "../restoration.ts";
import type { Layout } from "./layout.ts";
import { isKnownStore, STORE_FORMAT, seal, unseal } from "./sealed.ts";

/** Files that don't belong in a repository: key material, and state of one machine. */
const GIT_IGNORE = "/store.json\n/lock.json\n/claims.json\n/tmp/\n.lock-*\n";
/** Git must not change line endings, or the checksums would no longer match. */
const GIT_ATTRIBUTES = "* -text\n";

/** Reads the store's identity, or creates one in a folder that holds no runs yet. */
export async function identify(disk: Disk, layout: Layout): Promise<StoreIdentity> {
  const file = layout.identity;
  const bytes = await ifThere(disk.read(file));
  if (!bytes) return make(disk, layout);
  const unsealed = unseal(bytes);
  if ("problem" in unsealed) throw new HoldfastError("HF-3006", { file, message: `${unsealed.problem}.` });
  const { version, incarnation, secret, restoredAt } = unsealed.body;
  if (!isKnownStore(version))
    throw new HoldfastError("HF-3005", { file, found: String(version), known: STORE_FORMAT });
  if (typeof incarnation !== "string" || typeof secret !== "string")
    throw new HoldfastError("HF-3006", { file, message: "It does not say who the store is." });
  const identity = { incarnation, secret, ...(typeof restoredAt === "number" ? { restoredAt } : {}) };
  // Makes older versions refuse the store from now on.
  if (version !== STORE_FORMAT) await write(disk, layout, [identityFile(layout, identity)]);
  return identity;
}

/** Gives the store a new incarnation. */
export async function markRestored(
  disk: Disk,
  layout: Layout,
  { secret }: StoreIdentity,
  times: { readonly now: number; readonly newestRun: number },
): Promise<StoreIdentity> {
  const identity = { secret, ...restoration(times.now, times.newestRun) };
  await write(disk, layout, [identityFile(layout, identity)]);
  return identity;
}

async function make(disk: Disk, layout: Layout): Promise<StoreIdentity> {
  const runs = await ifThere(disk.list(layout.runs));
  if (runs && runs.length > 0) {
    const message = "There are runs, but the file is missing: with new keys, calls could be made twice.";
    throw new HoldfastError("HF-3006", { file: layout.identity, message });
  }
  const identity = { incarnation: newKey(), secret: newKey() };
  await write(disk, layout, [
    { name: ".gitignore", text: GIT_IGNORE },
    { name: ".gitattributes", text: GIT_ATTRIBUTES },
    identityFile(layout, identity),
  ]);
  return identity;
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

const identityFile = (layout: Layout, identity: StoreIdentity): NamedText => ({
  name: path.basename(layout.identity),
  text: seal({ version: STORE_FORMAT, store: "holdfast", ...identity }),
});

/** Writes each file atomically. */
async function write(disk: Disk, layout: Layout, texts: readonly NamedText[]): Promise<void> {
  const files = texts.map(({ name, text }) => ({
    path: layout.temporary(),
    text,
    to: path.join(layout.root, name),
  }));
  await writeFiles(disk, files);
  for (const { path: from, to } of files) await disk.rename(from, to);
  await disk.syncFolder(layout.root);
}
