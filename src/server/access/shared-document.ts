import { randomUUID } from "node:crypto";
import { HoldfastError } from "../../core/errors.ts";
import type { Documents } from "../../core/store/documents.ts";

const TRIES = 20;

/** Changes a document that others may be changing too: reads, decides, writes on condition, and begins again if it moved. */
export async function changeDocument(
  documents: Documents,
  kind: string,
  key: string,
  change: (value: string | null) => string | null,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await documents.read(kind, key);
    const value = change(found?.value ?? null);
    if (value === (found?.value ?? null)) return;
    const put = value === null ? null : { version: randomUUID(), value };
    const [taken] = await documents.write([{ kind, key, expect: found?.version ?? null, put }]);
    if (taken) return;
  }
  throw new HoldfastError("HF-6067", { what: `The ${kind} ${key}` });
}

/** Every document of a kind, a page at a time. */
export async function* everyDocument(documents: Documents, kind: string) {
  const limit = 200;
  for (let after: string | undefined; ; ) {
    const page = await documents.list(kind, after === undefined ? { limit } : { after, limit });
    yield* page;
    if (page.length < limit) return;
    after = page.at(-1)?.key;
  }
}
