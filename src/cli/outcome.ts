import type { ErrorDocument } from "./error-document.ts";
import type { ExitCode } from "./exit-codes.ts";

/** What a command answers. It prints nothing of this itself. */
export interface Outcome {
  /** Default 0. */
  readonly exit?: ExitCode;
  /** The body of the `--json` document. */
  readonly data: Readonly<Record<string, unknown>>;
  /** What a person reads on standard output. */
  readonly text?: string;
  /** It was done as asked, and what it was done to has failed: told like any error, beside the data. */
  readonly error?: ErrorDocument;
  /** Commands that make sense now; shown to coding agents. */
  readonly next?: readonly string[];
}
