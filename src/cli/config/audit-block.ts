import { z } from "zod";

const span = z.union([
  z.number().positive().describe("milliseconds"),
  z.string().regex(/^\d+(?:\.\d+)?(?:ms|s|m|h|d|w)$/, 'must be a number with a unit, such as "60s"'),
]);

const anchor = z.union([
  z.strictObject({ file: z.string().min(1).describe("file that only grows, best on another disk") }),
  z.strictObject({
    webhook: z.string().min(1).describe("https: address that takes signed heads"),
    secret_env: z.string().min(1).describe("variable with the secret that signs requests"),
    allow_hosts: z.array(z.string().min(1)).optional().describe("internal hosts or networks it may reach"),
  }),
  z.strictObject({
    s3: z.string().min(1).describe("bucket with Object Lock"),
    prefix: z.string().optional(),
    region: z.string().optional(),
    endpoint: z.string().optional(),
    retain_days: z.number().positive().optional(),
  }),
]);

/** How the audit log is signed, and where its heads go. */
export const auditBlock = z
  .strictObject({
    key_file: z.string().optional().describe("file with the key; default: HOLDFAST_AUDIT_KEY"),
    every: span.optional().describe("sign a head at least this often (default 60s)"),
    events: z
      .number()
      .int()
      .positive()
      .optional()
      .describe("sign a head after so many events (default 1000)"),
    anchors: z.array(anchor).optional().describe("where signed heads go besides the store"),
  })
  .describe("Signs the audit log, and sends its heads to anchors outside the store");

export type AuditBlock = z.output<typeof auditBlock>;
