import type { Clock } from "./clock.ts";
import type { Ids } from "./ids.ts";
import type { Logger } from "./logger.ts";
import type { Processes } from "./process-proof.ts";
import type { Redactor } from "./values/redact.ts";
import type { SecretProvider } from "./values/secrets.ts";

/**
 * The named points of the protocol for crash tests, numbered as in docs/reliability.md. A probe is called at each;
 * production has none.
 */
export type Point =
  | "C01:before-create"
  | "C01:after-create"
  | "C02:claimed"
  | "C03:before-intent"
  | "C05:before-call"
  | "C07:after-call"
  | "C09:after-completion"
  | "C10:branch-done"
  | "C11:backoff"
  | "C12:before-snapshot"
  | "C12:after-snapshot"
  | "C15:pause-requested"
  | "C16:resumed"
  | "C17:before-cancel"
  | "C17:after-cancel"
  | "C21:recovering"
  | "C22:draining";

export type Probe = (point: Point, where: { readonly runId: string; readonly step?: string }) => void;

/** The impure parts that the engine is given. */
export interface Ports {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly probe: Probe;
  readonly processes: Processes;
  /** Keeps secrets out of everything written, if there is anything to look for. */
  readonly redactor?: Redactor | undefined;
  readonly secrets?: SecretProvider | undefined;
}
