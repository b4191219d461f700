import { createCarrier } from "../carrier.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { AuditLog, LeafDraft } from "./log.ts";

/** Something that somebody did to the store, and that no run's journal holds. */
export interface StoreAct {
  /** A past participle with its object, such as `schedule_paused`. */
  readonly act: string;
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  /** What it was done to, such as `schedule nightly`. */
  readonly what?: string;
  readonly run?: string;
  /** How the actor was known, such as `token 4x8…`. */
  readonly auth?: string | undefined;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/** Records acts in the audit log. */
export interface AuditRecorder {
  /** Records an act; returns its leaf, or `null` in a store that keeps no log. */
  record(act: StoreAct): Promise<number | null>;
  /** True while an act is carried out that was recorded. */
  readonly isCarrying: boolean;
  /**
   * Records an act, then does it. What can't be recorded isn't done. If it fails, a second leaf says so, with the error's
   * code. An act that is part of another one isn't recorded again.
   */
  carry<T>(act: StoreAct, work: () => Promise<T>): Promise<T>;
}

/** Set while an act is carried out that the log has. */
const carried = createCarrier<true>();

export function auditRecorder(log: AuditLog): AuditRecorder {
  const record = async (act: StoreAct): Promise<number | null> =>
    log.isPossible ? log.append(() => [draftOf(act)]) : null;
  return {
    record,
    get isCarrying() {
      return carried.get() === true;
    },
    async carry(act, work) {
      if (carried.get()) return work();
      const of = await record(act);
      try {
        return await carried.run(true, work);
      } catch (error) {
        const failed = { act: "act_failed", detail: { code: codeOf(error) }, ...(of === null ? {} : { of }) };
        // The error itself is what the caller must hear of.
        if (of !== null) await log.append(() => [failed]).catch(() => null);
        throw error;
      }
    },
  };
}

const codeOf = (error: unknown): string => (HoldfastError.is(error) ? error.code : "unknown");

const draftOf = ({ act, actor, reason, what, run, auth, detail }: StoreAct): LeafDraft => ({
  act,
  ...defined({ actor, reason, what, run, auth, detail }),
});
