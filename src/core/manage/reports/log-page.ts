import { checkOneOf, checkWhole } from "../../check-options.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import { isInside } from "../../keys.ts";
import { isAtLeast, LOG_LEVELS, type LogLevel, type LogLine } from "../../log-line.ts";

export interface LogQuery {
  /** Only lines of this level and above. Default `info`: what is stored. */
  readonly level?: LogLevel;
  /** Only lines of this step and of those inside it. */
  readonly step?: string;
  /** The most lines to return: the newest. Default 200. */
  readonly limit?: number;
}

export interface LogPage {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** True when there are older ones. */
  readonly more: boolean;
}

const LIMIT = 200;
const MOST = 10_000;

/** The newest lines that a workflow wrote with `ctx.log` in a run. */
export async function readLogs(parts: EngineParts, runId: string, query: LogQuery): Promise<LogPage> {
  const { level = "info", step } = query;
  checkOneOf("level", level, LOG_LEVELS);
  const limit = checkWhole("limit", query.limit ?? LIMIT, 1, MOST);
  await readRow(parts.store, runId);
  const isWanted = (line: LogLine): boolean =>
    isAtLeast(line.level, level) && (step === undefined || isOf(line.step ?? "", step));
  const lines = (await parts.logs.read(runId)).filter(isWanted);
  return { lines: lines.slice(-limit), more: lines.length > limit };
}

const isOf = (step: string, wanted: string): boolean => step === wanted || isInside(step, wanted);
