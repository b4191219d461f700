import { jsonOf } from "../json-keys.ts";

/**
 * LangChain's messages as JSON are mostly what all messages have in common. They are stored without it:
 * `{"~AIMessage": {"content": "Hello", "id": "1"}}`. No key of stored data begins so otherwise (`keyOf`).
 */
const MARK = "~";
const NAME = /^[A-Z]\w*$/;
/** How LangChain writes a message, and the fields at its end that are empty as a rule. */
const FRAME = ["lc", "type", "id", "kwargs"] as const;
const PACKAGE = "langchain_core";
const EMPTY_FIELDS: readonly (readonly [name: string, empty: () => object])[] = [
  ["additional_kwargs", () => ({})],
  ["response_metadata", () => ({})],
];
const OF_REPLIES: typeof EMPTY_FIELDS = [
  ["tool_calls", () => []],
  ["invalid_tool_calls", () => []],
  ...EMPTY_FIELDS,
];

type Plain = Readonly<Record<string, unknown>>;

const emptyFieldsOf = (name: string): typeof EMPTY_FIELDS =>
  name === "AIMessage" ? OF_REPLIES : EMPTY_FIELDS;

/** Plain data with its messages written briefly. One that `whole` wouldn't restore exactly stays as it is. */
export function brief(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(brief);
  if (!isPlain(value)) return value;
  const found = messageIn(value);
  if (!found) return mapped(value, brief);
  const [name, kwargs] = found;
  const written = { [MARK + name]: mapped(withoutEmpty(name, kwargs), brief) };
  return JSON.stringify(whole(written)) === JSON.stringify(value) ? written : mapped(value, brief);
}

/** Plain data as LangChain writes it. */
export function whole(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(whole);
  if (!isPlain(value)) return value;
  const keys = Object.keys(value);
  const [key = ""] = keys;
  const name = key.slice(MARK.length);
  const kept = value[key];
  if (keys.length !== 1 || !key.startsWith(MARK) || !NAME.test(name) || !isPlain(kept))
    return mapped(value, whole);
  const kwargs = mapped(kept, whole);
  for (const [field, empty] of emptyFieldsOf(name))
    if (!Object.hasOwn(kwargs, field)) kwargs[field] = empty();
  return { lc: 1, type: "constructor", id: [PACKAGE, "messages", name], kwargs };
}

/** The JSON text of what is stored. */
export function wholeJson(data: unknown): string {
  const text = JSON.stringify(data);
  return text.includes(`"${MARK}`) ? jsonOf(whole(data)) : text;
}

/** True where the text may hold messages. */
export const hasMessages = (json: string): boolean => json.includes(`"${PACKAGE}","messages"`);

function messageIn(value: Plain): readonly [name: string, kwargs: Plain] | undefined {
  const { lc, type, id, kwargs } = value;
  if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || !isPlain(kwargs)) return undefined;
  const [from, kind, name]: unknown[] = id;
  const isMessage = from === PACKAGE && kind === "messages" && typeof name === "string" && NAME.test(name);
  return isMessage && Object.keys(value).join() === FRAME.join() ? [name, kwargs] : undefined;
}

function withoutEmpty(name: string, kwargs: Plain): Plain {
  const fields = Object.entries(kwargs);
  const isEmpty = ([key, value]: readonly [string, unknown]): boolean =>
    emptyFieldsOf(name).some(([field, empty]) => field === key && same(value, empty()));
  while (fields.length > 0 && isEmpty(fields.at(-1) as [string, unknown])) fields.pop();
  return Object.fromEntries(fields);
}

const same = (value: unknown, empty: object): boolean => JSON.stringify(value) === JSON.stringify(empty);

const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const mapped = (value: Plain, change: (part: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part)]));
