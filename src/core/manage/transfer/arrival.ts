import { defined } from "../../defined.ts";
import { fingerprint } from "../../hash.ts";
import { type Act, because } from "../../journal/act.ts";
import { type Acted, buildAct } from "../../journal/acts.ts";
import type { EventDraft } from "../../journal/events.ts";
import { foreignProblem } from "../../journal/foreign.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { forReview } from "../../journal/wait-reason.ts";
import type { Append } from "../../store/contract.ts";
import { ended, type RunRow } from "../../types.ts";
import { arrivedRecords } from "./arrived-records.ts";
import type { Bundle } from "./bundle.ts";
import type { CheckedRun } from "./bundle-check.ts";
import type { ComingBack } from "./coming-back.ts";

/** How a run arrives: its source, and who accepts it here. */
export interface Arrival extends Pick<Bundle, "from" | "digest" | "isTrusted"> {
  /** Set when it is accepted together with the import. */
  readonly accept?: Act | undefined;
  /** Set for a run that is here already: what happened elsewhere is added to it. */
  readonly back?: ComingBack | undefined;
}

export interface Arrived extends Acted {
  readonly append: Append;
  /** True when it does nothing here until it is accepted. */
  readonly isHeld: boolean;
}

/**
 * The write that creates a run here, or brings one that comes back up to date: every entry as it was, and one more that
 * says where it came from. It is unclaimed, and unless its signature is trusted or a person accepts it, it waits until
 * a person has seen what it would execute.
 */
export function arrive(
  { store, time, ports }: Pick<EngineParts, "store" | "time" | "ports">,
  { run, row }: CheckedRun,
  { from, digest, isTrusted, accept, back }: Arrival,
): Arrived {
  const isHeld = !isTrusted && accept === undefined;
  const at = time.now();
  const held = isHeld ? { held: true as const } : {};
  const waiting = isHeld && !ended(row.status) ? { waiting: [forReview(foreignProblem(row.id), at)] } : {};
  const meta = { from: fingerprint(from), bundle: digest, was: row.status, ...held, ...waiting };
  const events: EventDraft[] = [{ kind: "run_imported", step: "", meta }];
  const release = { kind: "release", epoch: row.claim.epoch } as const;
  const plan = { events: accept ? [...events, accepted(digest, row, accept)] : events, actor: accept?.actor };
  const how = { at, blinding: store.blinding, redactor: ports.redactor };
  const expect = back ? { seq: back.here.seq, epoch: back.here.claim.epoch, token: null } : null;
  const changes = { ...plan, claim: release, ...defined({ drop: back?.drop }) };
  const { append, ...acted } = buildAct(row, changes, expect, how);
  const blobs = [...run.blobs].map(([hash, data]) => ({ hash, data }));
  const entries = back ? run.entries.filter(({ seq }) => seq > back.here.seq) : run.entries;
  // A run that nobody here has accepted shows nothing to other programs either.
  const records = isHeld ? [] : arrivedRecords(store, { ...run, id: row.id, entries });
  return {
    ...acted,
    isHeld,
    append: { ...append, entries: [...entries, ...append.entries], blobs, records },
  };
}

/** A person lets it continue; what they have seen has this digest. */
export const accepted = (digest: string, was: Pick<RunRow, "status">, act: Act): EventDraft => ({
  kind: "import_accepted",
  step: "",
  meta: { digest, ...(was.status === "paused" ? { paused: true } : {}), ...because(act) },
});
