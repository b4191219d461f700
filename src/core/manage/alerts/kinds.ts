import { type Severity, SLO_NAMES, type SloName } from "../slo/targets.ts";

/** Why somebody is called. Each has a page of the same name among the runbooks. */
export const ALERT_KINDS = [
  "store-away",
  "chain-broken",
  "in-doubt",
  "recovery-loop",
  "run-stalled",
  "run-failed",
  "run-held",
  "gate-waiting",
  "budget",
  "anchor-late",
  ...SLO_NAMES.map((name): `slo-${SloName}` => `slo-${name}`),
  "test",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** How urgent a new alert is. An alert of a service level is as urgent as its target says. */
export const SEVERITIES: Readonly<Record<Exclude<AlertKind, `slo-${SloName}`>, Severity>> = {
  "store-away": "P1",
  "chain-broken": "P1",
  "in-doubt": "P1",
  "recovery-loop": "P1",
  "run-stalled": "P2",
  "run-failed": "P2",
  "run-held": "P2",
  "gate-waiting": "P2",
  budget: "P2",
  "anchor-late": "P2",
  test: "P2",
};

/** The cause of an alert, as seen now. */
export interface Cause {
  /** The same cause has the same key, however often it is seen and by whom. */
  readonly key: string;
  readonly kind: AlertKind;
  readonly severity: Severity;
  /** One sentence for people. */
  readonly summary: string;
  /** Since when, on the store's clock. */
  readonly since: number;
  readonly run: string | null;
  readonly workflow: string | null;
}
