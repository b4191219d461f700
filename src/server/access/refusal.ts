import type { ErrorCode, HoldfastError } from "../../core/errors.ts";

/** The HTTP status of each error that comes from who is asking rather than from what is asked. */
export const ACCESS_STATUS: Partial<Record<ErrorCode, number>> = {
  "HF-6050": 401,
  "HF-6051": 403,
  "HF-6052": 403,
  "HF-6053": 400,
  "HF-6054": 421,
  "HF-6055": 403,
  "HF-6056": 403,
  "HF-6057": 429,
  "HF-6064": 400,
  "HF-6068": 500,
  "HF-6069": 429,
  "HF-6070": 404,
};

/** The answer to a request that isn't let in: a problem document (RFC 9457) with the four fields of every error. */
export function refuse(error: HoldfastError): Response {
  const { code, message, why, safe, fix } = error;
  const status = ACCESS_STATUS[code] ?? 500;
  const problem = { type: `urn:holdfast:error:${code}`, title: message, status, code, why, safe, fix };
  return new Response(JSON.stringify(problem), {
    status,
    headers: { "content-type": "application/problem+json" },
  });
}
