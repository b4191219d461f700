import { kindOfStatus, ModelError, type ModelErrorKind } from "../../agent/model.ts";
import { HoldfastError } from "../../core/errors.ts";
import { retryAfterMs } from "../../core/run/retry.ts";

/** The fields of the AI SDK's errors that say why. They are recognised by name: each package may bring its own copy of the class. */
interface SdkError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly statusCode?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly isRetryable?: unknown;
}

const TOO_LONG =
  /context.?length|maximum context|context window|too many tokens|prompt is too long|input token count/i;
/** A limit that time does not lift. */
const NO_CREDIT = /insufficient_quota|billing|credit balance/i;
/** The provider answered, and what it answered cannot be read. */
const UNREADABLE = new Set([
  "AI_JSONParseError",
  "AI_TypeValidationError",
  "AI_EmptyResponseBodyError",
  "AI_InvalidResponseDataError",
  "AI_NoContentGeneratedError",
]);
const MESSAGE_CHARS = 1_000;

/**
 * What a failed model call is taken for. The SDK's own error is left behind: it holds the whole request, which has no place in a
 * journal.
 */
export function modelError(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || HoldfastError.is(thrown) || ModelError.is(thrown)) return thrown;
  const error = (typeof thrown === "object" && thrown !== null ? thrown : {}) as SdkError;
  const message = (typeof error.message === "string" ? error.message : String(thrown)).slice(
    0,
    MESSAGE_CHARS,
  );
  const status = typeof error.statusCode === "number" ? error.statusCode : undefined;
  const kind = kindOf(error, status, message);
  if (!kind) return thrown;
  return new ModelError(message, { kind, status, retryAfterMs: retryAfterMs(error, answeredAt(error)) });
}

function kindOf(error: SdkError, status: number | undefined, message: string): ModelErrorKind | undefined {
  // Providers stumble over answers that are well-formed and yet not what they must be.
  if (UNREADABLE.has(String(error.name)) || error instanceof TypeError) return "network";
  if (error.name === "AI_LoadAPIKeyError") return "auth";
  if (error.name !== "AI_APICallError") return undefined;
  if (status === undefined || status < 400) return "network";
  const said = `${message} ${typeof error.responseBody === "string" ? error.responseBody : ""}`;
  const kind = kindOfStatus(status);
  if (kind === "rate-limit" && NO_CREDIT.test(said)) return "auth";
  return kind === "bad-request" && TOO_LONG.test(said) ? "context-length" : kind;
}

/** When the provider answered, by its own clock: a date to wait for is by that clock too. */
function answeredAt({ responseHeaders }: SdkError): number {
  const at = Date.parse(responseHeaders?.["date"] ?? "");
  return Number.isNaN(at) ? Date.now() : at;
}
