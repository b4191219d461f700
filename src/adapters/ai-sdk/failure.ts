import { kindOfStatus, ModelError, type ModelErrorKind } from "../../agent/model.ts";
import { HoldfastError } from "../../core/errors.ts";
import { retryAfterMs } from "../../core/run/retry.ts";

/**
 * The fields of the AI SDK's errors that give the reason. They are recognised by name, because each package may bring
 * its own copy of the class.
 */
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
/** A limit that waiting doesn't lift. */
const NO_CREDIT = /insufficient_quota|billing|credit balance/i;
/** The provider's answer can't be read. */
const UNREADABLE = new Set([
  "AI_JSONParseError",
  "AI_TypeValidationError",
  "AI_EmptyResponseBodyError",
  "AI_InvalidResponseDataError",
  "AI_NoContentGeneratedError",
]);
const MESSAGE_CHARS = 1_000;

/**
 * Converts a failed call to a ModelError. The SDK's own error is dropped: it holds the whole request, which has no
 * place in a journal.
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
  // Providers fail with a TypeError on well-formed answers of the wrong shape.
  if (UNREADABLE.has(String(error.name)) || error instanceof TypeError) return "network";
  if (error.name === "AI_LoadAPIKeyError") return "auth";
  if (error.name !== "AI_APICallError") return undefined;
  if (status === undefined || status < 400) return "network";
  const said = `${message} ${typeof error.responseBody === "string" ? error.responseBody : ""}`;
  const kind = kindOfStatus(status);
  if (kind === "rate-limit" && NO_CREDIT.test(said)) return "auth";
  return kind === "bad-request" && TOO_LONG.test(said) ? "context-length" : kind;
}

/** The time of the answer by the provider's clock, because a date to wait for uses that clock too. */
function answeredAt({ responseHeaders }: SdkError): number {
  const at = Date.parse(responseHeaders?.["date"] ?? "");
  return Number.isNaN(at) ? Date.now() : at;
}
