import { z } from "zod";
import { HoldfastError } from "../../core/errors.ts";
import { checkNamed } from "../../core/names.ts";
import { ROLES, type Role, type Scope } from "./permission.ts";

/** How long a token is valid if nobody says otherwise, and how long one that is replaced still works. */
export const TOKEN_LIFE_MS: number = 90 * 86_400_000;
export const TOKEN_OVERLAP_MS = 3_600_000;

const roleNames = Object.keys(ROLES) as [Role, ...Role[]];
const words = z.array(z.string().min(1).max(200)).min(1).max(100);

const scopeSchema = z.strictObject({
  workflows: words.exactOptional(),
  labels: z.record(z.string().min(1).max(200), z.string().max(200)).exactOptional(),
  queues: words.exactOptional(),
});

const recordSchema = z.strictObject({
  name: z.string().min(1).max(100),
  actor: z.string().min(1).max(200),
  roles: z.array(z.enum(roleNames)).min(1),
  scope: scopeSchema.nullable(),
  /** SHA-256 of the secret. */
  hash: z.string(),
  createdAt: z.number(),
  createdBy: z.string(),
  expiresAt: z.number().nullable(),
  /** No finer than an hour, so that reading isn't writing. */
  lastUsedAt: z.number().nullable(),
  revokedAt: z.number().nullable(),
  revokedBy: z.string().nullable(),
});

/** A token as it is stored. */
export type TokenRecord = z.infer<typeof recordSchema>;

/** A token as it may be shown: everything but the hash of its secret. */
export type TokenInfo = Omit<TokenRecord, "hash"> & { readonly id: string };

export interface NewToken {
  readonly name: string;
  readonly actor: string;
  readonly roles: readonly Role[];
  readonly scope?: Scope | null;
  /** Default: it doesn't expire. */
  readonly expiresAt?: number | null;
  readonly createdBy: string;
}

export type TokenState = "valid" | "expired" | "revoked";

export function stateOf(
  { expiresAt, revokedAt }: Pick<TokenInfo, "expiresAt" | "revokedAt">,
  now: number,
): TokenState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "valid";
}

export const infoOf = (id: string, { hash: _, ...shown }: TokenRecord): TokenInfo => ({ id, ...shown });

export const badToken = (problem: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-6062", { problem, why, fix });

/** The record of a new token; refuses what isn't valid (HF-6062). */
export function recordOf(given: NewToken, hash: string, now: number): TokenRecord {
  const { name, actor, roles, scope = null, expiresAt = null, createdBy } = given;
  checkNamed("token", name, 100);
  checkNamed("actor", actor, 200);
  if (expiresAt !== null && expiresAt <= now)
    throw badToken("it would have expired already", "The time is not in the future.", "Give a later time.");
  const life = { createdAt: now, createdBy, expiresAt, lastUsedAt: null, revokedAt: null, revokedBy: null };
  const parsed = recordSchema.safeParse({ name, actor, roles, scope, hash, ...life });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const problem = `${issue?.path.join(".") ?? "it"}: ${issue?.message ?? "not valid"}`;
  throw badToken(problem, `Roles are ${roleNames.join(", ")}.`, "Correct it and try again.");
}

/** A stored record, or `null` if it can't be read. */
export function readRecord(text: string): TokenRecord | null {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
