import { badOption } from "../../core/check-options.ts";
import { type ErrorCode, HoldfastError } from "../../core/errors.ts";

/** Maps SQLSTATEs, or the classes they begin with, to our codes. */
const STATES: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ["08", "HF-3002"],
  ["53100", "HF-3003"],
  ["53", "HF-3002"],
  ["57", "HF-3002"],
  ["25006", "HF-3022"],
  ["28", "HF-3016"],
  ["3D000", "HF-3016"],
  ["42501", "HF-3004"],
  ["3F000", "HF-3006"],
  ["42P01", "HF-3006"],
  ["42P07", "HF-3006"],
  ["42703", "HF-3072"],
  ["42883", "HF-3072"],
  ["40", "HF-3009"],
  ["55P03", "HF-3009"],
  ["XX001", "HF-3014"],
  ["XX002", "HF-3014"],
];

export const TO_PRIMARY = "Connect to the primary, or SET default_transaction_read_only = off for this role.";

const SQLSTATE = /^[0-9A-Z]{5}$/;

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
};

/** Two processes have drawn the same time for a record; the next attempt draws a later one. */
const isSameTime = (error: unknown): boolean =>
  codeOf(error) === "23505" &&
  (error as { readonly constraint?: unknown }).constraint ===
    "agent_checkpoints_analysis_id_agent_type_checkpoint_time_key";

/** True when the server rolled back to resolve a conflict; retrying the same statement can succeed. */
export const isRepeatable = (error: unknown): boolean =>
  ["40001", "40P01"].includes(codeOf(error)) || isSameTime(error);

/** True when a named statement isn't what it was when it was prepared. It hasn't been executed then. */
export const isLostStatement = (error: unknown): boolean =>
  ["26000", "42P05", "0A000"].includes(codeOf(error));

/** True when there is no such table or schema. */
export const isMissing = (error: unknown): boolean => ["42P01", "3F000"].includes(codeOf(error));

/** True when the role may not do that. */
export const isForbidden = (error: unknown): boolean => codeOf(error) === "42501";

/** True for a fault of the server or the connection, as opposed to an invalid statement. */
export function isOwnFault(error: unknown): boolean {
  const state = codeOf(error);
  return !SQLSTATE.test(state) || isSystemCode(state) || /^(08|25006|40|53|55P03|57|58|XX)/.test(state);
}

/** True when the server or a proxy refuses this client: retrying won't help. */
const isRefused = (error: unknown): boolean =>
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(codeOf(error)) ||
  // The driver says so itself when the server wants a password and there is none.
  (error instanceof Error && /does not support SSL|^SASL: /i.test(error.message));

/**
 * Converts any failure to an error that a person can act on. `where` names the schema; `ms` is the duration of the
 * call.
 */
export function storeError(error: unknown, where: string, ms: number): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const state = codeOf(error);
  const message = messageOf(error);
  // The message or the fields may contain the connection string, and with it a password.
  if (state === "ERR_INVALID_URL") return badOption("connectionString", "it is not a URL");
  const detail = { file: where, place: where, message, ms: Math.round(ms), fix: TO_PRIMARY };
  if (isRefused(error)) return new HoldfastError("HF-3016", detail, { cause: error });
  // An error without a SQLSTATE didn't come from the server: the connection failed.
  const known = STATES.find(([prefix]) => state.startsWith(prefix))?.[1];
  const code = known ?? (SQLSTATE.test(state) && !isSystemCode(state) ? "HF-3013" : "HF-3002");
  return new HoldfastError(code, detail, { cause: error });
}

/** `EPIPE` looks like a SQLSTATE but isn't one. */
const isSystemCode = (code: string): boolean => /^E[A-Z]+$/.test(code);

/** Node tries every address of a host and reports the failures together, with an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
