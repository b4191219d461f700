import type {
  ListNamespacesOperation,
  MatchCondition,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { HoldfastError } from "../../core/errors.ts";
import { isEqual } from "../diff.ts";
import type { StoredItem } from "./items.ts";

const refused = (problem: string): HoldfastError => new HoldfastError("HF-6190", { problem });

type Compare = (value: unknown, asked: unknown) => boolean;
const among: Compare = (value, asked) => Array.isArray(asked) && asked.some((one) => isEqual(one, value));

/** How a filter may compare, as LangGraph names it. */
const OPERATORS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ["$eq", isEqual],
  ["$ne", (value, asked) => !isEqual(value, asked)],
  ["$gt", (value, asked) => Number(value) > Number(asked)],
  ["$gte", (value, asked) => Number(value) >= Number(asked)],
  ["$lt", (value, asked) => Number(value) < Number(asked)],
  ["$lte", (value, asked) => Number(value) <= Number(asked)],
  ["$in", among],
  ["$nin", (value, asked) => !among(value, asked)],
]);

/** A test of items for a filter. What it can't compare by is refused (HF-6190), never ignored. */
export function filterOf(filter: SearchOperation["filter"]): (item: StoredItem) => boolean {
  const tests = Object.entries(filter ?? {}).map(([field, asked]: [string, unknown]) => {
    const test = testOf(asked);
    return ({ value }: StoredItem) => test(Object.hasOwn(value, field) ? value[field] : undefined);
  });
  return (item) => tests.every((test) => test(item));
}

function testOf(asked: unknown): (value: unknown) => boolean {
  const isObject = typeof asked === "object" && asked !== null && !Array.isArray(asked);
  const parts = isObject ? Object.entries(asked) : [];
  if (!parts.some(([name]) => name.startsWith("$"))) return (value) => isEqual(value, asked);
  const compares = parts.map(([name, operand]: [string, unknown]) => {
    const compare = OPERATORS.get(name);
    if (!compare) throw refused(`${name} isn't an operator.`);
    return (value: unknown) => compare(value, operand);
  });
  return (value) => compares.every((compare) => compare(value));
}

/** The best score of an item's texts for a query; `undefined` when it has none. */
export function scoreOf({ vectors = [] }: StoredItem, query: readonly number[]): number | undefined {
  const scores = vectors.map((vector) => cosine(vector, query));
  return scores.length === 0 ? undefined : Math.max(...scores);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, left, right] = [0, 0, 0];
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}

/** The namespaces that are asked for, of all there are. */
export function namespacesOf(
  all: Iterable<readonly string[]>,
  { matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation,
): string[][] {
  const found = new Map<string, string[]>();
  for (const namespace of all) {
    if (!matchConditions.every((condition) => isMatch(condition, namespace))) continue;
    const cut = namespace.slice(0, maxDepth ?? namespace.length);
    found.set(JSON.stringify(cut), cut);
  }
  const sorted = [...found.values()].sort((a, b) => (a.join(":") < b.join(":") ? -1 : 1));
  return sorted.slice(offset, offset + limit);
}

function isMatch({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  if (path.length > namespace.length) return false;
  if (matchType !== "prefix" && matchType !== "suffix")
    throw refused(`${String(matchType)} isn't a way to match.`);
  const from = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, index) => label === "*" || label === namespace[from + index]);
}
