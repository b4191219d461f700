import { digest } from "../../src/core/hash.ts";
import { SEALED_ROOT } from "../../src/core/values/blind.ts";

/**
 * Bundles made by someone who knows the format: every digest and every chain is valid, but no engine wrote the content.
 * Add every new attack here.
 */

type Event = [kind: string, step: string, meta: Record<string, unknown>, value: unknown];

interface Head extends Record<string, unknown> {
  p: string;
  e: unknown;
  v: Event[];
}

interface HostileEntry {
  seq: unknown;
  count: unknown;
  head: Head;
  data: string | null;
}

/** A bundle of one run, parsed. */
interface Draft {
  header: Record<string, unknown>;
  row: Record<string, unknown>;
  entries: HostileEntry[];
  blobs: { hash: string; data: string }[];
}

function apart(text: string): Draft {
  const [header, row, ...rest] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return {
    header,
    row: row.run,
    entries: rest.flatMap(({ entry }) => (entry ? [{ ...entry, head: JSON.parse(entry.head) }] : [])),
    blobs: rest.flatMap(({ blob }) => (blob ? [blob] : [])),
  };
}

/** Joins the lines and adds their trailer. */
function ended(lines: readonly string[]): string {
  const parts = (kind: string) => lines.filter((line) => line.startsWith(`{"${kind}":`)).length;
  const body = lines.map((line) => `${line}\n`).join("");
  const end = { runs: parts("run"), entries: parts("entry"), blobs: parts("blob") };
  return `${body}${JSON.stringify({ end, digest: digest(body) })}\n`;
}

/** The lines with every hash recomputed. `write` formats a head. */
function together(
  { header, row, entries, blobs }: Draft,
  write: (head: Head) => string = JSON.stringify,
): string[] {
  let head = "";
  const written = entries.map((entry) => {
    const { d: _, p: __, ...rest } = entry.head;
    const d = entry.data === null ? entry.head["d"] : digest(entry.data);
    const text = write({ p: head, ...(d === undefined ? {} : { d }), ...rest } as Head);
    head = digest(text);
    return JSON.stringify({ entry: { ...entry, head: text } });
  });
  return [
    JSON.stringify(header),
    JSON.stringify({ run: { ...row, head } }),
    ...written,
    ...blobs.map((blob) => JSON.stringify({ blob })),
  ];
}

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** Replaces the value of the first event of this kind with another text. */
function valued(draft: Draft, kind: string, value: string): void {
  for (const entry of draft.entries) {
    let from = 0;
    for (const event of entry.head.v) {
      const length = typeof event[3] === "number" ? event[3] : 0;
      if (event[0] === kind && length > 0) {
        entry.data = `${entry.data?.slice(0, from)}${value}${entry.data?.slice(from + length)}`;
        event[3] = value.length;
        return;
      }
      from += length;
    }
  }
  throw new Error(`no value of ${kind}`);
}

function eventOf({ entries }: Draft, kind: string): Event {
  const found = entries.flatMap(({ head }) => head.v).find(([one]) => one === kind);
  if (!found) throw new Error(`no ${kind}`);
  return found;
}

const entryOf = ({ entries }: Draft, kind: string): HostileEntry =>
  entries.find(({ head }) => head.v.some(([one]) => one === kind)) as HostileEntry;

type Change = (draft: Draft) => void;

