import type { ImportReview } from "../../core/manage/transfer/review.ts";
import type { Definition, Executes } from "../../yaml/index.ts";
import { ORIGIN_KEY } from "../run-origin.ts";

/** What an imported run would execute, in full: according to the run itself, and to its workflow file. */
export interface ImportList {
  readonly review: ImportReview;
  /** The file that its code would be loaded from. */
  readonly file: string | undefined;
  /** For a workflow file; `undefined` for code. */
  readonly executes: Executes | undefined;
}

export async function importList(review: ImportReview): Promise<ImportList> {
  const { DEFINITION_KEY, executesOf } = await import("../../yaml/index.ts");
  const origin = review.config[ORIGIN_KEY];
  const file = isObject(origin) && typeof origin["file"] === "string" ? origin["file"] : undefined;
  const definition = review.memory[DEFINITION_KEY];
  return { review, file, executes: isDefinition(definition) ? await executesOf(definition) : undefined };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isDefinition(value: unknown): value is Definition {
  if (!isObject(value) || typeof value["main"] !== "string" || !isObject(value["files"])) return false;
  return Object.values(value["files"]).every((text) => typeof text === "string");
}

/** One line for each thing that it would execute or that it claims. */
export function importListText({ review, file, executes }: ImportList): string {
  const { runId, workflow, version, effects, answers, imported } = review;
  const from = imported ? `from store ${imported.from}, bundle ${imported.bundle.slice(0, 12)}` : "made here";
  const lines: readonly (readonly [string, string])[] = [
    ["workflow", `${workflow} ${version}`],
    ["from", from],
    ...(file === undefined ? [] : [["loads", file] as const]),
    ...(executes?.scripts ?? []).map(({ agent, command }) => ["script", `${agent}: ${command}`] as const),
    ...(executes?.servers ?? []).map(({ name, command }) => ["mcp", `${name}: ${command}`] as const),
    ...(executes?.tools ?? []).map((tool) => ["tool", tool] as const),
    ...(executes?.problems ?? []).map((problem) => ["not readable", problem] as const),
    ...effects.map(({ step, effect, status }) => ["recorded", `${step} (${effect}, ${status})`] as const),
    ...answers.map(({ gate, choice, actor }) => ["answered", `${gate}: ${choice}, by ${actor}`] as const),
  ];
  return [`Run ${runId} would execute:`, ...lines.map(([what, text]) => `  ${what.padEnd(12)} ${text}`)].join(
    "\n",
  );
}
