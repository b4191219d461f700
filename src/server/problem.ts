import { type ErrorCode, HoldfastError } from "../core/errors.ts";
import { ACCESS_STATUS } from "./access/statuses.ts";

/** An error as the API answers it: RFC 9457, with the four lines that the library and the command line show. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly what: string;
  readonly why: string;
  readonly safe: string;
  readonly fix: readonly string[];
}

/** By the beginning of the code, the longest first. Anything else is a conflict with what the run does now. */
const STATUSES: Readonly<Record<string, number>> = {
  "HF-1001": 404,
  "HF-1003": 400,
  "HF-1004": 400,
  "HF-1005": 400,
  "HF-1008": 503,
  "HF-1010": 404,
  "HF-1013": 404,
  "HF-1015": 422,
  "HF-1017": 501,
  "HF-1021": 400,
  "HF-1022": 404,
  "HF-1023": 410,
  "HF-1024": 422,
  "HF-1026": 404,
  "HF-1037": 422,
  "HF-1040": 413,
  "HF-1042": 422,
  "HF-1050": 400,
  "HF-2001": 422,
  "HF-2002": 413,
  "HF-3017": 422,
  "HF-3060": 409,
  "HF-3061": 409,
  "HF-308": 409,
  "HF-3100": 409,
  "HF-3": 503,
  "HF-4365": 422,
  "HF-5001": 404,
  "HF-5002": 422,
  "HF-5100": 404,
  "HF-5101": 422,
  "HF-5102": 422,
  "HF-5103": 422,
  "HF-5105": 422,
  "HF-5106": 404,
  "HF-5107": 501,
  "HF-5108": 412,
  "HF-5112": 413,
  "HF-6000": 500,
  "HF-6001": 404,
  "HF-6002": 405,
  "HF-6003": 415,
  "HF-6004": 400,
  "HF-6005": 400,
  "HF-6006": 413,
  "HF-6007": 412,
  "HF-6008": 422,
  "HF-6009": 409,
  "HF-6010": 400,
  "HF-6011": 501,
  "HF-6012": 503,
  "HF-6013": 409,
  "HF-6015": 404,
  "HF-6016": 403,
  "HF-6030": 403,
  "HF-6080": 422,
  "HF-6120": 404,
  "HF-6200": 404,
  "HF-6201": 400,
  "HF-6205": 410,
  "HF-6206": 410,
  "HF-6210": 403,
  "HF-6212": 400,
  "HF-6213": 400,
  "HF-6214": 405,
  "HF-6215": 503,
  "HF-6220": 404,
  "HF-6221": 403,
  "HF-6222": 400,
};

export function statusOf(code: ErrorCode): number {
  const ofAccess = ACCESS_STATUS[code];
  if (ofAccess !== undefined) return ofAccess;
  for (let length = code.length; length > 3; length--) {
    const status = STATUSES[code.slice(0, length)];
    if (status !== undefined) return status;
  }
  return 409;
}

export function problemOf(error: HoldfastError, status = statusOf(error.code)): Problem {
  const { code, message, why, safe, fix } = error;
  return {
    type: `urn:holdfast:error:${code}`,
    title: message,
    status,
    detail: why,
    code,
    what: message,
    why,
    safe,
    fix: fix.split("\n"),
  };
}

/** A text about what went wrong inside the server or its store may name hosts, files and statements: it stays in the log. */
export const isInner = (error: unknown): boolean => !HoldfastError.is(error) || statusOf(error.code) >= 500;

/** The refusal that stands for an error inside the server; the log has the error itself under the same id. */
export function innerError(error: unknown, id: string): HoldfastError {
  if (!HoldfastError.is(error)) return new HoldfastError("HF-6000", { id });
  if (error.code.startsWith("HF-6") || error.code === "HF-1008" || error.code === "HF-1017") return error;
  return new HoldfastError("HF-6012", { id });
}

export function problemResponse(
  error: HoldfastError,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const problem = problemOf(error);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}
