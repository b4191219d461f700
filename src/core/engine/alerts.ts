import type { EngineParts } from "../journal/parts.ts";
import { Alerts } from "../manage/alerts/alerts.ts";
import { auditSource } from "../manage/alerts/audit-source.ts";
import type { Audit } from "../manage/audit/audit.ts";
import { Slo } from "../manage/slo/slo.ts";
import type { StoreHealth } from "../store/health.ts";
import type { EngineOptions } from "./options.ts";

/** The service levels and alerts of an engine, with all places where causes are looked for. */
export function engineAlerts(
  parts: EngineParts,
  owner: string,
  health: StoreHealth,
  audit: Pick<Audit, "health">,
  { alerts }: Pick<EngineOptions, "alerts">,
): { readonly slo: Slo; readonly alerts: Alerts } {
  const slo = new Slo(parts, health.writes);
  const owned = { parts, owner, slo, storeState: () => health.store, sources: [auditSource(audit)] };
  return { slo, alerts: new Alerts(owned, alerts) };
}
