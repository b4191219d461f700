import type { CancellationReason } from "@aws-sdk/client-dynamodb";
import { badOption } from "../../core/check-options.ts";
import { type ErrorCode, HoldfastError } from "../../core/errors.ts";

/** Maps the names of service and SDK errors to our codes. */
const NAMES: Readonly<Record<string, ErrorCode>> = {
  AccessDeniedException: "HF-3004",
  NotAuthorizedException: "HF-3004",
  KMSAccessDeniedException: "HF-3004",
  AccessDenied: "HF-3004",
  UnrecognizedClientException: "HF-3016",
  InvalidSignatureException: "HF-3016",
  IncompleteSignatureException: "HF-3016",
  IncompleteSignature: "HF-3016",
  MissingAuthenticationTokenException: "HF-3016",
  MissingAuthenticationToken: "HF-3016",
  InvalidClientTokenId: "HF-3016",
  ExpiredTokenException: "HF-3016",
  ExpiredToken: "HF-3016",
  SignatureDoesNotMatch: "HF-3016",
  CredentialsProviderError: "HF-3016",
  TokenProviderError: "HF-3016",
  ResourceNotFoundException: "HF-3006",
  TableNotFoundException: "HF-3006",
  ValidationException: "HF-3013",
  SerializationException: "HF-3013",
  IdempotentParameterMismatchException: "HF-3013",
};

/** Errors after which the service has done nothing and a later retry can succeed. */
const TRANSIENT: readonly string[] = [
  "ProvisionedThroughputExceededException",
  "ThrottlingException",
  "Throttling",
  "RequestLimitExceeded",
  "TransactionConflictException",
  "TransactionInProgressException",
];

const TRANSIENT_REASONS: readonly string[] = [
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
];

const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

export const isNamed = (error: unknown, name: string): boolean => nameOf(error) === name;

/** The reason why each item of a transaction wasn't written, or `null` for any other error. */
export function cancellation(error: unknown): readonly CancellationReason[] | null {
  if (!isNamed(error, "TransactionCanceledException")) return null;
  return (error as { readonly CancellationReasons?: CancellationReason[] }).CancellationReasons ?? [];
}

/** A transaction that conflicted with another is repeated, unless a condition has already failed. */
export function isTransient(error: unknown): boolean {
  const codes = cancellation(error)?.map(({ Code = "None" }) => Code);
  if (!codes) return TRANSIENT.includes(nameOf(error));
  const failed = codes.filter((code) => code !== "None");
  return failed.length > 0 && failed.every((code) => TRANSIENT_REASONS.includes(code));
}

/**
 * Converts any failure to an error that a person can act on. `where` names the table; `ms` is the duration of the call.
 */
export function storeError(error: unknown, where: string, ms: number): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const message = messageOf(error);
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (/^region is missing/i.test(message)) return badOption("region", "it must be given");
  const detail = { file: where, place: where, message, ms: Math.round(ms) };
  return new HoldfastError(codeFor(error, typeof code === "string" ? code : ""), detail, {
    cause: causeOf(error),
  });
}

/** Hides the SDK's errors: they hold the signed request and the session token, which must not be logged. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof Error) || !("$metadata" in error)) return error;
  const { name, message, stack = "", $metadata } = error;
  return Object.assign(new Error(message), { name, stack, $metadata });
}

function codeFor(error: unknown, code: string): ErrorCode {
  if (TLS.test(code)) return "HF-3016";
  // A transaction cancelled for any other reason than a condition or a lack of capacity had invalid content.
  if (cancellation(error) && !isTransient(error)) return "HF-3013";
  // After any other error the service may have applied the request.
  return NAMES[nameOf(error)] ?? "HF-3002";
}

/** Node tries every address of a host and reports the failures together, with an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  const reasons = cancellation(error)?.map(({ Code, Message }) => Message ?? Code ?? "");
  return reasons ? `${error.message} ${reasons.join(", ")}` : error.message || error.name;
}
