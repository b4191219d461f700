import { HoldfastError } from "../errors.ts";
import type { Documents } from "../store/documents.ts";
import type { AuditLog, KeptHead } from "./log.ts";
import { parseHead } from "./proof/checkpoint.ts";

/** A place outside the store that keeps signed heads. Whoever writes to the store can't change what is there. */
export interface AuditAnchor {
  /** A short name for reports, such as the file or the host. */
  readonly name: string;
  /** Keeps a signed head. Sent twice, the same head does no harm. */
  send(head: { readonly note: string; readonly origin: string; readonly size: number }): Promise<void>;
  /** The newest head that it has, as a note, if it can tell. */
  newest?(): Promise<string | null>;
}

/** How far an anchor is. */
export interface AnchorState {
  readonly name: string;
  /** The size of the newest head that it has, and when it got it. */
  readonly size: number;
  readonly at: number;
  /** Why the last attempt failed, and since when attempts fail. */
  readonly error?: string;
  readonly failingSince?: number;
}

const KIND = "audit.anchors";

/** Sends a head to every anchor that doesn't have it. One that fails doesn't keep the others from it. */
export async function sendToAnchors(
  documents: Documents,
  log: AuditLog,
  anchors: readonly AuditAnchor[],
  head: KeptHead,
  now: () => Promise<number>,
  newId: () => string,
): Promise<readonly AnchorState[]> {
  const states: AnchorState[] = [];
  for (const anchor of anchors) {
    const found = await documents.read(KIND, anchor.name);
    const known = found ? (JSON.parse(found.value) as AnchorState) : null;
    const state = await sent(log, anchor, head, known, now);
    states.push(state);
    if (state === known) continue;
    const put = { version: newId(), value: JSON.stringify(state) };
    // Lost when another process has just written it: that one knows as much.
    await documents.write([{ kind: KIND, key: anchor.name, expect: found?.version ?? null, put }]);
  }
  return states;
}

async function sent(
  log: AuditLog,
  anchor: AuditAnchor,
  head: KeptHead,
  known: AnchorState | null,
  now: () => Promise<number>,
): Promise<AnchorState> {
  const { name } = anchor;
  if (known && known.size >= head.size && known.error === undefined) return known;
  try {
    await checkExtends(log, anchor);
    await anchor.send({ note: head.note, origin: log.origin, size: head.size });
    return { name, size: head.size, at: await now() };
  } catch (error) {
    if (HoldfastError.is(error, "HF-3208")) throw error;
    const at = await now();
    const problem = HoldfastError.is(error) ? error.message : String(error);
    const before = known ?? { name, size: 0, at: 0 };
    return { ...before, error: problem.slice(0, 500), failingSince: known?.failingSince ?? at };
  }
}

/** What an anchor has must be part of this log; otherwise the store isn't what it was. */
async function checkExtends(log: AuditLog, anchor: AuditAnchor): Promise<void> {
  const text = (await anchor.newest?.()) ?? null;
  const newest = text === null ? undefined : parseHead(text);
  if (!newest || newest.origin !== log.origin) return;
  const own = await log.headOf(newest.size);
  const isSame = own !== null && parseHead(own.note)?.root.equals(newest.root) === true;
  if (!isSame)
    throw new HoldfastError("HF-3208", { where: anchor.name, anchored: newest.size, size: log.size });
}

/** How far all anchors are that heads were ever sent to. */
export async function anchorStates(documents: Documents): Promise<readonly AnchorState[]> {
  const found = await documents.list(KIND, { limit: 100 });
  return found.map(({ value }) => JSON.parse(value) as AnchorState);
}
