/**
 * Every error that a person can meet: what happened, why, what is safe, how to fix it. The same four lines appear in
 * the library, the CLI, the API and the UI. `{name}` is filled from the error's detail. "safe" may only state what the
 * journal proves.
 */
import { accessErrors } from "./errors/access.ts";
import { agentErrors } from "./errors/agents.ts";
import { auditErrors } from "./errors/audit.ts";
import { callErrors } from "./errors/calls.ts";
import { checkpointerErrors } from "./errors/checkpointers.ts";
import { dagErrors } from "./errors/dags.ts";
import type { ErrorEntry } from "./errors/entry.ts";
import { evidenceErrors } from "./errors/evidence.ts";
import { fileErrors } from "./errors/files.ts";
import { flowErrors } from "./errors/flow.ts";
import { frameworkErrors } from "./errors/frameworks.ts";
import { interpreterErrors } from "./errors/interpreters.ts";
import { operateErrors } from "./errors/operate.ts";
import { runErrors } from "./errors/runs.ts";
import { serverErrors } from "./errors/server.ts";
import { storeErrors } from "./errors/stores.ts";
import { streamErrors } from "./errors/streams.ts";
import { teamErrors } from "./errors/teams.ts";
import { temporalErrors } from "./errors/temporal.ts";
import { threadErrors } from "./errors/threads.ts";
import { placeOf, placeText } from "./values/stack.ts";

export const errorTable = {
  ...callErrors,
  ...runErrors,
  ...agentErrors,
  ...checkpointerErrors,
  ...storeErrors,
  ...auditErrors,
  ...fileErrors,
  ...dagErrors,
  ...teamErrors,
  ...accessErrors,
  ...serverErrors,
  ...flowErrors,
  ...evidenceErrors,
  ...frameworkErrors,
  ...threadErrors,
  ...streamErrors,
  ...operateErrors,
  ...temporalErrors,
  ...interpreterErrors,
} satisfies Record<string, ErrorEntry>;

/** A stable error code such as `HF-1001`. */
export type ErrorCode = keyof typeof errorTable;

type Detail = Readonly<Record<string, string | number>>;

/** A text that already ends like a sentence replaces the template's full stop. */
const fill = (text: string, detail: Detail): string =>
  text.replace(/\{(\w+)\}(\.?)/g, (whole, name: string, stop: string) => {
    const value = detail[name];
    if (value === undefined) return whole;
    return stop !== "" && /[.!?…]$/.test(String(value)) ? String(value) : `${value}${stop}`;
  });

/**
 * The one error class of Holdfast.
 *
 * @example
 * ```ts
 * import { HoldfastError } from "holdfast";
 *
 * export function isUnknownRun(error: unknown): boolean {
 *   return HoldfastError.is(error, "HF-1001");
 * }
 * ```
 */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly code: ErrorCode;
  readonly why: string;
  readonly safe: string;
  readonly fix: string;
  readonly detail: Detail;
  readonly retryable = false;

  /**
   * Where in your own code it was thrown: `/app/flow.ts:12:5`. Taken from its innermost cause that has a place;
   * `undefined` when no file of yours was involved.
   */
  get at(): string | undefined {
    const place = placeOf(this);
    return place && placeText(place);
  }

  constructor(code: ErrorCode, detail: Detail = {}, options?: { cause?: unknown }) {
    const entry = errorTable[code];
    super(fill(entry.what, detail), options);
    this.code = code;
    this.why = fill(entry.why, detail);
    this.safe = fill(entry.safe, detail);
    this.fix = fill(entry.fix, detail);
    this.detail = detail;
  }

  /** Recognises the class by name and code, so that two copies of the package agree. */
  static is(error: unknown, code?: ErrorCode): error is HoldfastError {
    try {
      if (!(error instanceof Error) || error.name !== "HoldfastError" || !("code" in error)) return false;
      return code === undefined || error.code === code;
    } catch {
      // The value refuses to be examined.
      return false;
    }
  }
}

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code);

/** The table's entry for a code, with its placeholders, for `holdfast explain`. */
export function explainError(code: string): ErrorEntry | undefined {
  return isErrorCode(code) ? errorTable[code] : undefined;
}
