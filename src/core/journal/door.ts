import { HoldfastError } from "../errors.ts";
import { digest } from "../hash.ts";
import type { Entry, Store } from "../store/contract.ts";
import { ended, type RunRow } from "../types.ts";
import { encode } from "../values/codec.ts";
import type { EventKind, JournalEvent } from "./events.ts";
import { ChainCheck, damaged, dropped, type ParsedEntry, parseEntry } from "./journal.ts";
import { keepRow, knownRow } from "./known-rows.ts";
import { projectRow } from "./project.ts";
import { copiedRow } from "./row-copy.ts";
import { damagedRow, readableRow, shownRow, unknownRow } from "./row-shape.ts";
import { isDamage, isKeyAway } from "./unreadable.ts";

/**
 * The only way to read a stored run. A row is a copy of what its journal adds up to, and is never trusted over it:
 * every read compares the row with the journal's last entry. A row that doesn't verify is returned as damaged, and
 * waits for review (HF-3010). For a healthy run this takes two reads, however long its journal is; the whole chain is
 * checked when the run is restored.
 */
export async function readRun(store: Store, runId: string): Promise<RunRow | null> {
  const row = await rawRow(store, runId);
  return row && verified(store, row);
}

/** Verifies a row that was already read; returns the current one. */
export async function verified(store: Store, row: RunRow): Promise<RunRow> {
  let now = readableRow({ id: row.id }, () => row);
  for (let tries = 1; ; tries++) {
    if (now.damage !== undefined) return now;
    const problem = rowProblem(now) ?? (await journalProblem(store, now));
    if (problem === undefined) return now;
    // The run may have moved between the two reads; then its new state is checked.
    const next = await rawRow(store, now.id);
    if (next === null || isSame(next, now)) return damagedRow(next ?? now, problem);
    // A run that is written faster than it can be read twice has a worker that compares every write with the head.
    if (tries === MOST_TRIES) return next;
    now = next;
  }
}

const MOST_TRIES = 20;

const isSame = (a: RunRow, b: RunRow): boolean =>
  a.seq === b.seq && a.head === b.head && a.status === b.status && a.control === b.control;

/** The store's row. If the store reports damage, a row of which nothing is known. */
export async function rawRow(store: Store, runId: string): Promise<RunRow | null> {
  try {
    const row = await store.read(runId);
    return row && readableRow({ id: runId }, () => row);
  } catch (error) {
    if (isDamage(error)) return unknownRow(runId, error);
    throw error;
  }
}

/** A run, to be shown. */
export async function readShown(store: Store, runId: string): Promise<RunRow | null> {
  const row = await readRun(store, runId);
  return row && shownRow(row);
}

/** A listed row, to be shown, checked as far as possible without its journal. */
export function listed(row: RunRow): RunRow {
  const seen = readableRow({ id: row.id }, () => row);
  const problem = seen.damage === undefined ? rowProblem(seen) : undefined;
  return problem === undefined ? shownRow(seen) : damagedRow(seen, problem);
}

/** A problem in the row that no journal could produce. */
function rowProblem(row: RunRow): string | undefined {
  const { status, control, waiting, wakeAt, finishedAt, prunedAt, updatedAt, claim, seq, snapshotSeq } = row;
  const isOver = ended(status);
  const says = (what: string): string => `The run's row is ${status} and ${what}.`;
  if (seq < 1 || snapshotSeq > seq) return `The run's row names a position that cannot be: #${seq}.`;
  if (finishedAt !== undefined && isOver !== (finishedAt !== null))
    return says(finishedAt === null ? "has no end" : "has an end");
  // Only a run that has ended loses all of its values.
  if (prunedAt !== null && !isOver) return says("has lost its values");
  if ((isOver || status === "paused") && (waiting.length > 0 || control !== "none"))
    return says("has something left to do");
  if (status === "waiting" && waiting.length === 0) return says("names nothing it waits for");
  if (status === "paused" && wakeAt !== null) return says("wakes by itself");
  if ((status === "queued" || status === "running") && (wakeAt === null || wakeAt > updatedAt))
    return says("is never due");
  if ((claim.token === null) !== (claim.owner === null) || (claim.token === null && claim.until !== 0))
    return says("is claimed by nobody");
  return undefined;
}

/** How the journal's end differs from the row. An active run that was checked before is followed from there. */
async function journalProblem(store: Store, row: RunRow): Promise<string | undefined> {
  const isUnderWay = row.status === "running" || row.status === "queued";
  const before = isUnderWay ? knownRow(store, row.id) : undefined;
  const followed = before && (await following(store, before, row));
  const isSound = followed !== undefined && standing(followed) === standing(row);
  const problem = isSound ? undefined : await tailProblem(store, row);
  if (problem === undefined && followed && !isSound) return contrary(row, followed);
  if (problem === undefined && isUnderWay) keepRow(store, row);
  return problem;
}

