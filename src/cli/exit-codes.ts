import type { ErrorCode } from "../core/errors.ts";

/** The exit codes of the process. Stable: schedulers and scripts rely on them. */
export const EXIT = {
  done: 0,
  /** The run failed for good. */
  failed: 1,
  usage: 2,
  /** A workflow or the configuration isn't valid. */
  invalid: 3,
  /** Not found, or ambiguous. */
  notFound: 4,
  /** The store can't be reached or used. */
  store: 5,
  /** Stored data is damaged. */
  integrity: 6,
  /** Another live process has the run. */
  owned: 7,
  /** A role, a reason or consent is missing, or the run's state doesn't allow it. */
  refused: 8,
  /** Not finished, but resumable: a scheduler may simply retry. */
  resumable: 75,
  /** Ctrl-C; finished work is saved. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** By the first digit of the code: true for most errors of a kind. */
const BY_KIND: Readonly<Record<string, ExitCode>> = {
  "HF-1": EXIT.refused,
  "HF-2": EXIT.resumable,
  "HF-3": EXIT.store,
  "HF-4": EXIT.invalid,
  "HF-5": EXIT.refused,
  "HF-6": EXIT.refused,
};

const EXCEPTIONS: Partial<Record<ErrorCode, ExitCode>> = {
  "HF-1001": EXIT.notFound,
  "HF-1002": EXIT.usage,
  "HF-1003": EXIT.usage,
  "HF-1004": EXIT.usage,
  "HF-1005": EXIT.invalid,
  "HF-1060": EXIT.invalid,
  "HF-1008": EXIT.failed,
  "HF-1009": EXIT.failed,
  "HF-1010": EXIT.notFound,
  "HF-1012": EXIT.resumable,
  "HF-1013": EXIT.notFound,
  "HF-1015": EXIT.usage,
  "HF-1017": EXIT.invalid,
  "HF-1018": EXIT.invalid,
  "HF-1019": EXIT.invalid,
  "HF-1021": EXIT.usage,
  "HF-1022": EXIT.notFound,
  "HF-1023": EXIT.notFound,
  "HF-1025": EXIT.resumable,
  "HF-1026": EXIT.notFound,
  "HF-1033": EXIT.invalid,
  "HF-2001": EXIT.failed,
  "HF-2002": EXIT.failed,
  "HF-2110": EXIT.failed,
  "HF-2115": EXIT.invalid,
  "HF-1050": EXIT.usage,
  "HF-3052": EXIT.notFound,
  "HF-3010": EXIT.integrity,
  "HF-3011": EXIT.integrity,
  "HF-3014": EXIT.integrity,
  "HF-3017": EXIT.integrity,
  "HF-3031": EXIT.invalid,
  "HF-3032": EXIT.invalid,
  "HF-3033": EXIT.invalid,
  "HF-3034": EXIT.invalid,
  "HF-3035": EXIT.invalid,
  "HF-3040": EXIT.invalid,
  "HF-3060": EXIT.refused,
  "HF-3061": EXIT.refused,
  "HF-3062": EXIT.invalid,
  "HF-3100": EXIT.refused,
  "HF-4004": EXIT.usage,
  "HF-4300": EXIT.usage,
  "HF-4301": EXIT.usage,
  "HF-4302": EXIT.notFound,
  "HF-4303": EXIT.notFound,
  "HF-4308": EXIT.notFound,
  "HF-4310": EXIT.notFound,
  "HF-4508": EXIT.notFound,
  "HF-4311": EXIT.owned,
  "HF-4312": EXIT.refused,
  "HF-4313": EXIT.refused,
  "HF-4314": EXIT.refused,
  "HF-4315": EXIT.resumable,
  "HF-4316": EXIT.usage,
  "HF-4321": EXIT.notFound,
  "HF-4323": EXIT.refused,
  "HF-4324": EXIT.usage,
  "HF-4333": EXIT.refused,
  "HF-4334": EXIT.refused,
  "HF-4350": EXIT.notFound,
  "HF-4351": EXIT.notFound,
  "HF-4352": EXIT.notFound,
  "HF-4353": EXIT.usage,
  "HF-4354": EXIT.usage,
  "HF-4355": EXIT.usage,
  "HF-4356": EXIT.refused,
  "HF-4357": EXIT.usage,
  "HF-4359": EXIT.integrity,
  "HF-4360": EXIT.store,
  "HF-5001": EXIT.notFound,
  "HF-5100": EXIT.notFound,
  "HF-5101": EXIT.usage,
  "HF-5102": EXIT.usage,
  "HF-5103": EXIT.usage,
  "HF-5105": EXIT.usage,
  "HF-5106": EXIT.notFound,
  "HF-5109": EXIT.failed,
  "HF-5110": EXIT.failed,
  "HF-5111": EXIT.integrity,
  "HF-5112": EXIT.usage,
  "HF-5120": EXIT.notFound,
  "HF-5121": EXIT.usage,
  "HF-5122": EXIT.resumable,
  "HF-6059": EXIT.usage,
  "HF-6061": EXIT.notFound,
  "HF-6062": EXIT.usage,
  "HF-4366": EXIT.usage,
  "HF-4367": EXIT.resumable,
  "HF-4368": EXIT.resumable,
  "HF-6063": EXIT.invalid,
  "HF-6066": EXIT.failed,
  "HF-6120": EXIT.notFound,
  "HF-6124": EXIT.invalid,
};

/** The exit code for an error. */
export function exitCodeOf(code: ErrorCode): ExitCode {
  return EXCEPTIONS[code] ?? BY_KIND[code.slice(0, 4)] ?? EXIT.failed;
}
