import { checkKeys, checkText, checkWhole, isRecord, keysOf } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { checkNamed } from "../names.ts";
import type { Store } from "../store/contract.ts";
import { DOCUMENT_LIMITS, type Documents, type StoredDocument } from "../store/documents.ts";
import type { RunStatus } from "../types.ts";
import type { Excluded, RunSearch } from "./status/find-runs.ts";

/** A saved view of the list of runs. */
export interface SavedView {
  readonly name: string;
  /** The filters, written like a query of the API: `status=failed&label=team%3Dpayments&text=HTTP+500`. */
  readonly query: string;
  /** Whose it is. */
  readonly by: string;
  readonly at: number;
}

export interface ViewQuery {
  /** The name after which the page begins. */
  readonly after?: string;
  /** The most to return. Default 100. */
  readonly limit?: number;
}

export interface ViewPage {
  readonly views: readonly SavedView[];
  /** Pass it as `after` to get what comes next; `null` when this is all. */
  readonly next: string | null;
}

/** Who saves or deletes a view. `isAdmin`: also one that belongs to somebody else. */
export interface ViewAct {
  readonly actor: string;
  readonly isAdmin?: boolean;
}

const KIND = "view";
const MOST_NAME = 64;
const MOST_QUERY = 2_000;
const LIMIT = 100;

/** Saved views of the list of runs. They belong to the store, so that everybody who may see its runs can share them. */
export class Views {
  readonly #store: Pick<Store, "name" | "now" | "documents">;
  readonly #newVersion: () => string;

  constructor(store: Pick<Store, "name" | "now" | "documents">, newVersion: () => string) {
    this.#store = store;
    this.#newVersion = newVersion;
  }

  /** The views in order of their names, one page at a time. */
  async list(query: ViewQuery = {}): Promise<ViewPage> {
    checkKeys(query, keysOf<ViewQuery>({ after: true, limit: true }));
    const limit = checkWhole("limit", query.limit ?? LIMIT, 1, DOCUMENT_LIMITS.page);
    const { after } = query;
    if (after !== undefined) checkText("after", after, 1);
    const found = await this.#documents().list(KIND, { limit, ...(after === undefined ? {} : { after }) });
    const last = found.length === limit ? found.at(-1)?.key : undefined;
    return { views: found.flatMap((one) => viewOf(one) ?? []), next: last ?? null };
  }

  /** One view, or `null`. */
  async get(name: string): Promise<SavedView | null> {
    const found = await this.#documents().read(KIND, checkViewName(name));
    return found && viewOf(found);
  }

  /** Saves a view under a name. A view of somebody else stays as it is (HF-6030). */
  async save(name: string, query: string, act: ViewAct): Promise<SavedView> {
    checkText("query", query, 0, MOST_QUERY);
    searchOf(query);
    checkText("actor", act.actor, 1);
    const view = { name: checkViewName(name), query, by: act.actor, at: await this.#store.now() };
    await this.#write(name, act, view);
    return view;
  }

  /** Deletes a view (HF-6015 if there is none). */
  async delete(name: string, act: ViewAct): Promise<void> {
    if (!(await this.#write(checkViewName(name), act, null)))
      throw new HoldfastError("HF-6015", { what: "view", name });
  }

  /** Returns whether there was one before. */
  async #write(name: string, { actor, isAdmin = false }: ViewAct, view: SavedView | null): Promise<boolean> {
    const documents = this.#documents();
    const known = await documents.read(KIND, name);
    if (!known && !view) return false;
    const before = known && viewOf(known);
    if (before && before.by !== actor && !isAdmin)
      throw new HoldfastError("HF-6030", { name, owner: before.by });
    const put = view && { version: this.#newVersion(), value: JSON.stringify(view) };
    const [isDone] = await documents.write([{ kind: KIND, key: name, expect: known?.version ?? null, put }]);
    if (!isDone) throw new HoldfastError("HF-6067", { what: `The view ${name}` });
    return known !== null;
  }

  #documents(): Documents {
    const { name, documents } = this.#store;
    if (!documents) throw new HoldfastError("HF-6011", { what: "views", store: name });
    return documents;
  }
}

function checkViewName(name: string): string {
  checkNamed("view", name, MOST_NAME);
  return name;
}

function viewOf({ key, value }: StoredDocument): SavedView | null {
  const found: unknown = JSON.parse(value);
  if (!isRecord(found)) return null;
  const { query, by, at } = found;
  const isView = typeof query === "string" && typeof by === "string" && typeof at === "number";
  return isView ? { name: key, query, by, at } : null;
}

/** The search that the query of a view stands for. A filter that isn't known is refused (HF-1003). */
export function searchOf(query: string): RunSearch {
  const given = new URLSearchParams(query);
  const all = (name: string): string[] | undefined => (given.has(name) ? given.getAll(name) : undefined);
  checkKeys(Object.fromEntries(given), PARAMETERS, "query", "filter");
  const search = {
    ...pick(given, TEXTS, (value) => value),
    ...pick(given, TIMES, Number),
    ...pick(given, FLAGS, (value) => value === "true"),
    ...part("status", all("status") as RunStatus[] | undefined),
    ...part("labels", all("label") && labelsOf(all("label") ?? [])),
  };
  const not: Excluded = {
    ...part("status", all("notStatus") as RunStatus[] | undefined),
    ...part("workflow", all("notWorkflow")),
    ...part("queue", all("notQueue")),
    ...part("labels", all("notLabel") && labelsOf(all("notLabel") ?? [])),
  };
  return Object.keys(not).length === 0 ? search : { ...search, not };
}

const TEXTS = ["workflow", "parent", "name", "queue", "key", "text", "errorGroup"] as const;
const TIMES = ["createdAfter", "createdBefore"] as const;
const FLAGS = ["pruned", "needsYou"] as const;
const LISTS = ["status", "label", "notStatus", "notWorkflow", "notQueue", "notLabel"];
const PARAMETERS: readonly string[] = [...TEXTS, ...TIMES, ...FLAGS, ...LISTS];

/** `team=payments` as `{ team: "payments" }`. */
export const labelsOf = (labels: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(labels.map((text) => text.split(/=(.*)/s).slice(0, 2)));

const part = <K extends string, V>(name: K, value: V | undefined): { [N in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { [N in K]?: V });

function pick<K extends string, V>(
  given: URLSearchParams,
  names: readonly K[],
  read: (value: string) => V,
): { [N in K]?: V } {
  const found = names.filter((name) => given.has(name)).map((name) => [name, read(given.get(name) ?? "")]);
  return Object.fromEntries(found) as { [N in K]?: V };
}