/**
 * The row that the journal makes of the previous one, up to its end; `undefined` when that can't be computed, and the
 * other checks find the reason.
 */
async function following(store: Store, before: RunRow, row: RunRow): Promise<RunRow | undefined> {
  if (row.seq < before.seq) return undefined;
  try {
    const most = Math.min(row.seq - before.seq, FAR);
    const [first, ...since] = await store.entries(row.id, { from: before.seq, limit: most + 2 });
    const isStill = first && first.seq + first.count - 1 === before.seq && digest(first.head) === before.head;
    if (!isStill) return undefined;
    parseEntry(row.id, first);
    const chain = new ChainCheck(row.id, before.seq + 1, before.head);
    const events = since.map((entry) => chain.take(entry).events);
    chain.end(row.seq, row.head);
    return events.reduce(projectRow, before);
  } catch (error) {
    if (isDamage(error) || isKeyAway(error)) return undefined;
    throw error;
  }
}

const contrary = (row: RunRow, journal: RunRow): string =>
  `The run's row says ${stands(row)}, its journal says ${stands(journal)}.`;

/** How the last entry, and the event that decided the run's state, differ from its row. */
async function tailProblem(store: Store, row: RunRow): Promise<string | undefined> {
  try {
    const found = await tail(store, row);
    const last = found.findLast(({ seq }) => seq <= row.seq);
    if (!last || last.seq + last.count <= row.seq) return "Its last entry is missing.";
    if (last.seq + last.count - 1 !== row.seq || digest(last.head) !== row.head)
      return "The journal does not end where the run's head says.";
    if (found.at(-1) !== last) return "The journal continues after the end that the run's row names.";
    return await standingProblem(store, row, found);
  } catch (error) {
    if (HoldfastError.is(error, "HF-3010")) return error.why;
    // A value whose key isn't available now isn't damaged.
    if (isKeyAway(error)) return undefined;
    throw error;
  }
}

/**
 * The last entry, and the first one after it, which shouldn't be there. Of an active run also those before it: one of
 * them decided its state.
 */
async function tail(store: Store, row: RunRow): Promise<readonly Entry[]> {
  const back = row.status === "running" || row.status === "queued" ? PAGE : 1;
  try {
    return await store.entries(row.id, { from: Math.max(1, row.seq - back + 1), limit: back + 1 });
  } catch (error) {
    if (back === 1 || !isDamage(error)) throw error;
    // The damage may be in an entry that needn't be read.
    return store.entries(row.id, { from: row.seq, limit: 2 });
  }
}

/** Events that determine a run's state regardless of earlier ones. */
const DECIDING: ReadonlySet<EventKind> = new Set<EventKind>([
  "run_created",
  "run_forked",
  "run_claimed",
  "run_released",
  "run_waiting",
  "run_paused",
  "run_completed",
  "run_failed",
  "run_cancelled",
]);

/** An active run may have written for hours since such an event; this limits how far to look back. */
const FAR = 32;

async function standingProblem(
  store: Store,
  row: RunRow,
  known: readonly Entry[],
): Promise<string | undefined> {
  parseEntry(row.id, known.at(-1) as Entry);
  try {
    return await decidedProblem(store, row, known);
  } catch (error) {
    // The worker that continues the run reads all of it, and reports damage before its end in more detail.
    if (isDamage(error) && (row.status === "running" || row.status === "queued")) return undefined;
    throw error;
  }
}

async function decidedProblem(
  store: Store,
  row: RunRow,
  known: readonly Entry[],
): Promise<string | undefined> {
  const suffix: (readonly JournalEvent[])[] = [];
  for await (const { events } of backwards(store, row, known)) {
    const at = events.findLastIndex(({ kind }) => DECIDING.has(kind));
    const after = [events.slice(at + 1), ...suffix];
    if (at >= 0) return differs(row, events[at] as JournalEvent, after) ?? (await controlProblem(store, row));
    suffix.unshift(events);
    if (row.status === "running" && suffix.length === FAR) return undefined;
  }
  return "Its journal does not say where it stands.";
}

/** Compares the row with the result of the deciding event and all later ones. */
function differs(
  row: RunRow,
  event: JournalEvent,
  after: readonly (readonly JournalEvent[])[],
): string | undefined {
  let problem: string | undefined;
  for (const start of starts(row)) {
    const before = Object.assign(copiedRow(row), { status: "running", wakeAt: 0, error: null }, start);
    let run = projectRow(before, [event]);
    if (event.kind === "run_created") run.status = "queued";
    for (const events of after) run = projectRow(run, events);
    if (standing(run) === standing(row)) return undefined;
    problem = contrary(row, run);
  }
  return problem;
}

/**
 * A field that the deciding event leaves unchanged can only be as in the row, or empty: a run that is released keeps what
 * it was just about to wait for.
 */
