import type { ArgsOf } from "../../api/client.ts";

/** Everything that can be asked of the list of runs, except where a page begins. */
export type RunQuery = Omit<ArgsOf<"listRuns">, "limit" | "cursor">;

/** One part of a filter as it is typed: `status:failed`, `-workflow:pay`, or a word to search for. */
export interface Part {
  /** Empty for a word. */
  readonly key: string;
  readonly value: string;
  readonly isNot: boolean;
}

export const STATUSES = [
  "running",
  "waiting",
  "queued",
  "paused",
  "failed",
  "completed",
  "cancelled",
] as const;
type Status = (typeof STATUSES)[number];

const KEYS = [
  "status",
  "workflow",
  "queue",
  "label",
  "name",
  "key",
  "parent",
  "error",
  "needs",
  "since",
  "before",
];
/** What the API can leave out. */
const EXCLUDABLE = ["status", "workflow", "queue", "label"];
/** What a run has one of, so that a second one replaces the first. */
const SINGLE = new Set(["workflow", "queue", "name", "key", "parent", "error", "needs", "since", "before"]);

const TOKEN = /(-?)(?:([a-z]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g;

/** Takes a typed filter apart. A word that looks like a key but isn't one is searched for as it stands. */
export function partsOf(text: string): Part[] {
  return [...text.matchAll(TOKEN)].map(([whole, minus = "", key = "", quoted, plain = ""]) => {
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, "$1");
    const isKnown = KEYS.includes(key) && (minus === "" || EXCLUDABLE.includes(key)) && value !== "";
    if (isKnown) return { key, value, isNot: minus !== "" };
    return { key: "", value: key === "" && minus === "" ? value : whole, isNot: false };
  });
}

const quoted = (value: string): string =>
  /[\s"]/.test(value) || value === "" ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value;

export const partText = ({ key, value, isNot }: Part): string =>
  `${isNot ? "-" : ""}${key === "" ? "" : `${key}:`}${quoted(value)}`;

export const textOf = (parts: readonly Part[]): string => parts.map(partText).join(" ");

const isSame = (a: Part, b: Part): boolean => a.key === b.key && a.value === b.value && a.isNot === b.isNot;

export const hasPart = (text: string, part: Part): boolean => partsOf(text).some((one) => isSame(one, part));

/** Adds a part to a filter, or takes it out if it is there. The opposite part goes. */
export function toggled(text: string, part: Part): string {
  const parts = partsOf(text);
  const others = parts.filter(
    (one) =>
      !(one.key === part.key && one.value === part.value) &&
      !(SINGLE.has(part.key) && one.key === part.key && one.isNot === part.isNot),
  );
  return textOf(parts.some((one) => isSame(one, part)) ? others : [...others, part]);
}

/** Sets the one value of a key; an empty value takes the key out. */
export function withValue(text: string, key: string, value: string): string {
  const others = partsOf(text).filter((one) => one.key !== key || one.isNot);
  return textOf(value === "" ? others : [...others, { key, value, isNot: false }]);
}

export const valueOf = (text: string, key: string): string =>
  partsOf(text).findLast((one) => one.key === key && !one.isNot)?.value ?? "";

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `24h`, `7d` (before now), or a date. `null` if it is neither. */
export function momentOf(text: string, now: number): number | null {
  const [, count, unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

const isStatus = (value: string): value is Status => (STATUSES as readonly string[]).includes(value);
const isLabel = (value: string): boolean => /^[^=]{1,100}=/.test(value);

/** What the API is asked for a typed filter. Parts that can't be meant are left out; `problemsOf` names them. */
export function queryOf(text: string, now: number): RunQuery {
  const parts = partsOf(text);
  const all = (key: string, isNot = false): string[] =>
    parts.filter((one) => one.key === key && one.isNot === isNot).map(({ value }) => value);
  const one = (key: string): string | undefined => all(key).at(-1);
  const list = <T>(name: string, values: readonly T[]) => (values.length === 0 ? {} : { [name]: values });
  const single = (name: string, value: string | number | undefined | null) =>
    value === undefined || value === null ? {} : { [name]: value };
  const words = all("").join(" ").slice(0, 200);
  return {
    ...list("status", all("status").filter(isStatus)),
    ...list("notStatus", all("status", true).filter(isStatus)),
    ...list("notWorkflow", all("workflow", true)),
    ...list("notQueue", all("queue", true)),
    ...list("label", all("label").filter(isLabel)),
    ...list("notLabel", all("label", true).filter(isLabel)),
    ...single("workflow", one("workflow")),
    ...single("queue", one("queue")),
    ...single("name", one("name")),
    ...single("key", one("key")),
    ...single("parent", one("parent")),
    ...single("errorGroup", one("error")),
    ...(one("needs") === "you" ? { needsYou: true } : {}),
    ...single("createdAfter", momentOf(one("since") ?? "", now)),
    ...single("createdBefore", momentOf(one("before") ?? "", now)),
    ...(words === "" ? {} : { text: words }),
  };
}

/** Parts that can't be meant, as they were typed. */
export function problemsOf(text: string, now: number): string[] {
  return partsOf(text)
    .filter(({ key, value }) => {
      if (key === "status") return !isStatus(value);
      if (key === "label") return !isLabel(value);
      if (key === "since" || key === "before") return momentOf(value, now) === null;
      return key === "needs" && value !== "you";
    })
    .map(partText);
}

/** The part of a query that runs can be counted by, without the statuses: the counts are for choosing among them. */
export function countableOf(query: RunQuery): ArgsOf<"countRuns"> {
  const { workflow, queue, name, key, parent, label, createdAfter, createdBefore } = query;
  const given = { workflow, queue, name, key, parent, label, createdAfter, createdBefore };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
