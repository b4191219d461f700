import { badOption } from "../../core/check-options.ts";
import { type ErrorCode, HoldfastError } from "../../core/errors.ts";

/** Maps the first word of an error reply to our codes. */
const REPLIES: Readonly<Record<string, ErrorCode>> = {
  WRONGPASS: "HF-3016",
  NOAUTH: "HF-3016",
  NOPERM: "HF-3004",
  READONLY: "HF-3022",
  LOST: "HF-3021",
  OOM: "HF-3024",
  WRONGTYPE: "HF-3006",
};

const TEXTS: readonly (readonly [pattern: RegExp, code: ErrorCode])[] = [
  [/can't run this command|no permission/i, "HF-3004"],
  [/AUTH <password> called without any password|invalid username-password/i, "HF-3016"],
  [/wrong version number|SSL routines|certificate|packet length too long/i, "HF-3016"],
];

export const FROM_REPLICA = "Connect to the primary, or make this server one: REPLICAOF NO ONE.";

const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/**
 * Converts any failure to an error that a person can act on. Everything but a plain refusal counts as an unknown
 * outcome, because the server may have executed the command. `ms` is the duration of the call.
 */
export function storeError(error: unknown, where: string, ms: number): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  // The message or the fields may contain the URL, and with it a password.
  if (code === "ERR_INVALID_URL" || (error instanceof TypeError && /protocol|pathname/i.test(error.message)))
    return badOption("url", "it is not the URL of a Redis server");
  const message = messageOf(error);
  const detail = { file: where, place: where, message, ms: Math.round(ms), fix: FROM_REPLICA };
  return new HoldfastError(codeFor(message, typeof code === "string" ? code : ""), detail, { cause: error });
}

function codeFor(message: string, code: string): ErrorCode {
  if (TLS.test(code)) return "HF-3016";
  const [word = ""] = message.split(" ", 1);
  if (Object.hasOwn(REPLIES, word)) return REPLIES[word] as ErrorCode;
  return TEXTS.find(([pattern]) => pattern.test(message))?.[1] ?? "HF-3002";
}

/** Node tries every address of a host and reports the failures together, with an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
