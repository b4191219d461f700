import { z } from "zod";
import { ROLES, type Role } from "../access/permission.ts";
import { declare } from "./declare.ts";
import { reason, time } from "./shapes.ts";

const admin = { permission: "admin" } as const;
const why = { reason: reason.exactOptional() };
const role = z.enum(Object.keys(ROLES) as [Role, ...Role[]]);
const words = z.array(z.string().min(1).max(200)).min(1).max(100);

const scope = z
  .strictObject({
    workflows: words.exactOptional(),
    labels: z.record(z.string().min(1).max(200), z.string().max(200)).exactOptional(),
    queues: words.exactOptional(),
  })
  .meta({ id: "Scope", description: "Only runs that match all of this" });

/** Whatever else a record of a token holds, such as the hash of its secret, never leaves the server. */
const token = z
  .object({
    id: z.string(),
    name: z.string(),
    actor: z.string(),
    roles: z.array(role),
    scope: scope.nullable(),
    state: z.enum(["valid", "expired", "revoked"]),
    createdAt: time,
    createdBy: z.string(),
    expiresAt: time.nullable(),
    lastUsedAt: time.nullable().meta({ description: "No finer than an hour" }),
    revokedAt: time.nullable(),
    revokedBy: z.string().nullable(),
  })
  .meta({ id: "Token" });

const expiresAt = time
  .nullable()
  .exactOptional()
  .meta({ description: "When it ends; null: never. Default: in 90 days" });

const made = z.object({
  token: z.string().meta({ description: "The token itself. It is in this answer only" }),
  info: token,
});

export const tokenOperations = {
  listTokens: declare("listTokens", {
    summary: "The tokens of the store: whose they are, what they may do, when they were used.",
    ...admin,
    verb: { library: "none: tokens belong to the server", cli: "token list" },
    answer: z.object({ tokens: z.array(token) }),
  }),
  createToken: declare("createToken", {
    summary: "Makes a token, which is shown only once. It can't do more than the caller.",
    ...admin,
    verb: { library: "none: tokens belong to the server", cli: "token create" },
    body: z.strictObject({
      ...why,
      name: z.string().min(1).max(100),
      actor: z
        .string()
        .min(1)
        .max(200)
        .exactOptional()
        .meta({ description: "Who acts with it, for the record. Default: its name" }),
      roles: z.array(role).min(1),
      scope: scope.exactOptional(),
      expiresAt,
    }),
    answer: made,
    isShownOnce: true,
  }),
  rotateToken: declare("rotateToken", {
    summary: "Makes a token like an older one, which works a little longer. The new one is shown only once.",
    ...admin,
    verb: { library: "none: tokens belong to the server", cli: "token rotate" },
    body: z.strictObject({
      ...why,
      overlapMs: z
        .number()
        .int()
        .min(0)
        .max(30 * 86_400_000)
        .exactOptional()
        .meta({ description: "How long the old one works. Default: one hour" }),
      expiresAt: expiresAt.meta({
        description:
          "When the new one ends; null: never. Default: it is valid for as long as the old one was",
      }),
    }),
    answer: made,
    isShownOnce: true,
  }),
  revokeToken: declare("revokeToken", {
    summary: "Ends a token for good. Sessions that were opened with it end within a second.",
    ...admin,
    verb: { library: "none: tokens belong to the server", cli: "token revoke" },
    body: z.strictObject(why),
    answer: token,
  }),
};
