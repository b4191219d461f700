import { HoldfastError } from "../../errors.ts";
import type { Store } from "../../store/contract.ts";
import type { PolicyRules } from "./policy.ts";
import type { RetentionReport } from "./report.ts";

/**
 * Tells the store how long copies of runs stay in its cache. Without a cache, that is refused (HF-1033), or reported as
 * having no effect if only a preset asks for it.
 */
export function limitCopies(
  store: Store,
  rules: PolicyRules,
  writes: boolean,
): NonNullable<RetentionReport["withoutEffect"]> {
  if (rules.every.every(({ cacheTtl }) => cacheTtl === undefined)) return [];
  if (!store.setCacheTtl) {
    if (rules.written.has("cacheTtl")) throw new HoldfastError("HF-1033", { store: store.name });
    return ["cacheTtl"];
  }
  if (writes) store.setCacheTtl((workflow) => rules.of(workflow).cacheTtl);
  return [];
}
