import type { ErrorDocument } from "./error-document.ts";
import type { ExitCode } from "./exit-codes.ts";

/** A command's result. The command itself prints nothing of it. */
export interface Outcome {
  /** Default 0. */
  readonly exit?: ExitCode;
  /** The body of the `--json` document. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The text for people on standard output. */
  readonly text?: string;
  /** True when the text is a value or a script, which is printed as it is however narrow the terminal. */
  readonly isValue?: boolean;
  /** Set when the command succeeded but its subject has failed: reported like any error, beside the data. */
  readonly error?: ErrorDocument;
  /** Sensible next commands; shown to coding agents. */
  readonly next?: readonly string[];
}
