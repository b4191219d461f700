import { checkWhole } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { nameProblem } from "../names.ts";

/**
 * Documents are the small things that belong to a store and not to a run: schedules, limits, tokens, workers, saved
 * views. Each has a kind and a key, and a version that is new with every write and never comes back. A write names the
 * version that it replaces, so of two writers one is refused and reads again. What happened to a run never goes here:
 * that is its journal's.
 */
export interface Documents {
  read(kind: string, key: string): Promise<StoredDocument | null>;
  /** Documents of a kind in order of their keys (by their bytes), those after `after`, up to `limit` of them. */
  list(kind: string, page: DocumentPage): Promise<readonly StoredDocument[]>;
  /** Applies each write independently and durably, in order; true for each that was accepted. */
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

/**
 * What every store can keep: a kind is a short word, a key a name on one line. `valueBytes` fits into one item of
 * DynamoDB, and `sealedBytes` still does so when it is encrypted.
 */
export const DOCUMENT_LIMITS = {
  kind: 64,
  key: 256,
  version: 64,
  valueBytes: 300_000,
  sealedBytes: 200_000,
  page: 1000,
} as const;

const KIND = /^[A-Za-z][\w.-]{0,63}$/;
const VERSION = /^[\w-]{1,64}$/;

/** The documents of a store behind the one check of what may be asked and written: HF-3090, before anything happens. */
export const checkedDocuments = (
  inner: Documents,
  mostBytes: number = DOCUMENT_LIMITS.valueBytes,
): Documents => ({
  async read(kind, key) {
    checkAddress(kind, key);
    return inner.read(kind, key);
  },
  async list(kind, page) {
    checkKind(kind);
    checkWhole("limit", page.limit, 1, DOCUMENT_LIMITS.page);
    return inner.list(kind, page);
  },
  async write(batch) {
    for (const one of batch) checkWrite(one, mostBytes);
    return batch.length === 0 ? [] : inner.write(batch);
  },
});

function checkWrite({ kind, key, expect, put }: DocumentWrite, mostBytes: number): void {
  checkAddress(kind, key);
  for (const version of [expect, put?.version ?? null])
    if (version !== null && !VERSION.test(version))
      throw refused(
        kind,
        key,
        `Its version must be 1 to ${DOCUMENT_LIMITS.version} letters, digits, '_' or '-'.`,
      );
  const problem = put ? valueProblem(put.value, mostBytes) : undefined;
  if (problem !== undefined) throw refused(kind, key, problem);
}

function checkKind(kind: unknown): void {
  if (typeof kind !== "string" || !KIND.test(kind))
    throw refused(
      "?",
      "?",
      `Its kind must be a word of 1 to ${DOCUMENT_LIMITS.kind} letters, digits, '_', '.' or '-'.`,
    );
}

function checkAddress(kind: string, key: string): void {
  checkKind(kind);
  const problem = nameProblem(key, DOCUMENT_LIMITS.key);
  if (problem !== undefined) throw refused(kind, "?", `Its key is not a name. ${problem}`);
}

function valueProblem(value: string, mostBytes: number): string | undefined {
  if (typeof value !== "string" || !isJson(value)) return "Its value is not JSON.";
  const bytes = new TextEncoder().encode(value).length;
  if (bytes > mostBytes) return `Its value may have ${mostBytes} bytes, and has ${bytes}.`;
  return /\p{Cs}/u.test(value) ? "Its value has half of a surrogate pair in it." : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const refused = (kind: string, key: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3090", { kind, key, problem });

/** The order of keys in every store: that of their UTF-8 bytes. Surrogates come last, unlike in JavaScript's own order. */
export function byKey(a: string, b: string): number {
  const place = (unit: number): number =>
    unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return place(x) - place(y);
  }
  return a.length - b.length;
}

/** One page of documents in memory. */
export const pageOf = (
  found: Iterable<StoredDocument>,
  { after, limit }: DocumentPage,
): readonly StoredDocument[] =>
  [...found]
    .filter(({ key }) => after === undefined || byKey(key, after) > 0)
    .sort((a, b) => byKey(a.key, b.key))
    .slice(0, limit);

/** The documents of a process's memory. */
export function memoryDocuments(check: () => void = () => {}): Documents {
  const kept = new Map<string, Map<string, StoredDocument>>();
  const write = ({ kind, key, expect, put }: DocumentWrite): boolean => {
    const ofKind = kept.get(kind) ?? new Map<string, StoredDocument>();
    if ((ofKind.get(key)?.version ?? null) !== expect) return false;
    if (put) ofKind.set(key, Object.freeze({ kind, key, version: put.version, value: put.value }));
    else ofKind.delete(key);
    kept.set(kind, ofKind);
    return true;
  };
  return checkedDocuments({
    async read(kind, key) {
      check();
      return kept.get(kind)?.get(key) ?? null;
    },
    async list(kind, page) {
      check();
      return pageOf(kept.get(kind)?.values() ?? [], page);
    },
    async write(batch) {
      check();
      return batch.map(write);
    },
  });
}

/** Documents that are read from below and written to memory only. */
export function documentsOver(below: Documents): Documents {
  const drafts = new Map<string, StoredDocument | null>();
  const nameOf = (kind: string, key: string): string => `${kind}/${key}`;
  const read: Documents["read"] = async (kind, key) => {
    const draft = drafts.get(nameOf(kind, key));
    return draft === undefined ? below.read(kind, key) : draft;
  };
  return checkedDocuments({
    read,
    async list(kind, { after, limit }) {
      const own = [...drafts.values()].filter((one) => one?.kind === kind) as StoredDocument[];
      const found: StoredDocument[] = [];
      for (let from = after; found.length < limit; ) {
        const page = await below.list(kind, { limit, ...(from === undefined ? {} : { after: from }) });
        found.push(...page.filter(({ key }) => !drafts.has(nameOf(kind, key))));
        from = page.at(-1)?.key;
        if (page.length < limit) break;
      }
      return pageOf([...found, ...own], { limit, ...(after === undefined ? {} : { after }) });
    },
    async write(batch) {
      const stored = await Promise.all(batch.map(({ kind, key }) => read(kind, key)));
      // Synchronous from here on, so that of two writers one sees the other.
      return batch.map(({ kind, key, expect, put }, index) => {
        const draft = drafts.get(nameOf(kind, key));
        const found = draft === undefined ? stored[index] : draft;
        if ((found?.version ?? null) !== expect) return false;
        drafts.set(nameOf(kind, key), put && { kind, key, ...put });
        return true;
      });
    },
  });
}
