import { entries, UNCHANGED } from "./entry.ts";

/** 32xx: the audit log, its keys, its anchors and what was found when it was verified. */
export const auditErrors = entries({
  "HF-3200": {
    what: "The audit key from {source} can't be used: {problem}.",
    why: "Tree heads and reports are signed with an Ed25519 key in the form of signed notes.",
    safe: "Nothing was signed. Runs continue, and their journals are unchanged.",
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
    fix: "Ask its author for the text and the public key again, through a channel other than the one the text came by.",
  },
  "HF-3203": {
    what: "There is no audit key.",
    why: "{verb} signs the head of the audit log, and this process was given no key to sign with.",
    safe: "Nothing was signed. Leaves of the log are kept all the same.",
    fix: "Set HOLDFAST_AUDIT_KEY or audit.key_file, or give createEngine an audit.key. holdfast audit key makes one.",
  },
  "HF-3204": {
    what: "The audit log is broken: {problem}.",
    why: "Its leaves and heads are only ever added, and what is there doesn't fit together. Somebody has changed the store, or a part of it is lost.",
    safe: "Nothing was signed over it. Runs continue, and their journals are unchanged.",
    fix: "Run holdfast audit verify with your anchors to see what is affected, keep a copy of the store as evidence, and restore it from a backup.",
  },
  "HF-3205": {
    what: "The audit key {key} isn't the one that signs this log now.",
    why: "The log has announced {current}, and another key counts only if that one has signed its announcement.",
    safe: "Nothing was signed.",
    fix: "Give this process the current key, or let the old key hand over: holdfast audit rotate --to-file <new key file>.",
  },
  "HF-3206": {
    what: "The {store} store keeps no audit log.",
    why: "Its leaves are documents, and this store keeps none.",
    safe: "Nothing was changed. The journals of runs are kept all the same.",
    fix: "Use one of Holdfast's own stores.",
  },
  "HF-3207": {
    what: "The head of the audit log couldn't be sent to {anchor}: {problem}.",
    why: "An anchor keeps signed heads out of reach of anyone who can write to the store.",
    safe: "The head is signed and stored. It is sent again with the next one.",
    fix: "Check the anchor's address, its credentials and whether it is reachable, then run holdfast audit anchor.",
  },
  "HF-3208": {
    what: "The audit log went back: {where} has a head over {anchored} leaves, and the store has {size}.",
    why: "A log only grows. The store was put back to an older copy, or its newest leaves were removed.",
    safe: "Nothing was signed and nothing was sent. The anchor still has the newer head.",
    fix: "If you have restored a backup, begin a new anchor and keep the old one as evidence of what was lost. Otherwise treat it as an intrusion.",
  },
  "HF-3209": {
    what: "The audit log couldn't be written to in {tries} attempts.",
    why: "Other processes kept writing first. An act that can't be recorded isn't carried out.",
    safe: "The act wasn't carried out.",
    fix: "Try again. If it persists, look for a process that writes to the log without pause.",
  },
  "HF-3210": {
    what: "{file} can't be read as {kind}: {problem}.",
    why: "The verifier reads bundles of holdfast audit export, and files of signed heads.",
    safe: "Nothing was changed.",
    fix: "Check the file's name, and make it again if it isn't whole.",
  },
  "HF-3211": {
    what: "The package {package} is not installed.",
    why: "The anchor in S3 needs it, and it isn't part of Holdfast.",
    safe: UNCHANGED,
    fix: "npm install {package}",
  },
});
