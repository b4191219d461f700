import { createHash } from "node:crypto";
import type { Store } from "../../src/core/store/contract.ts";
import { type Keyring, localKeyring } from "../../src/security/keyring.ts";
import { createRoot } from "../../src/security/root.ts";

/** Test keys, derived from their names. */
export const keyOf = (id: string): Uint8Array => createHash("sha256").update(`test key ${id}`).digest();

/** A keyring of keys by name, the current one first. Names added to `ids` later count too. */
export function testKeyring(...ids: string[]): Keyring & { readonly names: string[] } {
  const inner = localKeyring(() => new Map(ids.map((id) => [id, keyOf(id)])));
  return {
    names: ids,
    get current() {
      return inner.current;
    },
    ids: () => inner.ids(),
    wrap: (...args) => inner.wrap(...args),
    unwrap: (...args) => inner.unwrap(...args),
  };
}

/** Everything that a store holds for a run, as stored. */
export async function recordsOf(
  store: Store,
  runId: string,
): Promise<readonly { readonly seq: number; readonly head: string; readonly data: string }[]> {
  const entries = await store.entries(runId, { from: 1, limit: 1_000 });
  return entries.flatMap(({ seq, head, data }) => (data === null ? [] : [{ seq, head, data }]));
}

/** Turns it into a store that was encrypted by a version without marked heads. */
export async function sealedBefore(inner: Store, keyring: Keyring): Promise<Store> {
  await inner.identity();
  await createRoot(inner, keyring, 1);
  return inner;
}
