import { type ErrorEntry, UNCHANGED } from "./entry.ts";

/** 3xxx: the store. */
export const storeErrors = {
  "HF-3002": {
    what: "The store did not take a write: {message}",
    why: "It failed or could not be reached for {ms} ms.",
    safe: "No step was started that is not recorded. The run goes on when the store is back.",
    fix: "Bring the store back; the run is picked up by itself.",
  },
  "HF-3003": {
    what: "The disk under {file} is full.",
    why: "The store could not grow.",
    safe: "Everything acknowledged is kept; no step was started that is not recorded.",
    fix: "Free some space; the run goes on by itself.",
  },
  "HF-3004": {
    what: "{file} cannot be written.",
    why: "{message}",
    safe: UNCHANGED,
    fix: "Give this process the right to write the file and its folder.",
  },
  "HF-3005": {
    what: "{file} was written by a newer Holdfast (schema {found}, this one knows {known}).",
    why: "An older version must not guess at a newer format.",
    safe: UNCHANGED,
    fix: "Upgrade Holdfast.",
  },
  "HF-3006": {
    what: "{file} is not a Holdfast database.",
    why: "{message}",
    safe: "The file was not touched.",
    fix: "Choose another file, or restore it from a backup.",
  },
  "HF-3007": {
    what: "SQLite {found} is too old; at least {needed} is needed.",
    why: "Before that, several connections on one WAL file can corrupt it.",
    safe: "The file was not opened.",
    fix: "Use a Node version whose SQLite is newer, or install @photostructure/sqlite.",
  },
  "HF-3008": {
    what: "No SQLite driver was found.",
    why: "{message}",
    safe: UNCHANGED,
    fix: "npm install @photostructure/sqlite",
  },
  "HF-3009": {
    what: "{file} stayed locked for {ms} ms.",
    why: "Another process holds the write lock.",
    safe: "Nothing was written.",
    fix: "Find the process that keeps a transaction open on this file.",
  },
  "HF-3010": {
    what: "The journal of run {run} is damaged at #{seq}.",
    why: "{problem}",
    safe: "Nothing after the damage was used, and nothing was started.",
    fix: "Restore the store from a backup, or fork the run from a checkpoint before the damage.",
  },
  "HF-3011": {
    what: "A stored value cannot be read: {problem}.",
    why: "It is not in the format this version writes.",
    safe: "No other value was put in its place.",
    fix: "Restore the store from a backup.",
  },
  "HF-3012": {
    what: "This store is closed.",
    why: "close() was called.",
    safe: "Everything acknowledged is kept.",
    fix: "Open the store again.",
  },
  "HF-3013": {
    what: "{file} failed: {message}",
    why: "An input/output error; what a failed sync has written is unknown.",
    safe: "The handle was given up; after reopening, each write in flight is looked up before anything goes on.",
    fix: "Check the disk.",
  },
  "HF-3014": {
    what: "{file} is damaged: {message}",
    why: "The store found data that is not as it wrote it.",
    safe: "Nothing more is written to the file.",
    fix: "Restore it from a backup; keep what is damaged for a look.",
  },
  "HF-3015": {
    what: "The package {package} is not installed.",
    why: "The {store} store needs it, and it is not part of Holdfast.",
    safe: UNCHANGED,
    fix: "npm install {package}",
  },
  "HF-3016": {
    what: "{place} refused the connection: {message}",
    why: "The login or the encryption asked for was not accepted.",
    safe: UNCHANGED,
    fix: "Check user, password, and TLS settings.",
  },
  "HF-3017": {
    what: "The bundle was not imported: it {problem}.",
    why: "What it says about itself is not what it holds, or it does not fit this store.",
    safe: "Nothing of it was imported.",
    fix: "Export the run again; check the signature and that the file is whole.",
  },
} as const satisfies Record<string, ErrorEntry>;
