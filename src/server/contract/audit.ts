import { z } from "zod";
import { declare } from "./declare.ts";
import { count, reason, time } from "./shapes.ts";

const audit = { permission: "audit:read" } as const;

const head = z.object({ origin: z.string(), size: count, at: time, note: z.string() });
const anchorState = z.object({
  name: z.string(),
  size: count,
  at: time,
  error: z.string().exactOptional(),
  failingSince: time.exactOptional(),
});
const proven = z.object({ size: count, at: time, by: z.string() }).nullable();

export const auditVerification = z
  .object({
    ok: z.boolean(),
    origin: z.string(),
    leaves: count,
    acts: z.record(z.string(), count),
    signed: proven,
    anchored: proven,
    keys: z.array(z.string()),
    keysFrom: z.enum(["reader", "log"]),
    journals: z.object({ runs: count, entries: count, deleted: count, withValues: z.boolean() }).nullable(),
    problems: z.array(
      z.object({
        kind: z.enum(["leaf", "key", "head", "anchor", "run", "bundle"]),
        where: z.string(),
        problem: z.string(),
      }),
    ),
    newer: z.object({
      leaves: count,
      runs: z.array(z.object({ run: z.string(), anchored: count, seq: count })),
      events: count,
    }),
    cannotSee: z.array(z.string()),
  })
  .meta({ id: "AuditVerification" });

const detail = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

export const auditOperations = {
  listAudit: declare("listAudit", {
    summary: "What people did to runs and to the store, newest first: who, what, when and why.",
    ...audit,
    verb: { library: "engine.audit.list", cli: "audit list" },
    query: z.strictObject({
      since: z.number().int().min(0).exactOptional(),
      until: z.number().int().min(0).exactOptional(),
      actor: z.string().min(1).max(200).exactOptional(),
      act: z.string().min(1).max(200).exactOptional(),
      run: z.string().min(1).max(200).exactOptional(),
      limit: z.number().int().min(1).max(1_000).default(200),
    }),
    answer: z.object({
      entries: z.array(
        z.object({
          at: time,
          act: z.string(),
          actor: z.string().nullable(),
          reason: z.string().nullable(),
          run: z.string().nullable(),
          seq: count.nullable(),
          what: z.string().nullable(),
          auth: z.string().nullable(),
          detail,
          leaf: count.nullable(),
        }),
      ),
      more: z.boolean(),
    }),
  }),
  getAuditHealth: declare("getAuditHealth", {
    summary: "The newest signed head of the audit log, how far its anchors are, and the last verification.",
    ...audit,
    verb: { library: "engine.audit.health", cli: "none: audit verify tells it" },
    answer: z.object({
      state: z.enum(["off", "ok", "late", "broken"]),
      head: head.nullable(),
      unsigned: count,
      anchors: z.array(anchorState.extend({ isLate: z.boolean() })),
      verified: z
        .object({
          at: time,
          ok: z.boolean(),
          problems: count,
          first: z.string().nullable(),
          signed: count,
          anchored: count,
        })
        .nullable(),
      problem: z.string().nullable(),
    }),
  }),
  verifyAudit: declare("verifyAudit", {
    summary:
      "Verifies the audit log and the journals against signed heads, and against anchors if they are given.",
    ...audit,
    verb: { library: "engine.audit.verify", cli: "audit verify" },
    body: z.strictObject({
      anchors: z
        .array(z.strictObject({ name: z.string().min(1).max(200), text: z.string().max(1_000_000) }))
        .max(10)
        .exactOptional()
        .meta({ description: "Files of signed heads that were kept outside the store" }),
      keys: z.array(z.string().min(1).max(400)).max(20).exactOptional(),
      journals: z.enum(["none", "heads", "full"]).exactOptional(),
    }),
    answer: auditVerification,
  }),
  exportAudit: declare("exportAudit", {
    summary:
      "The audit log, its heads and the journals without values, as JSON lines for the offline verifier.",
    ...audit,
    verb: { library: "engine.audit.export", cli: "audit export" },
    query: z.strictObject({ reason, journals: z.enum(["none", "heads"]).default("heads") }),
    answer: z.string(),
    media: { answer: "application/x-ndjson" },
  }),
  anchorAudit: declare("anchorAudit", {
    summary: "Signs what is new now, and sends the head to every anchor.",
    permission: "admin",
    verb: { library: "engine.audit.anchor", cli: "audit anchor" },
    body: z.strictObject({ reason: reason.exactOptional() }),
    answer: z.object({ head, anchors: z.array(anchorState) }),
  }),
};
