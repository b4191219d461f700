import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { isRecord } from "../../../core/check-options.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { parseEntry } from "../../../core/journal/journal.ts";
import {
  checkCheckpointJson,
  looksLikeCheckpoint,
  unsealedPart,
} from "../../../core/manage/checkpoints/check-format.ts";
import type { CheckpointJson } from "../../../core/phase-checkpoint.ts";
import { parseJson } from "../../../core/values/bounded-json.ts";
import { ParseBudget } from "../../../core/values/parse-budget.ts";
import { checkPhaseFile } from "../../../stores/file/phase-file.ts";
import { parseRecord } from "../../../stores/file/record.ts";
import { unseal } from "../../../stores/file/sealed.ts";
import type { CommandContext } from "../../context.ts";
import { describe } from "../../error-document.ts";
import { EXIT } from "../../exit-codes.ts";
import { plural } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { validateBundle } from "./bundle.ts";
import { damaged } from "./invalid.ts";

/** The judgement of a file. */
type Verdict =
  | {
      readonly kind: "whole";
      readonly of: keyof typeof NAMES;
      readonly id: string;
      readonly told: readonly string[];
    }
  | { readonly kind: "damaged"; readonly problems: readonly string[]; readonly isOfStore: boolean }
  | { readonly kind: "bundle" }
  | { readonly kind: "foreign" };

/**
 * Checks a checkpoint file: an entry of a file store's journal, a checkpoint in the interchange format (also a phase
 * file), or a bundle. Anything else is foreign.
 */
export async function validateCheckpointFile(
  context: CommandContext<unknown>,
  path: string,
  shown: string,
  key?: string,
): Promise<Outcome> {
  const verdict = judge(basename(path), readFileSync(path));
  if (verdict.kind === "bundle") return validateBundle(context, shown, key);
  if (verdict.kind === "foreign")
    return {
      data: { kind: "unknown", file: shown, valid: false },
      error: describe(new HoldfastError("HF-4362", { file: shown })),
      exit: EXIT.invalid,
    };
  if (verdict.kind === "damaged") {
    const [first = ""] = verdict.problems;
    const fix = verdict.isOfStore
      ? "holdfast verify checks the whole store, and shows which runs can continue."
      : "Take it from its run again, or from a backup.";
    return {
      data: { kind: "checkpoint", file: shown, valid: false, problems: verdict.problems },
      ...damaged(shown, plural(verdict.problems.length, "problem"), first, "The file was only read.", fix),
    };
  }
  const { of, id, told } = verdict;
  return {
    data: { kind: of, file: shown, valid: true, checkpoint: id, notes: told },
    text: [`✓ ${shown} is whole: ${NAMES[of]} ${id}`, ...told.map((line) => `  ${line}`)].join("\n"),
  };
}

const NAMES = {
  entry: "journal entry",
  checkpoint: "checkpoint",
  "store file": "a file store's own file",
} as const;

function judge(name: string, bytes: Buffer): Verdict {
  const isNamed = /^checkpoint_.*\.json$/.test(name);
  const parsed = parse(name, bytes);
  if (parsed === undefined) {
    if (isNamed) return broken([cutShort(bytes)], true);
    return isBundle(bytes) ? { kind: "bundle" } : { kind: "foreign" };
  }
  if (parsed["format"] === "holdfast-bundle") return { kind: "bundle" };
  if (isEntry(parsed)) return judgeEntry(name, parsed, bytes);
  if (looksLikeCheckpoint(parsed)) return judgeCheckpoint(parsed, bytes);
  if (isNamed) return broken(["It has none of the fields of a checkpoint."], false);
  if (typeof parsed["checksum"] !== "string") return { kind: "foreign" };
  const sealed = unseal(bytes);
  if ("problem" in sealed) return broken([`${capital(sealed.problem)}.`], true);
  return { kind: "whole", of: "store file", id: name, told: ["its checksum is right"] };
}

const broken = (problems: readonly string[], isOfStore: boolean): Verdict => ({
  kind: "damaged",
  problems,
  isOfStore,
});

/** A checkpoint may be large; it isn't deep. */
const MOST = { bytes: 256 * 1024 * 1024, keys: 5_000_000, depth: 200 };

function parse(name: string, bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(bytes.toString("utf8"), new ParseBudget(name, MOST));
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    return undefined;
  }
}

function cutShort(bytes: Buffer): string {
  const sealed = unseal(bytes);
  return "problem" in sealed ? `${capital(sealed.problem)}.` : "It isn't JSON.";
}

/** A bundle is lines of JSON, the first of which says so. */
const isBundle = (bytes: Buffer): boolean =>
  bytes.subarray(0, 200).toString("utf8").includes('"format":"holdfast-bundle"');

const isEntry = (value: Readonly<Record<string, unknown>>): boolean =>
  "head" in value && "data" in value && "seq" in value && typeof value["workflow_id"] === "string";

function judgeEntry(name: string, value: Readonly<Record<string, unknown>>, bytes: Buffer): Verdict {
  const run = String(value["workflow_id"]);
  const record = parseRecord(run, name, bytes);
  const isMoved = !record.ok && record.problem === "it belongs somewhere else";
  if (!record.ok && !isMoved) return broken([`${capital(record.problem)}.`], true);
  const { seq, count, head } = value as { seq: number; count: number; head: string };
  try {
    // The checksum covers the values, which may be encrypted.
    const { events } = parseEntry(run, { seq, count, head, data: null });
    const told = [`${plural(events.length, "event")} of run ${run}; its checksum is right`];
    if (isMoved)
      told.push("its name isn't the one that the store gave it, so the store wouldn't read it here");
    return { kind: "whole", of: "entry", id: `${run}@${seq}`, told };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return broken([error.message], true);
  }
}

function judgeCheckpoint(value: Readonly<Record<string, unknown>>, bytes: Buffer): Verdict {
  // An export has none, and the document's own example neither.
  const checked = "checksum" in value ? checkPhaseFile(bytes) : undefined;
  if (checked && !checked.ok) return broken([`${capital(checked.problem)}.`], false);
  // Only a store seals values, and its files have a checksum.
  const { json, sealed } = checked ? unsealedPart(value) : { json: value, sealed: false };
  const problems = checkCheckpointJson(json);
  if (problems.length > 0) return broken(problems, false);
  const { checkpoint_id, workflow_id, phase, status, agents } = json as unknown as CheckpointJson;
  const at = checked?.runId === undefined ? "" : `, ${checked.runId}@${checked.position}`;
  const inside = sealed ? "encrypted values" : plural(Object.keys(agents).length, "agent");
  return {
    kind: "whole",
    of: "checkpoint",
    id: checkpoint_id,
    told: [
      `run ${workflow_id}, phase ${phase}, ${status}, ${inside}${at}`,
      checked?.sealed
        ? "its checksum is right"
        : "it has no checksum: its fields are right, its values can't be proven",
    ],
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
