import { usage } from "./globals.ts";

type Data = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: unknown): value is readonly Data[] => Array.isArray(value) && value.every(isObject);

/**
 * Selects the requested fields of a document: its own and, if it holds a list, those of the items
 * (`list --json=id,status`). An unknown field is refused; one that is missing this time is `null`.
 */
export function chosenFields(data: Data, fields: readonly string[]): Data {
  const lists = Object.entries(data).filter((entry): entry is [string, readonly Data[]] => isList(entry[1]));
  const ofItems = fields.filter((field) => !(field in data));
  const items = lists.flatMap(([, list]) => list);
  if (lists.length === 0 || ofItems.length === 0)
    return Object.fromEntries(fields.map((field) => [field, data[field] ?? null]));
  const unknown = ofItems.filter((field) => items.length > 0 && !items.some((item) => field in item));
  if (unknown.length > 0) {
    const known = [...new Set([...Object.keys(data), ...items.flatMap(Object.keys)])];
    throw usage(
      `--json has no field ${unknown.join(", ")}`,
      `The fields are: ${known.join(", ")}.`,
      `--json=${known[0] ?? ""}`,
    );
  }
  const picked = (item: Data): Data =>
    Object.fromEntries(ofItems.map((field) => [field, item[field] ?? null]));
  const own = fields.filter((field) => field in data).map((field) => [field, data[field]] as const);
  const wanted = lists.filter(
    ([, list]) => list.length === 0 || ofItems.some((field) => list.some((item) => field in item)),
  );
  return Object.fromEntries([...own, ...wanted.map(([name, list]) => [name, list.map(picked)] as const)]);
}
