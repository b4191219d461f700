import type {
  BaseStore,
  IndexConfig,
  Item,
  ListNamespacesOperation,
  MatchCondition,
  Operation,
  OperationResults,
  PutOperation,
  SearchItem,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { checkKeys } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Store } from "../../core/store/contract.ts";
import { checkNamespace, Items, type StoredItem } from "./items.ts";
import { checkpointPackage } from "./package.ts";
import { filterOf, namespacesOf, scoreOf } from "./search.ts";

/** Options of {@link HoldfastStore}. */
export interface HoldfastStoreOptions {
  /** How texts become vectors, for searches with a `query`. */
  readonly index?: IndexConfig;
}

/**
 * The long-term memory of LangGraph agents in a Holdfast store: items under a namespace and a key, shared by all threads.
 * Each item is a document of the store, so an encrypted store encrypts it, and a backup holds it. Items are small: up to
 * 200,000 bytes. A search reads all items below its namespace.
 *
 * @example
 * ```ts
 * import { HoldfastStore } from "holdfast/adapters/langgraph";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const memory = new HoldfastStore(await openSqliteStore());
 * await memory.put(["users", "ada"], "diet", { eats: "plants", since: 2021 });
 * export const found = await memory.search(["users"], { filter: { since: { $gte: 2020 } } });
 * ```
 */
export class HoldfastStore implements BaseStore {
  readonly #store: Store;
  readonly #items: Items;
  readonly #index: IndexConfig | undefined;

  constructor(store: Store, options: HoldfastStoreOptions = {}) {
    checkKeys(options, ["index"], "HoldfastStore");
    const { documents } = store;
    if (!documents)
      throw new HoldfastError("HF-6189", {
        key: "?",
        problem: `The ${store.name} store keeps no documents.`,
      });
    this.#store = store;
    this.#items = new Items(documents);
    this.#index = options.index;
  }

  /** Does several operations: first what reads, then what writes; of two writes to one item the last counts. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    await this.#store.identity();
    const puts = new Map<string, PutOperation>();
    for (const operation of operations)
      if ("value" in operation) puts.set(JSON.stringify([operation.namespace, operation.key]), operation);
    for (const { namespace } of puts.values()) checkNamespace(namespace);
    const results = await Promise.all(operations.map((operation) => this.#read(operation)));
    await Promise.all([...puts.values()].map((operation) => this.#put(operation)));
    return results as OperationResults<Op>;
  }

  async #read(operation: Operation): Promise<Item | SearchItem[] | string[][] | null | undefined> {
    if ("value" in operation) return undefined;
    if ("namespacePrefix" in operation) return this.#search(operation);
    if ("key" in operation) {
      const item = await this.#items.read(operation.namespace, operation.key);
      return item && shown(item);
    }
    const namespaces: (readonly string[])[] = [];
    for await (const { namespace } of this.#items.below([])) namespaces.push(namespace);
    return namespacesOf(namespaces, operation);
  }

  async #search({
    namespacePrefix,
    filter,
    query,
    limit = 10,
    offset = 0,
  }: SearchOperation): Promise<SearchItem[]> {
    const matches = filterOf(filter);
    if (query !== undefined && !this.#index)
      throw new HoldfastError("HF-6190", { problem: "It has a query, and there is no index." });
    const vector = query === undefined ? undefined : await this.#index?.embeddings.embedQuery(query);
    const found: { readonly item: StoredItem; readonly score: number | undefined }[] = [];
    for await (const item of this.#items.below(namespacePrefix))
      if (matches(item)) found.push({ item, score: vector && scoreOf(item, vector) });
    if (vector) found.sort((a, b) => (b.score ?? -2) - (a.score ?? -2));
    return found
      .slice(offset, offset + limit)
      .map(({ item, score }) => ({ ...shown(item), ...(score === undefined ? {} : { score }) }));
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
    const [now, vectors] = [await this.#store.now(), await this.#vectors(value, index)];
    await this.#items.write(namespace, key, (before) =>
      value === null
        ? null
        : {
            namespace,
            key,
            value,
            createdAt: before?.createdAt ?? now,
            updatedAt: now,
            ...(vectors.length > 0 ? { vectors } : {}),
          },
    );
  }

  async #vectors(value: PutOperation["value"], index: PutOperation["index"]): Promise<readonly number[][]> {
    if (!this.#index || value === null || index === false) return [];
    const { getTextAtPath } = await checkpointPackage();
    const fields = index ?? this.#index.fields ?? ["$"];
    const texts = fields.flatMap((field) =>
      field === "$" ? [JSON.stringify(value)] : getTextAtPath(value, field),
    );
    return texts.length === 0 ? [] : this.#index.embeddings.embedDocuments(texts);
  }

  /** One item, or `null`. */
  async get(namespace: string[], key: string): Promise<Item | null> {
    const [item] = await this.batch([{ namespace, key }]);
    return item ?? null;
  }

  /** Items below a namespace that match a filter; with a query and an index, the most similar first. */
  async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<SearchItem[]> {
    const [items] = await this.batch([{ namespacePrefix, ...options }]);
    return items ?? [];
  }

  /** Stores an item, or replaces the one with this key. */
  async put(
    namespace: string[],
    key: string,
    value: NonNullable<PutOperation["value"]>,
    index?: false | string[],
  ): Promise<void> {
    await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }) }]);
  }

  async delete(namespace: string[], key: string): Promise<void> {
    await this.batch([{ namespace, key, value: null }]);
  }

  /** The namespaces that have items. */
  async listNamespaces(
    options: {
      prefix?: string[];
      suffix?: string[];
      maxDepth?: number;
      limit?: number;
      offset?: number;
    } = {},
  ): Promise<string[][]> {
    const { prefix, suffix, maxDepth, limit = 100, offset = 0 } = options;
    const matchConditions: MatchCondition[] = [
      ...(prefix ? [{ matchType: "prefix" as const, path: prefix }] : []),
      ...(suffix ? [{ matchType: "suffix" as const, path: suffix }] : []),
    ];
    const operation: ListNamespacesOperation = {
      matchConditions,
      limit,
      offset,
      ...(maxDepth === undefined ? {} : { maxDepth }),
    };
    const [namespaces] = await this.batch([operation]);
    return namespaces ?? [];
  }

  start(): void {}

  stop(): void {}
}

const shown = ({ namespace, key, value, createdAt, updatedAt }: StoredItem): Item => ({
  namespace: [...namespace],
  key,
  value: { ...value },
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
});
