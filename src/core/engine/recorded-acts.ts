import type { AuditRecorder, StoreAct } from "../audit/record.ts";
import type { Prices } from "../flow/prices.ts";
import type { Queues } from "../flow/queues.ts";
import type { RateLimits } from "../flow/rate-limits.ts";
import type { Schedules } from "../flow/schedules.ts";
import { isAct } from "../journal/act.ts";
import type { Alerts } from "../manage/alerts/alerts.ts";
import type { Audit } from "../manage/audit/audit.ts";
import type { DeleteOptions, DeleteReport } from "../manage/retention/delete.ts";
import type { Retention } from "../manage/retention/retention.ts";
import type { Slo } from "../manage/slo/slo.ts";
import type { Transfer } from "../manage/transfer/transfer.ts";

/** The parts of an engine whose verbs act on the store. */
interface StoreVerbs {
  readonly audit: Audit;
  readonly schedules: Schedules;
  readonly queues: Queues;
  readonly rateLimits: RateLimits;
  readonly retention: Retention;
  readonly transfer: Transfer;
  readonly alerts: Alerts;
  readonly slo: Slo;
  readonly prices: Prices;
  delete(runId: string, options?: DeleteOptions): Promise<DeleteReport>;
}

type Verb = (...args: never[]) => Promise<unknown>;
type Verbs<T> = { [K in keyof T]: T[K] extends Verb ? K : never }[keyof T];
type Described<T, K extends keyof T> = T[K] extends (...args: infer A) => unknown
  ? (...args: A) => Omit<StoreAct, "act"> | null
  : never;

/**
 * Lets what is done to the store itself be recorded in its audit log, whoever calls: a program, the command line or the
 * API. Acts on one run are in its journal. The names are those of the API's operations; what the API has recorded with
 * its credential isn't recorded a second time.
 */
export function recordStoreActs(engine: StoreVerbs): void {
  const { audit, schedules, queues, rateLimits, retention, transfer, alerts, slo, prices } = engine;
  const on = <T extends object, K extends Verbs<T>>(holder: T, verb: K, act: string, said: Described<T, K>) =>
    recorded(audit, holder, verb, act, said as never);
  on(engine, "delete", "delete_run", (run, act) => ({ run, ...whoOf(act) }));
  // Without an actor it is the policy's own work, and each run's journal says so.
  on(retention, "prune", "prune_values", (_, act) => (act?.actor === undefined ? null : whoOf(act)));
  on(transfer, "importRuns", "import_runs", (_, act) => whoOf(act?.actor === undefined ? act?.accept : act));
  recordExports(engine);
  on(schedules, "create", "create_schedule", (what, _, act) => ({ what, ...whoOf(act) }));
  on(schedules, "update", "update_schedule", (what, _, act) => ({ what, ...whoOf(act) }));
  on(schedules, "delete", "delete_schedule", (what, act) => ({ what, ...whoOf(act) }));
  on(schedules, "pause", "pause_schedule", (what, act) => ({ what, ...whoOf(act) }));
  on(schedules, "resume", "resume_schedule", (what, act) => ({ what, ...whoOf(act) }));
  on(schedules, "trigger", "trigger_schedule", (what, act) => ({ what, ...whoOf(act) }));
  on(schedules, "backfill", "backfill_schedule", (what, _, act) => ({ what, ...whoOf(act) }));
  on(queues, "set", "set_queue", (what, _, act) => ({ what, ...whoOf(act) }));
  on(queues, "delete", "delete_queue", (what, act) => ({ what, ...whoOf(act) }));
  on(queues, "pause", "pause_queue", (what, act) => ({ what, ...whoOf(act) }));
  on(queues, "resume", "resume_queue", (what, act) => ({ what, ...whoOf(act) }));
  on(rateLimits, "set", "set_rate_limit", (what, _, act) => ({ what, ...whoOf(act) }));
  on(rateLimits, "delete", "delete_rate_limit", (what, act) => ({ what, ...whoOf(act) }));
  on(rateLimits, "hold", "hold_rate_limit", (what, _, act) => ({ what, ...whoOf(act) }));
  on(prices, "set", "set_price", (what, _, act) => ({ what, ...whoOf(act) }));
  on(prices, "delete", "delete_price", (what, act) => ({ what, ...whoOf(act) }));
  on(alerts, "ack", "ack_alert", (what, act) => ({ what, ...whoOf(act) }));
  on(alerts.budgets, "set", "set_budget", (what, _, act) => ({ what, ...whoOf(act) }));
  on(alerts.budgets, "delete", "delete_budget", (what, act) => ({ what, ...whoOf(act) }));
  on(slo, "setTarget", "set_slo_target", (what, _, act) => ({ what, ...whoOf(act) }));
}

function recorded<T extends object>(
  audit: AuditRecorder,
  holder: T,
  verb: keyof T,
  act: string,
  said: (...args: unknown[]) => Omit<StoreAct, "act"> | null,
): void {
  const original = holder[verb] as (...args: unknown[]) => Promise<unknown>;
  const value = async (...args: unknown[]): Promise<unknown> => {
    const work = async (): Promise<unknown> => original.apply(holder, args);
    const about = said(...args);
    // The verb itself says what is wrong with its arguments.
    return about && isSaid(about) ? audit.carry({ act, ...about }, work) : work();
  };
  Object.defineProperty(holder, verb, { value, configurable: true, writable: true });
}

/** A bundle is read while it is sent, so that it is recorded before its first line. */
function recordExports({ audit, transfer }: StoreVerbs): void {
  const original = transfer.exportRun.bind(transfer);
  transfer.exportRun = (run, options) => {
    const about = { run, ...whoOf(options) };
    const isOwn = isSaid(about) && !audit.isCarrying;
    return (async function* () {
      if (isOwn) await audit.record({ act: "export_run", ...about });
      yield* original(run, options);
    })();
  };
}

/** Who acts, and why, out of the options of a verb. */
function whoOf(given: unknown): Pick<StoreAct, "actor" | "reason"> {
  const { actor, reason } = Object(given) as { readonly actor?: unknown; readonly reason?: unknown };
  return {
    ...(actor === undefined ? {} : { actor: actor as string }),
    ...(reason === undefined ? {} : { reason: reason as string }),
  };
}

const MOST = 200;

const isSaid = ({ actor, reason, what, run }: Omit<StoreAct, "act">): boolean =>
  isAct({ ...(actor === undefined ? {} : { actor }), ...(reason === undefined ? {} : { reason }) }) &&
  [what ?? "", run ?? ""].every((text) => typeof text === "string" && text.length <= MOST);