/** Changes to the run; all hashes are recomputed afterwards. */
const CHANGES: Readonly<Record<string, Change>> = {
  "a result nested 5,000 deep": (draft) => valued(draft, "step_completed", nested(5_000)),
  "a result nested 200,000 deep": (draft) => valued(draft, "step_completed", nested(200_000)),
  "an input nested 200,000 deep": (draft) => valued(draft, "run_created", nested(200_000)),
  "a remembered value nested 5,000 deep": (draft) => valued(draft, "memory_written", nested(5_000)),
  "a result that is not JSON": (draft) => valued(draft, "step_completed", "{"),
  "a result with a tag that is none": (draft) => valued(draft, "step_completed", '{"$":["Function","f"]}'),
  "a result that reaches for a prototype": (draft) =>
    valued(draft, "step_completed", '{"__proto__":{"isAdmin":true}}'),
  "a result that is a blob which is not there": (draft) =>
    valued(draft, "step_completed", `{"$":["Blob","${"a".repeat(43)}"]}`),
  "a blob that is nested deeply": (draft) => {
    const data = nested(200_000);
    const hash = digest(data);
    draft.blobs.push({ hash, data });
    const entry = entryOf(draft, "step_completed");
    const event = eventOf(draft, "step_completed");
    const before = entry.head.v.slice(0, entry.head.v.indexOf(event));
    const from = before.reduce((sum, [, , , value]) => sum + Number(value), 0);
    const rest = `${entry.data?.slice(0, from)}${entry.data?.slice(from + Number(event[3]))}`;
    entry.data = rest === "" ? null : rest;
    if (rest === "") delete entry.head["d"];
    event[3] = hash;
  },
  "a value longer than the data": (draft) => (eventOf(draft, "step_completed")[3] = 1_000_000),
  "a value of length 2^53-1": (draft) => (eventOf(draft, "step_completed")[3] = Number.MAX_SAFE_INTEGER),
  "a value of length -1": (draft) => (eventOf(draft, "step_completed")[3] = -1),
  "a value of length 0.5": (draft) => (eventOf(draft, "step_completed")[3] = 0.5),
  "a value whose length is a list": (draft) => (eventOf(draft, "step_completed")[3] = [1]),
  "values without data, of which no head speaks": (draft) => {
    const entry = entryOf(draft, "step_completed");
    entry.data = null;
    delete entry.head["d"];
  },
  "data that belongs to no event": (draft) => (entryOf(draft, "step_completed").data += "1"),
  "blobs that are no list": (draft) =>
    Object.assign(entryOf(draft, "step_completed").head, { b: { of: { b: [] } } }),
  "an epoch of 2^53-1": (draft) => {
    const last = draft.entries.at(-1) as HostileEntry;
    last.head.e = Number.MAX_SAFE_INTEGER;
  },
  "an epoch that is text": (draft) => (entryOf(draft, "step_completed").head.e = "7"),
  "an event that is none": (draft) => (entryOf(draft, "step_completed").head.v[0] = null as unknown as Event),
  "an event of no known kind": (draft) => (eventOf(draft, "step_completed")[0] = "run_rooted"),
  "a step whose name rings": (draft) => (eventOf(draft, "step_completed")[1] = "one\u0007"),
  "a workflow whose name clears the screen": (draft) => {
    eventOf(draft, "run_created")[2]["workflow"] = "flow\u001b[2J";
    draft.row["workflow"] = "flow\u001b[2J";
  },
  "a person whose name turns the line round": (draft) => {
    entryOf(draft, "step_completed").head["a"] = "ada\u202e";
  },
  "a step name of 1 MB": (draft) => (eventOf(draft, "step_completed")[1] = "x".repeat(1_000_000)),
  "the id of a sealed store's key": (draft) => renamed(draft, SEALED_ROOT),
  "an id that climbs": (draft) => renamed(draft, "../../etc/passwd"),
  "an id with a line break": (draft) => renamed(draft, "small\n"),
  "an id of 1 MB": (draft) => renamed(draft, "x".repeat(1_000_000)),
  "a blob that nothing names": (draft) => draft.blobs.push({ hash: digest("stowaway"), data: "stowaway" }),
  "a blob under another's name": (draft) => draft.blobs.push({ hash: "__proto__", data: "stowaway" }),
  "an entry that stands 2^53-1 far": (draft) =>
    ((draft.entries.at(-1) as HostileEntry).seq = Number.MAX_SAFE_INTEGER),
  "an entry of 2^53-1 events": (draft) =>
    ((draft.entries.at(-1) as HostileEntry).count = Number.MAX_SAFE_INTEGER),
  "a row with fields of its own": (draft) => (draft.row["claim"] = { owner: "me" }),
  "a row that says nothing": (draft) => (draft.row = { id: draft.row["id"] }),
  "a row that was never created": (draft) => (draft.row["createdAt"] = "yesterday"),
  "no entries": (draft) => (draft.entries = []),
  "the same run twice": (draft) => (draft.header["runs"] = ["small", "small"]),
  "no runs": (draft) => (draft.header["runs"] = []),
  "a run that it does not speak of": (draft) => (draft.header["runs"] = ["other"]),
};

