import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../../../core/errors.ts";
import { stateAsJson } from "../../../core/manage/checkpoints/diff.ts";
import type { Edits, StateView } from "../../../core/types.ts";
import { decode } from "../../../core/values/codec.ts";
import { plainJson } from "../../../core/values/unseen.ts";
import type { Host } from "../../host.ts";
import { messageOf } from "../../modules.ts";
import type { Output } from "../../output.ts";

/** Lets a person change the state in their editor; returns the changes, or `undefined` for none. */
export function editState(host: Host, out: Output, view: StateView): Edits | undefined {
  const editor = host.env["VISUAL"] || host.env["EDITOR"];
  if (!host.canAsk || out.isJson)
    throw refused(
      "there is no terminal",
      "An editor needs a terminal.",
      "holdfast fork <checkpoint> --set <path=json>",
    );
  if (editor === undefined)
    throw refused(
      "no editor is set",
      "Neither VISUAL nor EDITOR is set.",
      "EDITOR=nano holdfast fork <checkpoint> --edit",
    );
  const before = stateAsJson(view);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-fork-"));
  const file = join(folder, "state.json");
  try {
    writeFileSync(file, `${plainJson(JSON.stringify(before, null, 2))}\n`, { mode: 0o600 });
    const { status, error } = spawnSync(`${editor} "${file}"`, { shell: true, stdio: "inherit" });
    if (error || status !== 0)
      throw refused(
        "the editor failed",
        error ? error.message : `${editor} ended with ${status}.`,
        "Try again, or use --set.",
      );
    return changes(before, parsed(readFileSync(file, "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const refused = (problem: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-4355", { problem, why, fix });

type Json = Record<string, unknown>;

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  } catch (error) {
    throw refused("it is no longer valid JSON", messageOf(error), "Edit it again, and keep it valid JSON.");
  }
  throw refused(
    "it is no longer an object",
    "It must contain input, config, memory, loops and steps.",
    "Edit it again.",
  );
}

const KEYED = ["config", "memory", "loops", "steps"] as const;
const PARTS: readonly string[] = ["input", ...KEYED];

function changes(before: Json, after: Json): Edits | undefined {
  const unknown = Object.keys(after).find((key) => !PARTS.includes(key));
  if (unknown !== undefined)
    throw refused(`${unknown} is not part of it`, `It holds ${PARTS.join(", ")}.`, "Edit it again.");
  const edits: Record<string, unknown> = {};
  if (!isSame(before["input"], after["input"])) edits["input"] = restored(after["input"]);
  for (const part of KEYED) {
    const changed = changedKeys(part, (before[part] ?? {}) as Json, (after[part] ?? {}) as Json);
    if (Object.keys(changed).length > 0) edits[part] = changed;
  }
  return Object.keys(edits).length === 0 ? undefined : edits;
}

/** Only memory keys can be deleted: a finished step has a result. */
function changedKeys(part: string, before: Json, after: Json): Json {
  const gone = Object.keys(before).filter((key) => !(key in after));
  if (gone.length > 0 && part !== "memory")
    throw refused(`${part}.${gone[0]} is missing`, "Only keys of memory can be taken out.", "Edit it again.");
  const changed = Object.entries(after).filter(([key, value]) => !isSame(before[key], value));
  return Object.fromEntries([
    ...changed.map(([key, value]) => [key, restored(value)] as const),
    ...gone.map((key) => [key, undefined] as const),
  ]);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Values that JSON can't express use the journal's encoding. */
const restored = (value: unknown): unknown => decode(JSON.stringify(value));
