export type { AuditAnchor } from "../core/audit/anchors.ts";
export {
  fileAnchor,
  type S3AnchorOptions,
  type S3ClientLike,
  s3Anchor,
  type WebhookAnchorOptions,
  webhookAnchor,
} from "./anchors.ts";
export { type AuditKey, auditKey, envAuditKey, fileAuditKey, newAuditKey } from "./audit-key.ts";
export type { CompressionOptions } from "./compression.ts";
export {
  type ContentAction,
  type ContentRule,
  contentChecks,
  injectionCheck,
  schemaCheck,
  secretCheck,
  sizeCheck,
} from "./content-checks.ts";
export { envKeyring } from "./env-keyring.ts";
export { envSecrets } from "./env-secrets.ts";
export { fileKeyring } from "./file-keyring.ts";
export type { KeyContext, Keyring } from "./keyring.ts";
export { type KmsClient, type KmsOptions, kmsKeyring } from "./kms-keyring.ts";
export { signText, type VerifiedText, verifyText } from "./notes.ts";
export { packStore } from "./packed-store.ts";
export type { RotationOptions, RotationReport } from "./rotation.ts";
export { type SealedStore, type SealOptions, sealStore } from "./sealed-store.ts";