function* starts({ control, waiting }: RunRow): Generator<Pick<RunRow, "control" | "waiting">> {
  for (const told of new Set([control, "none"] as const)) {
    if (waiting.length > 0) yield { control: told, waiting };
    yield { control: told, waiting: [] };
  }
}

/** A run's state, for comparison. The due time itself doesn't matter. */
const standing = ({ status, control, waiting, wakeAt, updatedAt }: RunRow): string =>
  encode([status, control, waiting, wakeAt !== null && wakeAt <= updatedAt ? 0 : wakeAt], { sorted: true });

/** Checks that a stop or an undo in the row was requested in the journal. */
async function controlProblem(store: Store, row: RunRow): Promise<string | undefined> {
  if (row.control === "none") return undefined;
  const asked = await lastEvent(store, row, ["cancel_requested", "pause_requested", "run_forked"]);
  const isAsked = asked?.kind === (row.control === "pausing" ? "pause_requested" : "cancel_requested");
  return isAsked ? undefined : `The run's row says ${row.control}, its journal does not.`;
}

const stands = ({ status, control, waiting }: RunRow): string => {
  const waits = waiting.map(({ kind, step }) => (step === "" ? kind : `${kind} ${step}`)).join(", ");
  return `${status}${control === "none" ? "" : `, ${control}`}${waits === "" ? "" : ` (${waits})`}`;
};

/** The number of entries per read on the way back; it grows with the distance. */
const PAGE = 16;
const MOST = 512;

/** The end of the journal that was read last: whoever verifies a row often asks for one of its last events next. */
const lastTails = new WeakMap<
  Store,
  { readonly id: string; readonly head: string; entries: readonly Entry[] }
>();

/**
 * The entries of a run from the last one backwards, each checked against the hash that its successor names. `tail`: the
 * last ones, if they have just been read.
 */
async function* backwards(store: Store, row: RunRow, tail?: readonly Entry[]): AsyncGenerator<ParsedEntry> {
  let [seq, hash] = [row.seq, row.head];
  const { id, head } = row;
  const known = tail ? { id, head, entries: tail } : lastTails.get(store);
  const read = known?.id === id && known.head === head ? known : { id, head, entries: [] };
  let page = read.entries;
  lastTails.set(store, read);
  // Usually one entry is enough; only an active run has written more since the deciding event.
  let limit = page.length > 1 ? PAGE : 1;
  while (seq > 0) {
    if (page.length === 0) {
      const found = await store.entries(row.id, { from: Math.max(1, seq - limit + 1), limit });
      page = found.filter((entry) => entry.seq <= seq);
      if (read.entries.length < PAGE) read.entries = [...page, ...read.entries];
      limit = row.seq - seq < MOST ? PAGE : Math.min(2 * limit, MOST);
    }
    const entry = page.at(-1);
    page = page.slice(0, -1);
    if (!entry || entry.seq + entry.count - 1 !== seq) throw damaged(row.id, seq, "An entry is missing.");
    if (digest(entry.head) !== hash)
      throw damaged(row.id, entry.seq, "The entry after it does not follow it.");
    const parsed = parseEntry(row.id, entry);
    yield parsed;
    seq = entry.seq - 1;
    hash = parsed.prev;
  }
}

/** The newest event of one of these kinds, searched from the end of the journal and verified on the way. */
export async function lastEvent(
  store: Store,
  row: RunRow,
  kinds: readonly EventKind[],
): Promise<JournalEvent | undefined> {
  for await (const { events } of backwards(store, row)) {
    const event = events.findLast(({ kind }) => kinds.includes(kind));
    if (event) return event;
  }
  return undefined;
}

/** Events after which earlier values may be gone: a fork inherits what is left of its source. */
const DROPPING = ["values_dropped", "run_forked"] as const;

/** The last result, because trying one snapshot after another asks the same question. */
const lastDrops = new WeakMap<Store, { readonly id: string; readonly head: string; readonly seq: number }>();

/**
 * Why a value recorded at `seq` is missing. Retention dropped it only if a later event says so; otherwise it was lost.
 */
export async function missingValue(store: Store, runId: string, seq: number, what?: string): Promise<Error> {
  const row = await rawRow(store, runId);
  if (row && row.damage === undefined && (await lastDrop(store, row)) > seq) return dropped(runId, seq);
  return damaged(runId, seq, what ?? "Its values are missing, and no retention has dropped them.");
}

async function lastDrop(store: Store, row: RunRow): Promise<number> {
  const known = lastDrops.get(store);
  if (known?.id === row.id && known.head === row.head) return known.seq;
  const { seq = 0 } = (await lastEvent(store, row, DROPPING)) ?? {};
  lastDrops.set(store, { id: row.id, head: row.head, seq });
  return seq;
}
