import {
  badOption,
  checkFunction,
  checkKeys,
  checkNumber,
  checkObject,
  checkText,
  checkWhole,
} from "../check-options.ts";
import type { AuditAnchor } from "./anchors.ts";
import { type NoteSigner, parsePublicKey } from "./proof/note.ts";

/** How the audit log is signed, and where its heads go. */
export interface AuditOptions {
  /** Signs tree heads: `auditKey(text)`, `envAuditKey()` or `fileAuditKey(file)` of `holdfast/security`, or your own. */
  readonly key?: NoteSigner;
  /** Where signed heads go besides the store. */
  readonly anchors?: readonly AuditAnchor[];
  /** A head is signed at least this often while something happens. Default 60 s. */
  readonly everyMs?: number;
  /** A head is signed after this many events of this process, but takes less than a hundredth of its time. Default 1,000. */
  readonly events?: number;
}

/** Refuses options that aren't valid (HF-1003). */
export function checkAudit(audit: AuditOptions): AuditOptions {
  checkObject("audit", audit);
  checkKeys(audit, ["key", "anchors", "everyMs", "events"], "audit");
  const { key, anchors = [], everyMs, events } = audit;
  if (key !== undefined) {
    checkObject("audit.key", key, "an audit key");
    checkFunction("audit.key.sign", (key as { readonly sign: unknown }).sign);
    if (!parsePublicKey(checkText("audit.key.publicKey", key.publicKey, 1)))
      throw badOption("audit.key.publicKey", "it must be of the form name+id+base64");
  }
  if (!Array.isArray(anchors)) throw badOption("audit.anchors", "it must be a list");
  for (const anchor of anchors as readonly AuditAnchor[]) {
    checkObject("audit.anchors", anchor, "a list of anchors");
    checkText("audit.anchors.name", anchor.name, 1, 200);
    checkFunction("audit.anchors.send", (anchor as { readonly send: unknown }).send);
  }
  if (everyMs !== undefined) checkNumber("audit.everyMs", everyMs);
  if (events !== undefined) checkWhole("audit.events", events);
  return audit;
}
