import type { Problem } from "../server/problem.ts";

/** The API refused a call, or could not answer it. `problem` has the four lines: what, why, safe, fix. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** A stable code such as `HF-1001`; empty when the answer didn't come from the API, but from a proxy. */
  readonly code: string;
  readonly problem: Problem | null;

  constructor(status: number, problem: Problem | null) {
    super(problem ? `${problem.code} ${problem.what}` : `The server answered with status ${status}.`);
    this.status = status;
    this.code = problem?.code ?? "";
    this.problem = problem;
  }
}

export async function errorOf(response: Response): Promise<ApiError> {
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json") ?? false;
  const problem = isProblem ? ((await response.json()) as Problem) : null;
  return new ApiError(response.status, problem);
}
