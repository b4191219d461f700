import { isRecord } from "../core/check-options.ts";
import type { Context } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { isUuid } from "../core/ids.ts";
import { nameProblem } from "../core/names.ts";

/** What a team is started with. */
export interface TeamInput<I = unknown> {
  /** A UUID. Default: the run's id if it is one, else a new one. */
  readonly analysis_id?: string;
  /** What the analysis is about, such as a stock ticker: up to 10 characters. */
  readonly stock_ticker: string;
  /** Anything else that the agents need. */
  readonly input?: I;
}

/** The analysis that a team works on. */
export interface Analysis {
  readonly analysis_id: string;
  readonly stock_ticker: string;
  readonly input: unknown;
}

/** Throws HF-4526 when the input doesn't name an analysis and its subject. */
export function analysisOf(ctx: Pick<Context, "runId" | "uuid">, team: string, given: unknown): Analysis {
  const invalid = (problem: string) => new HoldfastError("HF-4526", { team, problem });
  if (!isRecord(given)) throw invalid("it must be an object with a stock_ticker");
  const { analysis_id, stock_ticker, input } = given;
  const problem = nameProblem(stock_ticker, 10);
  if (typeof stock_ticker !== "string" || problem !== undefined)
    throw invalid(`stock_ticker: ${problem ?? "it must be a text"}`);
  if (analysis_id !== undefined && !isUuid(analysis_id)) throw invalid("analysis_id must be a UUID");
  const id = analysis_id ?? (isUuid(ctx.runId) ? ctx.runId : ctx.uuid("analysis"));
  return { analysis_id: id, stock_ticker, input };
}
