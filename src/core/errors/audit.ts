import { entries, UNCHANGED } from "./entry.ts";

/** 32xx: the audit log, its keys, its anchors and what was found when it was verified. */
export const auditErrors = entries({
  "HF-3200": {
    what: "The audit key from {source} can't be used: {problem}.",
    why: "Tree heads and reports are signed with an Ed25519 key in the form of signed notes.",
    safe: "Nothing was signed. Runs go on, and their journals are unchanged.",
    fix: "Make a key with holdfast audit key, and keep it in HOLDFAST_AUDIT_KEY or in a file that only you can read.",
  },
  "HF-3201": {
    what: "This text can't be signed: {problem}.",
    why: "A signed note is plain text that ends with a line feed, and it must not pass for the head of a log.",
    safe: "Nothing was signed.",
    fix: "{fix}",
  },
  "HF-3202": {
    what: "The signature isn't valid: {problem}.",
    why: "A signed text counts only if a key that you trust has signed exactly these bytes.",
    safe: UNCHANGED,
    fix: "Ask its author for the text and the public key again, over another way than the text came.",
  },
});
