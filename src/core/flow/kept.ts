import { HoldfastError } from "../errors.ts";
import type { Documents, StoredDocument } from "../store/documents.ts";
import { decode, encode } from "../values/codec.ts";

/** How often a change is tried again because others changed the same document in the meantime. */
const MOST_TRIES = 50;

/** Documents per question. */
const PAGE = 200;

/** A document's value and the version that it has. */
export interface Held<T> {
  readonly key: string;
  readonly version: string;
  readonly value: T;
}

export interface KeptDeps<T> {
  /** Throws when the store can't keep documents. */
  readonly documents: () => Documents;
  readonly kind: string;
  readonly newVersion: () => string;
  /** Tells whether a stored value has the expected shape. */
  readonly isValid: (value: unknown) => value is T;
}

/** Returned by a change that has nothing to do. */
export const UNCHANGED = Symbol("unchanged");

/**
 * The documents of one kind. A change is a function of the current value, and it is written only if that value is still
 * current. Otherwise the function is called again with the newer one.
 */
export class Kept<T> {
  readonly #documents: () => Documents;
  readonly #kind: string;
  readonly #newVersion: () => string;
  readonly #isValid: (value: unknown) => value is T;
  /** The last value read of each version, so that an unchanged document isn't decoded again. */
  #known = new Map<string, Held<T>>();

  constructor({ documents, kind, newVersion, isValid }: KeptDeps<T>) {
    this.#documents = documents;
    this.#kind = kind;
    this.#newVersion = newVersion;
    this.#isValid = isValid;
  }

  async read(key: string): Promise<Held<T> | null> {
    const stored = await this.#documents().read(this.#kind, key);
    return stored && this.#of(stored);
  }

  /** All of them, in order of their keys, without those that can't be read. */
  async all(): Promise<readonly Held<T>[]> {
    const found: Held<T>[] = [];
    for (let after: string | undefined; ; ) {
      const page = await this.#documents().list(this.#kind, {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      found.push(...page.flatMap((stored) => this.#ofList(stored)));
      after = page.at(-1)?.key;
      if (page.length < PAGE || after === undefined) break;
    }
    this.#known = new Map(found.map((held) => [held.key, held]));
    return found;
  }

  /**
   * Changes a document; `null` deletes it. Returns what is stored afterwards. Throws HF-5110 if others are always
   * faster.
   */
  async change(
    key: string,
    next: (current: T | null, version: string | null) => T | null | typeof UNCHANGED,
  ): Promise<Held<T> | null> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const current = await this.read(key);
      const value = next(current?.value ?? null, current?.version ?? null);
      if (value === UNCHANGED || (value === null && current === null)) return current;
      const written = await this.replace(key, current?.version ?? null, value);
      if (written !== undefined) return written;
    }
    throw new HoldfastError("HF-5110", { kind: this.#kind, name: key, tries: MOST_TRIES });
  }

  /** Writes a value in place of the version that was read; `undefined` when that is no longer current. */
  async replace(key: string, expect: string | null, value: T | null): Promise<Held<T> | null | undefined> {
    const version = this.#newVersion();
    const put = value === null ? null : { version, value: encode(value) };
    const [isWritten] = await this.#documents().write([{ kind: this.#kind, key, expect, put }]);
    if (!isWritten) return undefined;
    return value === null ? null : { key, version, value };
  }

  #ofList(stored: StoredDocument): readonly Held<T>[] {
    try {
      return [this.#of(stored)];
    } catch {
      return [];
    }
  }

  #of({ key, version, value: text }: StoredDocument): Held<T> {
    const known = this.#known.get(key);
    if (known?.version === version) return known;
    const value = decode(text);
    if (!this.#isValid(value)) throw new HoldfastError("HF-5111", { kind: this.#kind, name: key });
    return { key, version, value };
  }
}
