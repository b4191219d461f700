import type { ArgsOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";

export type Edits = NonNullable<ArgsOf<"forkRun">["set"]>;

/** The state of a run at a checkpoint, as JSON: the parts that can be edited. */
export interface State {
  readonly input: unknown;
  readonly config: unknown;
  readonly memory: unknown;
  readonly loops: unknown;
  readonly steps: unknown;
}

const KEYED = ["config", "memory", "loops", "steps"] as const;
const PARTS: readonly string[] = ["input", ...KEYED];
/** What stands for a value that is taken away, in the encoding of the journal. */
const NOTHING = { $: ["undefined"] };

type Json = Readonly<Record<string, unknown>>;

export type FoundEdits =
  | { readonly isValid: true; readonly edits: Edits; readonly names: readonly string[] }
  | { readonly isValid: false; readonly message: string };

const wrong = (message: string): FoundEdits => ({ isValid: false, message });

/** What differs between the state and what somebody made of it. Only keys of memory can be taken away. */
export function editsOf(before: State, after: unknown): FoundEdits {
  const { edit: words } = TEXT;
  if (!isRecord(after)) return wrong(words.notObject);
  const unknown = Object.keys(after).find((key) => !PARTS.includes(key));
  if (unknown !== undefined) return wrong(words.unknownPart(unknown, PARTS.join(", ")));
  const edits: Record<string, unknown> = {};
  const names: string[] = [];
  if (!isSame(before.input, after["input"])) {
    edits["input"] = after["input"] ?? null;
    names.push("input");
  }
  for (const part of KEYED) {
    const [old, now] = [recordOf(before[part]), after[part] ?? {}];
    if (!isRecord(now)) return wrong(words.notRecord(part));
    const gone = Object.keys(old).filter((key) => !Object.hasOwn(now, key));
    if (gone.length > 0 && part !== "memory") return wrong(words.missing(`${part}.${gone[0]}`));
    const changed = Object.entries(now).filter(
      ([key, value]) => !(Object.hasOwn(old, key) && isSame(old[key], value)),
    );
    if (changed.length + gone.length === 0) continue;
    edits[part] = Object.fromEntries([...changed, ...gone.map((key) => [key, NOTHING] as const)]);
    names.push(...[...changed.map(([key]) => key), ...gone].map((key) => `${part}.${key}`));
  }
  return { isValid: true, edits: edits as Edits, names };
}

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
