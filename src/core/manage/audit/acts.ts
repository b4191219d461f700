import type { AuditLog } from "../../audit/log.ts";
import type { Leaf } from "../../audit/proof/leaf.ts";
import { checkKeys, checkNumber, checkText, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { Store } from "../../store/contract.ts";
import { actPage } from "../reports/act-page.ts";

export interface AuditQuery {
  /** Epoch milliseconds. Default: the last 30 days. */
  readonly since?: number;
  readonly until?: number;
  /** Only what this person or program did. */
  readonly actor?: string;
  /** Only one kind of act, such as `token_created` or `pause_requested`. */
  readonly act?: string;
  /** Only acts on this run. */
  readonly run?: string;
  /** The most acts to return. Default 200. */
  readonly limit?: number;
}

/** One act: who, what, when, why. */
export interface AuditEntry {
  readonly at: number;
  readonly act: string;
  readonly actor: string | null;
  readonly reason: string | null;
  /** The run that it was done to, and its position in that run's journal. */
  readonly run: string | null;
  readonly seq: number | null;
  /** What else it was done to, such as `schedule nightly`. */
  readonly what: string | null;
  /** How the actor was known. */
  readonly auth: string | null;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
  /** Its leaf in the audit log; `null`: it is in the run's journal, which the log signs. */
  readonly leaf: number | null;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** True when there are more than these. */
  readonly more: boolean;
}

const MONTH_MS = 30 * 86_400_000;
const WINDOW = 200;
/** The most leaves to look at: most of a busy log are heads of runs. */
const MOST_LOOKED = 200_000;

/** What people and programs did: to the store, from the log, and to runs, from their journals. Newest first. */
export async function listActs(
  store: Store,
  log: AuditLog,
  query: AuditQuery,
  now: number,
): Promise<AuditPage> {
  checkKeys(query, ["since", "until", "actor", "act", "run", "limit"]);
  const { since = now - MONTH_MS, until = now + 1, actor, act, run, limit = 200 } = query;
  checkNumber("since", since, {});
  checkNumber("until", until, {});
  for (const [name, text] of Object.entries(defined({ actor, act, run }))) checkText(name, text, 1, 200);
  checkWhole("limit", limit, 1, 1_000);
  const found: AuditEntry[] = [];
  let isCut = false;
  if (log.isPossible) {
    await log.refresh();
    for (let to = log.size; to > 0 && found.length <= limit; to -= WINDOW) {
      const leaves = await log.window(Math.max(0, to - WINDOW), to);
      found.push(...leaves.filter((leaf) => isAct(leaf) && isWanted(leaf, query, since, until)).map(ofLeaf));
      const oldest = leaves.at(-1);
      if (oldest && oldest.at < since) break;
      isCut = log.size - to > MOST_LOOKED;
      if (isCut) break;
    }
  }
  const runs = await actPage(store, { since, until, limit, ...defined({ actor, kind: act }) });
  for (const { at, kind, actor: who, reason, run: id, seq, step, what } of runs.acts)
    if (run === undefined || run === id)
      found.push({
        ...EMPTY,
        at,
        act: kind,
        actor: who,
        run: id,
        seq,
        reason: reason ?? null,
        what: step || (what ?? null),
      });
  found.sort((a, b) => b.at - a.at);
  return { entries: found.slice(0, limit), more: isCut || runs.more || found.length > limit };
}

const EMPTY: AuditEntry = {
  at: 0,
  act: "",
  actor: null,
  reason: null,
  run: null,
  seq: null,
  what: null,
  auth: null,
  detail: {},
  leaf: null,
};

/** Positions of runs are leaves, too, but nobody's acts. */
const isAct = ({ act }: Leaf): boolean => act !== "run_head";

const isWanted = (leaf: Leaf, { actor, act, run }: AuditQuery, since: number, until: number): boolean =>
  leaf.at >= since &&
  leaf.at < until &&
  (actor === undefined || leaf.actor === actor) &&
  (act === undefined || leaf.act === act) &&
  (run === undefined || leaf.run === run);

const ofLeaf = ({ at, act, actor, reason, run, what, auth, detail, index, of }: Leaf): AuditEntry => ({
  ...EMPTY,
  at,
  act,
  actor: actor ?? null,
  reason: reason ?? null,
  run: run ?? null,
  what: what ?? (of === undefined ? null : `leaf ${of}`),
  auth: auth ?? null,
  detail: detail ?? {},
  leaf: index,
});
