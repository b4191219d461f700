import { defined } from "../../../core/defined.ts";
import { monthOf } from "../../../core/manage/evidence/collect.ts";
import type { EvidenceQuery } from "../../../core/manage/evidence/types.ts";
import type { ReportQuery } from "../../../core/manage/reports/period.ts";
import type { CommandContext } from "../../context.ts";
import { usage } from "../../globals.ts";
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
  month: { flag: "--month <yyyy-mm>", summary: "One month, in UTC", parse: readMonth },
  until: { flag: "--until <time>", summary: "Up to this time", parse: readSince },
  workflow: { flag: "--workflow <name>", summary: "Only runs of this workflow" },
} as const;

interface Given {
  readonly month: string | undefined;
  readonly since: Since | undefined;
  readonly until: Since | undefined;
  readonly workflow: string | undefined;
}

const MONTH = 30 * 86_400_000;

/** The period as the library takes it. */
export async function readQuery(context: CommandContext<Given>): Promise<ReportQuery> {
  const { month, ...rest } = await readSpanOf(context);
  return month === undefined ? rest : { ...rest, ...monthOf(month) };
}

/** The period as it was said: a month stays one. */
export async function readSpanOf(
  context: CommandContext<Given>,
): Promise<Pick<EvidenceQuery, "month" | "since" | "until" | "workflow">> {
  const now = await (await context.store()).now();
  const { month, since, until, workflow } = context.options;
  if (month === undefined)
    return {
      since: since?.(now) ?? now - MONTH,
      ...(until ? { until: until(now) } : {}),
      ...defined({ workflow }),
    };
  if (since === undefined && until === undefined) return { month, ...defined({ workflow }) };
  throw usage(
    "--month doesn't go with --since or --until",
    "A month is a period of its own.",
    "--month 2026-11",
  );
}

function readMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw usage(`'${text}' isn't a month`, "A month is written with year and number.", "--month 2026-11");
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
