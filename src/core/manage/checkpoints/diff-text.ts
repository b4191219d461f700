import { checkParts } from "../../check-options.ts";
import type { CheckpointDiff } from "./diff.ts";

const MOST_LINES = 100;
const MOST_CHARACTERS = 100;

/**
 * Formats a diff for people: one line per change, long values shortened, at most 100 lines of a kind.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { diffToText } from "holdfast/manage";
 *
 * export async function printDiff(engine: Engine, runId: string): Promise<void> {
 *   console.log(diffToText(await engine.checkpoints.diff(`${runId}@draft`, runId)));
 * }
 * ```
 */
export function diffToText(diff: CheckpointDiff): string {
  checkParts("diff", diff, { steps: "object", status: "object" });
  const { steps, decisions, status } = diff;
  const { steps: _, ...state } = (diff.state ?? {}) as Record<string, unknown>;
  const changed = Object.entries(steps.changed).map(
    ([key, { from, to }]) => `~ ${name(key)}: ${short(from)} → ${short(to)}`,
  );
  const sections: [string, readonly string[]][] = [
    ["status", status.from === status.to ? [] : [`~ ${status.from} → ${status.to}`]],
    ["steps", [...listed("+", steps.added), ...listed("-", steps.removed), ...changed]],
    ["state", [...changes("", state)]],
    ["decisions", [...decided("+", decisions.added), ...decided("-", decisions.removed)]],
    ["used", used(diff)],
  ];
  const shown = sections.filter(([, lines]) => lines.length > 0);
  const title = `${diff.from} → ${diff.to}${shown.length === 0 ? ": no difference" : ""}`;
  return [title, ...shown.flatMap(([heading, lines]) => [heading, ...capped(lines)])].join("\n");
}

function capped(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MOST_LINES).map((line) => `  ${line}`);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `  … and ${count(more)} more`] : shown;
}

const listed = (sign: string, values: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(values).map(([key, value]) => `${sign} ${name(key)}: ${short(value)}`);

const decided = (sign: string, made: CheckpointDiff["decisions"]["added"]): string[] =>
  made.map(({ agent, description, rationale }) => {
    const who = agent === undefined ? "" : `${line(agent)}: `;
    return `${sign} ${who}${line(description)}${rationale === undefined ? "" : ` (${line(rationale)})`}`;
  });

function used({ usage, ms }: CheckpointDiff): string[] {
  const signed = (value: number, unit: string): string =>
    value === 0 ? "" : `${value > 0 ? "+" : "-"}${unit.replace("#", count(Math.abs(value)))}`;
  return [
    signed(usage.tokens, "# tokens"),
    signed(Math.round(usage.costUsd * 1e6) / 1e6, "$#"),
    signed(usage.turns, "# turns"),
    signed(usage.activeMs, "# ms of work"),
    ms === 0 ? "" : `${count(Math.abs(ms))} ms ${ms > 0 ? "later" : "earlier"}`,
  ].filter((text) => text !== "");
}

const count = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** One line per leaf of a delta; unchanged parts of arrays and objects are skipped. */
function* changes(path: string, delta: unknown): Generator<string> {
  if (Array.isArray(delta)) {
    const [first, second] = delta as unknown[];
    if (delta.length === 1) yield `+ ${path}: ${short(first)}`;
    else if (delta.length === 2) yield `~ ${path}: ${short(first)} → ${short(second)}`;
    else yield `- ${path}: ${short(first)}`;
    return;
  }
  const { _t: kind, ...parts } = delta as Record<string, unknown>;
  if (kind !== undefined && kind !== "a") yield* changes(join(path, "_t"), kind);
  for (const [key, part] of Object.entries(parts)) {
    const isIndex = kind === "a";
    yield* changes(isIndex ? `${path}[${key.replace("_", "")}]` : join(path, key), part);
  }
}

const join = (path: string, key: string): string => (path === "" ? name(key) : `${path}.${name(key)}`);

/** As it is, or quoted if it would be hard to read. */
const name = (key: string): string => (/^[\w./#[\]:-]{1,200}$/.test(key) ? key : line(JSON.stringify(key)));

/** On one line, and short. */
function short(value: unknown): string {
  return line(plain(value) ?? JSON.stringify(value) ?? "undefined");
}

function line(text: string): string {
  // Shows characters that would move the cursor or hide text by their number.
  const safe = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const number = character.codePointAt(0) as number;
    return `\\u{${number.toString(16)}}`;
  });
  if (safe.length <= MOST_CHARACTERS) return safe;
  return `${safe.slice(0, MOST_CHARACTERS - 20)}… (${count(safe.length)} characters)`;
}

/** A tagged value in words. */
function plain(value: unknown): string | undefined {
  const tag = (value as { $?: unknown } | null)?.$;
  if (!Array.isArray(tag)) return undefined;
  const [kind, first, second] = tag as unknown[];
  switch (kind) {
    case "undefined":
      return "undefined";
    case "Number":
      return String(first);
    case "BigInt":
      return `${String(first)}n`;
    case "Date":
      return new Date(first as number).toISOString();
    case "Bytes":
      return `${count(Math.floor((String(first).length * 3) / 4))} bytes`;
    case "Error":
      return `${String(first)}: ${String(second)}`;
    default:
      return undefined;
  }
}
