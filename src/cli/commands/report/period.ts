import { defined } from "../../../core/defined.ts";
import type { ReportQuery } from "../../../core/manage/reports/period.ts";
import type { CommandContext } from "../../context.ts";
import { readSince, type Since } from "../../view/parsers.ts";
import { iso } from "../../view/run-rows.ts";
import { type Column, roomOf, table } from "../../view/table.ts";

/** The options of every report about a period. */
export const periodOptions = {
  since: {
    flag: "--since <time>",
    summary: "From this time on, such as 30d or a date (default 30d)",
    parse: readSince,
  },
  until: { flag: "--until <time>", summary: "Up to this time", parse: readSince },
  workflow: { flag: "--workflow <name>", summary: "Only runs of this workflow" },
} as const;

interface Given {
  readonly since: Since | undefined;
  readonly until: Since | undefined;
  readonly workflow: string | undefined;
}

const MONTH = 30 * 86_400_000;

export async function readQuery(context: CommandContext<Given>): Promise<ReportQuery> {
  const now = await (await context.store()).now();
  const { since, until, workflow } = context.options;
  return {
    since: since?.(now) ?? now - MONTH,
    ...(until ? { until: until(now) } : {}),
    ...defined({ workflow }),
  };
}

export const spanData = ({ since, until }: { since: number; until: number }) => ({
  since: iso(since),
  until: iso(until),
});

/** A title with the period, followed by the content. */
export function framed(
  { out }: CommandContext<unknown>,
  title: string,
  { since, until }: { since: number; until: number },
  lines: readonly string[],
): string {
  const day = (at: number): string => iso(at).slice(0, 16).replace("T", " ");
  return [`${out.paint.bold(title)}   ${out.paint.dim(`${day(since)} – ${day(until)}`)}`, ...lines].join(
    "\n",
  );
}

/** A table as wide as the terminal with a dimmed head; empty without rows. */
export function tabled(
  { host, out }: CommandContext<unknown>,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return [];
  const room = roomOf(host);
  const [head = "", ...lines] = table(columns, rows, { room });
  return ["", out.paint.dim(head), ...lines];
}
