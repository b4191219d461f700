import { HoldfastError } from "../../core/errors.ts";
import { digest } from "../../core/hash.ts";
import type { Documents, StoredDocument } from "../../core/store/documents.ts";

/** The kind of documents that hold the items of the long-term memory. */
const KIND = "langgraph-item";
const PAGE = 500;
/** A document's key has at most 256 characters. */
const MOST_KEY = 250;
const LONG = "~";
const ATTEMPTS = 100;

/** An item as it is stored. Times are epoch milliseconds on the store's clock. */
export interface StoredItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The vectors of its texts, where the store has an index. */
  readonly vectors?: readonly (readonly number[])[];
}

const bad = (key: unknown, problem: string): HoldfastError =>
  new HoldfastError("HF-6189", { key: JSON.stringify(key)?.slice(0, 80) ?? "?", problem });

/** Refuses what LangGraph refuses as a namespace (HF-6189). */
export function checkNamespace(namespace: unknown): asserts namespace is readonly string[] {
  if (!Array.isArray(namespace) || namespace.length === 0) throw bad(namespace, "Its namespace is empty.");
  const labels: readonly unknown[] = namespace;
  if (labels.some((label) => typeof label !== "string" || label === "" || label.includes(".")))
    throw bad(namespace, "Each part of its namespace must be a text without a dot.");
  if (labels[0] === "langgraph")
    throw bad(namespace, 'Its namespace begins with "langgraph", which is reserved.');
}

/** The beginning of the keys of all items below a namespace. */
const prefixOf = (namespace: readonly string[]): string =>
  namespace.map((label) => `${safe(label)}/`).join("");

function documentKey(namespace: readonly string[], key: string): string {
  const whole = `${prefixOf(namespace)}/${safe(key)}`;
  // A long name is found by its digest; a search looks at all of those.
  return whole.length <= MOST_KEY ? whole : LONG + digest(JSON.stringify([namespace, key]));
}

function safe(label: string): string {
  try {
    return encodeURIComponent(label).replaceAll(LONG, "%7E");
  } catch (error) {
    throw new HoldfastError(
      "HF-6189",
      { key: JSON.stringify(label), problem: "It has half of a surrogate pair." },
      { cause: error },
    );
  }
}

/** The items of a store's long-term memory, as documents of the store. */
export class Items {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async read(namespace: readonly string[], key: string): Promise<StoredItem | null> {
    const found = await this.#documents.read(KIND, documentKey(namespace, key));
    return found && itemOf(found);
  }

  /** Every item below a namespace. */
  async *below(namespace: readonly string[]): AsyncGenerator<StoredItem> {
    const prefix = prefixOf(namespace);
    for (const range of prefix === "" ? [""] : [prefix, LONG]) yield* this.#range(range, namespace);
  }

  async *#range(range: string, namespace: readonly string[]): AsyncGenerator<StoredItem> {
    for (let after = range; ; ) {
      const page = await this.#documents.list(KIND, { limit: PAGE, ...(after === "" ? {} : { after }) });
      for (const document of page) {
        if (!document.key.startsWith(range)) return;
        const item = itemOf(document);
        if (namespace.every((label, index) => item.namespace[index] === label)) yield item;
      }
      if (page.length < PAGE) return;
      after = page.at(-1)?.key ?? "";
    }
  }

  /** Replaces an item, or deletes it. Of two writers at once the later one wins. */
  async write(
    namespace: readonly string[],
    key: string,
    next: (before: StoredItem | null) => StoredItem | null,
  ): Promise<void> {
    const address = documentKey(namespace, key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await this.#documents.read(KIND, address);
      const item = next(found && itemOf(found));
      if (!found && !item) return;
      const put = item && { version: globalThis.crypto.randomUUID(), value: textOf(item) };
      const write = { kind: KIND, key: address, expect: found?.version ?? null, put };
      const [accepted] = await this.#documents.write([write]).catch((error: unknown) => {
        throw HoldfastError.is(error, "HF-3090") ? bad(key, error.why) : error;
      });
      if (accepted) return;
    }
    throw bad(key, "Other programs write it all the time.");
  }
}

const itemOf = ({ value }: StoredDocument): StoredItem => JSON.parse(value) as StoredItem;

function textOf(item: StoredItem): string {
  try {
    return JSON.stringify(item);
  } catch (error) {
    throw new HoldfastError(
      "HF-6189",
      { key: item.key, problem: `It isn't JSON: ${String(error)}.` },
      { cause: error },
    );
  }
}
