import { badOption } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { LEAST_SECRET, type Redactor } from "./redact.ts";

/** The name of a secret instead of the secret: plain data that may be part of input, config and state. */
export interface SecretRef {
  readonly $secret: string;
}

/** Looks up secrets when a run asks for one with `ctx.secret`. */
export interface SecretProvider {
  get(name: string): string | undefined | Promise<string | undefined>;
}

const NAME = /^[\w.:/-]{1,200}$/;

/**
 * Names a secret without holding it. `ctx.secret` returns the secret itself, at the moment of a call.
 *
 * @example
 * ```ts
 * import { secret, workflow } from "holdfast";
 *
 * export const mail = workflow("mail", async (ctx, input: { token: ReturnType<typeof secret> }) =>
 *   ctx.step("send", async () => {
 *     const token = await ctx.secret(input.token);
 *     return token.length > 0;
 *   }),
 * );
 *
 * export const input = { token: secret("MAIL_TOKEN") };
 * ```
 */
export function secret(name: string): SecretRef {
  return { $secret: checkedName(name) };
}

/** The secret itself, which is kept out of everything stored and logged from now on. */
export async function resolveSecret(
  provider: SecretProvider | undefined,
  redactor: Redactor | undefined,
  ref: SecretRef,
): Promise<string> {
  const name = checkedName(ref?.$secret);
  const value = await provider?.get(name);
  if (value === undefined) {
    const why = provider
      ? "The provider of secrets has none of that name."
      : "The engine was given no secrets.";
    throw new HoldfastError("HF-1030", { name, why });
  }
  if (typeof value !== "string" || value.length < LEAST_SECRET)
    throw new HoldfastError("HF-1031", { name, least: LEAST_SECRET });
  redactor?.know(name, value);
  return value;
}

function checkedName(name: unknown): string {
  if (typeof name === "string" && NAME.test(name)) return name;
  throw badOption("secret", "its name must be a text of 1 to 200 letters, digits and . : / _ -");
}
