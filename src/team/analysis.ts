import { isRecord } from "../core/check-options.ts";
import type { Context } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { isUuid } from "../core/ids.ts";
import { nameProblem } from "../core/names.ts";
import type { StandardSchema } from "../core/standard-schema.ts";

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

interface Problem {
  readonly at?: keyof TeamInput;
  readonly message: string;
}

/** Why an input doesn't name an analysis and its subject. */
function problemIn(given: unknown): Problem | undefined {
  if (!isRecord(given)) return { message: "it must be an object with a stock_ticker" };
  const ticker = nameProblem(given["stock_ticker"], 10);
  if (ticker !== undefined) return { at: "stock_ticker", message: ticker };
  const { analysis_id } = given;
  if (analysis_id === undefined || isUuid(analysis_id)) return undefined;
  return { at: "analysis_id", message: "It must be a UUID." };
}

/** The input of a team is checked before there is a run: a run that begins with a wrong one would keep the analysis's id. */
export const teamInput: StandardSchema = {
  "~standard": {
    validate(value) {
      const problem = problemIn(value);
      if (!problem) return { value };
      return { issues: [{ message: problem.message, path: problem.at ? [problem.at] : [] }] };
    },
  },
};

/** Throws HF-4526 when the input doesn't name an analysis and its subject. */
export function analysisOf(ctx: Pick<Context, "runId" | "uuid">, team: string, given: TeamInput): Analysis {
  const problem = problemIn(given);
  if (problem) {
    const { at, message } = problem;
    throw new HoldfastError("HF-4526", { team, problem: at ? `${at}: ${message}` : message });
  }
  const { analysis_id, stock_ticker, input } = given;
  const id = analysis_id ?? (isUuid(ctx.runId) ? ctx.runId : ctx.uuid("analysis"));
  return { analysis_id: id, stock_ticker, input };
}
