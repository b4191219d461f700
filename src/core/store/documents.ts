/**
 * Documents are the small things that belong to a store and not to a run: schedules, limits, tokens, workers, saved
 * views. Each has a kind and a key, and a version that is new with every write and never comes back. A write names the
 * version that it replaces, so of two writers one is refused and reads again. What happened to a run never goes here:
 * that is its journal's.
 */
export interface Documents {
  read(kind: string, key: string): Promise<StoredDocument | null>;
  /** Documents of a kind in order of their keys, those after `after`, up to `limit` of them. */
  list(kind: string, page: DocumentPage): Promise<readonly StoredDocument[]>;
  /** Applies each write independently and durably; true for each that was accepted. */
  write(batch: readonly DocumentWrite[]): Promise<readonly boolean[]>;
}

export interface StoredDocument {
  readonly kind: string;
  readonly key: string;
  readonly version: string;
  /** JSON, as it was written. */
  readonly value: string;
}

export interface DocumentPage {
  readonly after?: string;
  readonly limit: number;
}

export interface DocumentWrite {
  readonly kind: string;
  readonly key: string;
  /** The version that is replaced; `null`: there must be no such document. */
  readonly expect: string | null;
  /** `null` deletes it. Otherwise a version that was never used before (a UUID), and the text. */
  readonly put: { readonly version: string; readonly value: string } | null;
}

/** The documents of a process's memory. */
export function memoryDocuments(check: () => void = () => {}): Documents {
  const kept = new Map<string, Map<string, StoredDocument>>();
  const write = ({ kind, key, expect, put }: DocumentWrite): boolean => {
    const ofKind = kept.get(kind) ?? new Map<string, StoredDocument>();
    if ((ofKind.get(key)?.version ?? null) !== expect) return false;
    if (put) ofKind.set(key, Object.freeze({ kind, key, ...put }));
    else ofKind.delete(key);
    kept.set(kind, ofKind);
    return true;
  };
  return {
    async read(kind, key) {
      check();
      return kept.get(kind)?.get(key) ?? null;
    },
    async list(kind, { after, limit }) {
      check();
      return [...(kept.get(kind)?.values() ?? [])]
        .filter(({ key }) => after === undefined || key > after)
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit);
    },
    async write(batch) {
      check();
      return batch.map(write);
    },
  };
}
