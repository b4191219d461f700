import type { ErrorCode } from "../../core/errors.ts";

/** The HTTP status of each error that comes from who is asking rather than from what is asked. */
export const ACCESS_STATUS: Partial<Record<ErrorCode, number>> = {
  "HF-6020": 503,
  "HF-6050": 401,
  "HF-6051": 403,
  "HF-6052": 403,
  "HF-6053": 400,
  "HF-6054": 421,
  "HF-6055": 403,
  "HF-6056": 403,
  "HF-6057": 429,
  "HF-6061": 404,
  "HF-6062": 400,
  "HF-4366": 409,
  "HF-6064": 400,
  "HF-6069": 429,
  "HF-6085": 403,
  "HF-6086": 409,
};
