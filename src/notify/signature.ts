import { createHmac, timingSafeEqual } from "node:crypto";
import { HoldfastError } from "../core/errors.ts";

/** As in the Standard Webhooks specification: a secret may be base64 after `whsec_`, or any text. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");

const signatureOf = (secret: string, id: string, seconds: string, body: string): string =>
  createHmac("sha256", keyOf(secret)).update(`${id}.${seconds}.${body}`).digest("base64");

/** The headers that prove who sent a body, and when. */
export function signed(secret: string, id: string, now: number, body: string): Record<string, string> {
  const seconds = String(Math.floor(now / 1_000));
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signatureOf(secret, id, seconds, body)}`,
  };
}

/** What a receiver has of a request. */
export interface ReceivedWebhook {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly as it was received. */
  readonly body: string;
}

/** The secret that both sides share, and how old a signature may be. */
export interface VerifyWebhookOptions {
  readonly secret: string;
  /** How far the time of the signature may be from now. Default 5 min. */
  readonly toleranceMs?: number;
  readonly now?: number;
}

/**
 * Checks that a webhook was sent by a holder of the secret, just now (HF-6125). Returns its id, by which a repeated
 * delivery is recognised.
 *
 * @example
 * ```ts
 * import { verifyWebhook } from "holdfast/notify";
 *
 * export function received(headers: Record<string, string | undefined>, body: string): string {
 *   const secret = process.env["HOOK_SECRET"] ?? "";
 *   return verifyWebhook({ headers, body }, { secret });
 * }
 * ```
 */
export function verifyWebhook(
  { headers, body }: ReceivedWebhook,
  { secret, toleranceMs = 300_000, now = Date.now() }: VerifyWebhookOptions,
): string {
  const text = (name: string): string => {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
    throw wrong(`the header ${name} is missing`);
  };
  const [id, seconds, given] = [text("webhook-id"), text("webhook-timestamp"), text("webhook-signature")];
  if (!/^\d{1,12}$/.test(seconds) || Math.abs(Number(seconds) * 1_000 - now) > toleranceMs)
    throw wrong("its time is too far from now");
  const expected = Buffer.from(signatureOf(secret, id, seconds, body));
  const isRight = given.split(" ").some((one) => {
    const [version, value = ""] = one.split(",");
    const bytes = Buffer.from(value);
    return version === "v1" && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
  if (!isRight) throw wrong("it doesn't match");
  return id;
}

const wrong = (problem: string): HoldfastError => new HoldfastError("HF-6125", { problem });