function renamed(draft: Draft, id: string): void {
  draft.header["runs"] = [id];
  Object.assign(draft.row, { id, lineage: id });
  eventOf(draft, "run_created")[2]["lineage"] = id;
}

/** Changes to the text; its digest is valid. */
const TEXTS: Readonly<Record<string, (lines: readonly string[], draft: Draft) => string>> = {
  "a line of 200,000 brackets": ([header = ""]) => ended([header, nested(200_000)]),
  "brackets that never close": ([header = ""]) => ended([header, `{"run":${"[".repeat(200_000)}`]),
  "a header with 20 million parts": () => ended([`{"format":[${",".repeat(20_000_001)}]}`]),
  "a head nested 200,000 deep": (_, draft) =>
    ended(together(draft, (head) => JSON.stringify(head).replace('"v":', `"x":${nested(200_000)},"v":`))),
  "a head that is not JSON": (_, draft) =>
    ended(together(draft, (head) => JSON.stringify(head).replace('"v":', '"v":['))),
  "a line that is a number": (lines) => ended([...lines, "7"]),
  "a line that is null": (lines) => ended([...lines, "null"]),
  "a run that is null": ([header = ""]) => ended([header, '{"run":null}']),
  "a run more, without an id": (lines) => ended([...lines, '{"run":null}']),
  "a run whose id is an object": (lines) =>
    ended([
      (lines[0] ?? "").replace('["small"]', '[{"a":1}]'),
      (lines[1] ?? "").replace('"id":"small"', '"id":{"a":1}'),
      ...lines.slice(2),
    ]),
  "an entry that is a list": (lines) => ended([...lines, '{"entry":[]}']),
  "half of a pair in an entry": (_, draft) =>
    ended(together(draft, (head) => JSON.stringify({ ...head, x: "" }).replace('"x":""', '"x":"\ud800"'))),
  "a blob that is twice there": (lines) => ended([...lines, ...lines.slice(-1)]),
  "two headers": (lines) => ended([lines[0] ?? "", ...lines]),
  "200,000 empty lines": (lines) => ended([...lines, ...Array.from({ length: 200_000 }, () => "")]),
  "an end that is no end": (lines) => `${lines.join("\n")}\n{"end":[],"digest":{}}\n`,
  "nothing at all": () => "",
  "one line of 4 MB without an end": () => `{"format":"${"x".repeat(4_000_000)}`,
};

/** A text for each, made from a bundle that holds the one run `small`, with a step, a value and a blob. */
export function hostileBundles(text: string): Readonly<Record<string, () => string>> {
  const changed = Object.entries(CHANGES).map(([name, change]) => {
    const make = (): string => {
      const draft = apart(text);
      change(draft);
      return ended(together(draft));
    };
    return [name, make] as const;
  });
  const rewritten = Object.entries(TEXTS).map(([name, make]) => {
    const lines = text.trimEnd().split("\n").slice(0, -1);
    return [name, () => make(lines, apart(text))] as const;
  });
  return Object.fromEntries([...changed, ...rewritten]);
}

/** The bundle after parsing and rebuilding: proves that the others are refused for their changes. */
export const unharmed = (text: string): string => ended(together(apart(text)));
