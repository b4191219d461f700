import { queryOf, type RunQuery, textOf } from "./filter.ts";

/** The filters of a view, in one order, as the API writes a query. */
const ORDER = [
  "status",
  "notStatus",
  "workflow",
  "notWorkflow",
  "queue",
  "notQueue",
  "label",
  "notLabel",
  "name",
  "key",
  "parent",
  "errorGroup",
  "needsYou",
  "createdAfter",
  "createdBefore",
  "text",
] as const satisfies readonly (keyof RunQuery)[];

/** A span such as 24h moves with the time, so it can't be part of a view; a date can. */
const withoutSpans = (text: string): string =>
  text.replaceAll(/(?<!\S)(?:since|before):\d{1,5}[mhdw](?!\S)/g, "").trim();

/** What a view of a typed filter is saved as. Empty when nothing of it can be saved. */
export function viewQuery(text: string): string {
  const query = queryOf(withoutSpans(text), 0);
  const saved = new URLSearchParams();
  for (const name of ORDER) for (const value of [query[name] ?? []].flat()) saved.append(name, String(value));
  return saved.toString();
}

type Name = (typeof ORDER)[number];

/** How each filter is typed. */
const TYPED: Readonly<Record<Name, readonly [key: string, isNot?: true]>> = {
  status: ["status"],
  notStatus: ["status", true],
  workflow: ["workflow"],
  notWorkflow: ["workflow", true],
  queue: ["queue"],
  notQueue: ["queue", true],
  label: ["label"],
  notLabel: ["label", true],
  name: ["name"],
  key: ["key"],
  parent: ["parent"],
  errorGroup: ["error"],
  needsYou: ["needs"],
  createdAfter: ["since"],
  createdBefore: ["before"],
  text: [""],
};

/** A view as somebody would type it. */
export function viewText(query: string): string {
  const given = new URLSearchParams(query);
  const parts = ORDER.flatMap((name) => {
    const [key, isNot = false] = TYPED[name];
    return given.getAll(name).flatMap((value) => {
      if (key === "") return value.split(/\s+/).map((one) => ({ key, value: one, isNot }));
      return [{ key, value: valueText(name, value), isNot }];
    });
  });
  return textOf(parts);
}

function valueText(name: Name, value: string): string {
  if (name === "needsYou") return "you";
  const isTime = name === "createdAfter" || name === "createdBefore";
  return isTime ? new Date(Number(value)).toISOString() : value;
}
