import type { AuditRecorder, StoreAct } from "../../core/audit/record.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Declared } from "../contract/declare.ts";
import type { OperationId } from "../contract/paths.ts";
import type { Principal } from "./permission.ts";

/** What the log calls it by. */
export interface Named {
  readonly id: string;
}

type Params = Readonly<Record<string, string>>;

/** Acts on one run that its journal doesn't hold afterwards. */
const LEAVES_NO_JOURNAL: ReadonlySet<OperationId> = new Set(["deleteRun", "exportRun"] as const);

/** Recorded by the library itself, or of no interest: what somebody likes to see. */
const NOT_RECORDED: ReadonlySet<OperationId> = new Set([
  "startRun",
  "actOnRuns",
  "putView",
  "deleteView",
  "previewSchedule",
  "previewRetention",
  "anchorAudit",
] as const);

/** True for an act that no run's journal holds, so that the audit log must. */
export const isStoreAct = ({ id, about }: Declared, isAct: boolean): boolean =>
  LEAVES_NO_JOURNAL.has(id) || (isAct && about !== "run" && !NOT_RECORDED.has(id));

/** What the audit log says of a request. */
export function storeAct(
  { id }: Named,
  { actor, credential }: Principal,
  { run, ...params }: Params,
  reason: string | undefined,
): StoreAct {
  const what = Object.values(params).join(" ").slice(0, 200) || undefined;
  return { act: wordsOf(id), actor, ...defined({ reason, run, what, auth: credential }) };
}

/** `createToken` is `create_token` in the log. */
const wordsOf = (id: string): string => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Records that somebody was refused, then refuses them. */
export async function recordDenial(
  audit: AuditRecorder,
  operation: Named,
  principal: Principal,
  params: Params,
  error: unknown,
): Promise<never> {
  if (HoldfastError.is(error, "HF-6051"))
    await audit.record({
      ...storeAct(operation, principal, params, undefined),
      act: "access_denied",
      detail: { operation: operation.id },
    });
  throw error;
}
