import { entries, UNCHANGED } from "./entry.ts";

/** 615x: evidence for auditors. */
export const evidenceErrors = entries({
  "HF-6150": {
    what: "{file} can't be included as a recovery drill: {problem}.",
    why: "Only the JSON report of a crash test has the figures that evidence needs.",
    safe: UNCHANGED,
    fix: "holdfast crash-test <workflow> --report json=drill.json",
  },
  "HF-6151": {
    what: "{file} can't be checked: {problem}.",
    why: "Signed evidence is a note that lists its files with their SHA-256, beside those files.",
    safe: UNCHANGED,
    fix: "Unpack the whole bundle into one folder, then: holdfast report verify <file>.note --key <public-key>",
  },
});
