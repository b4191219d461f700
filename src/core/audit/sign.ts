import { HoldfastError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { collectHeads } from "./collect.ts";
import { type AuditLog, brokenLog, type KeptHead } from "./log.ts";
import { headText } from "./proof/checkpoint.ts";
import { announcement } from "./proof/leaf.ts";
import { type NoteSigner, parsePublicKey, signatureLine } from "./proof/note.ts";

const nameOf = (signer: NoteSigner): string => {
  const key = parsePublicKey(signer.publicKey);
  if (key) return `${key.name}+${key.id}`;
  throw refused(signer, "its public key isn't of the form name+id+base64");
};

const refused = ({ publicKey }: NoteSigner, problem: string): HoldfastError =>
  new HoldfastError("HF-3200", { source: String(publicKey).slice(0, 80), problem });

async function lineOf(text: string, signer: NoteSigner): Promise<string> {
  const line = await signatureLine(text, signer);
  if (line !== undefined) return line;
  throw refused(signer, "it doesn't make signatures that its public key verifies");
}

/**
 * Collects the heads of runs that have moved, and signs the tree. Returns the newest head; nothing is signed when
 * nothing is new.
 */
export async function signHead(store: Store, log: AuditLog, signer: NoteSigner): Promise<KeptHead> {
  const name = nameOf(signer);
  const before = log.head;
  await collectHeads(store, log);
  await announceFirst(log, signer);
  if (log.key !== name) throw new HoldfastError("HF-3205", { key: name, current: log.key ?? "none" });
  if (before && !(await log.headOf(before.size)))
    throw new HoldfastError("HF-3208", { where: "this process", anchored: before.size, size: "fewer" });
  const known = await log.headOf(log.size);
  if (known) return known;
  const { size, root } = { size: log.size, root: log.tree.root() };
  const text = headText({ origin: log.origin, size, root });
  return log.keep(`${text}\n${await lineOf(text, signer)}`);
}

/** The first key announces itself. Readers must know it from elsewhere. */
async function announceFirst(log: AuditLog, signer: NoteSigner): Promise<void> {
  if (log.key !== null) return;
  // The announcement names the log, which has a name only once its first leaf is there.
  if (log.size === 0) await log.append(() => (log.size === 0 ? [] : null));
  await announce(log, signer, [signer], null);
}

async function announce(
  log: AuditLog,
  key: NoteSigner,
  signers: readonly NoteSigner[],
  before: string | null,
): Promise<void> {
  const text = announcement(log.origin, key.publicKey);
  const lines: string[] = [];
  for (const signer of signers) lines.push(await lineOf(text, signer));
  const proof = `${text}\n${lines.join("")}`;
  await log.append(() => (log.key === before ? [{ act: "key_announced", key: key.publicKey, proof }] : null));
}

/**
 * Lets the next key sign from now on: the log says so in a leaf that the old one has signed, and from that leaf on the
 * old one counts no more. Done again after it was interrupted, it does what is left.
 */
export async function rotateKey(
  store: Store,
  log: AuditLog,
  from: NoteSigner,
  to: NoteSigner,
): Promise<KeptHead> {
  const [old, next] = [nameOf(from), nameOf(to)];
  await log.refresh();
  if (log.key === null) throw brokenLog("it has no key yet: sign a head with the old key first");
  if (log.key !== next) {
    // A head by the old key first, so that everything up to here has its signature.
    await signHead(store, log, from);
    await announce(log, to, [from, to], old);
  }
  return signHead(store, log, to);
}
