import { HoldfastError } from "../core/errors.ts";
import { digest } from "../core/hash.ts";
import type { Store } from "../core/store/contract.ts";
import type { Documents, StoredDocument } from "../core/store/documents.ts";

/** Documents of this kind are requests that were named by an Idempotency-Key, and their answers. */
const KIND = "request";
const DAY_MS = 24 * 3_600_000;
/** After this time without an answer, the process that carried out a request counts as dead. */
const LEASE_MS = 30_000;
/** How many old requests one new request clears away. */
const SWEEP = 20;
const MOST_BYTES = 128 * 1024;

interface Remembered {
  readonly request: string;
  readonly at: number;
  readonly answer?: { readonly status: number; readonly body: string; readonly etag: string | null };
}

/** A request that its sender has named. */
export interface Named {
  /** The name under which its act is recorded, so that the act counts once whoever carries it out. */
  readonly id: string;
  /** Tells this request from others under the same key. */
  readonly request: string;
}

const KEY = /^[\x21-\x7e]{1,200}$/;

export function nameOf(key: string | null, actor: string, parts: readonly string[]): Named | null {
  if (key === null) return null;
  if (!KEY.test(key))
    throw new HoldfastError("HF-6010", {
      header: "Idempotency-Key",
      problem: "It has 1 to 200 printable characters without spaces.",
      fix: "Send a UUID, for example.",
    });
  const id = `req-${digest(JSON.stringify([actor, key])).slice(0, 40)}`;
  return { id, request: digest(JSON.stringify([actor, ...parts])) };
}

/**
 * Carries out a named request once and keeps its answer for a day. The note that it began comes first, so two processes
 * never carry it out at the same time. If the process dies after the act and before the answer is kept, the next request
 * under the key carries it out again, and because the act has the same name in the run's journal it counts once.
 * `instead` is kept in place of an answer that must not be kept.
 */
export async function once(
  store: Store,
  named: Named,
  work: () => Promise<Response>,
  instead?: Response,
): Promise<Response> {
  const { documents } = store;
  if (!documents) throw new HoldfastError("HF-6011", { what: "named requests", store: store.name });
  const at = await store.now();
  const known = await documents.read(KIND, named.id);
  const before = known && read(known);
  if (before && at - before.at < DAY_MS) {
    if (before.request !== named.request) throw new HoldfastError("HF-6008");
    if (before.answer) return replayed(before.answer);
    if (at - before.at < LEASE_MS) throw underWay(before.at + LEASE_MS - at);
  }
  const begun = await put(documents, named, known?.version ?? null, { request: named.request, at });
  if (begun === null) throw underWay(1_000);
  return finish(documents, named, begun, at, work, instead);
}

async function finish(
  documents: Documents,
  named: Named,
  begun: string,
  at: number,
  work: () => Promise<Response>,
  instead?: Response,
): Promise<Response> {
  let response: Response;
  try {
    response = await work();
  } catch (error) {
    // Nothing was done, so the key may be used again.
    await documents.write([{ kind: KIND, key: named.id, expect: begun, put: null }]);
    throw error;
  }
  const kept = instead ?? response.clone();
  const body = await kept.text();
  const answer = { status: kept.status, body, etag: kept.headers.get("etag") };
  if (body.length <= MOST_BYTES) await put(documents, named, begun, { request: named.request, at, answer });
  await sweep(documents, named.id, at);
  return response;
}

async function put(
  documents: Documents,
  { id: key }: Named,
  expect: string | null,
  value: Remembered,
): Promise<string | null> {
  const version = crypto.randomUUID();
  const write = { kind: KIND, key, expect, put: { version, value: JSON.stringify(value) } };
  const [isAccepted] = await documents.write([write]);
  return isAccepted ? version : null;
}

/** Clears away requests older than a day: a few with each new one, from a place that its own name gives. */
async function sweep(documents: Documents, after: string, at: number): Promise<void> {
  const some = await documents.list(KIND, { after, limit: SWEEP });
  const old = some.filter((one) => at - read(one).at >= DAY_MS);
  if (old.length > 0)
    await documents.write(old.map(({ kind, key, version }) => ({ kind, key, expect: version, put: null })));
}

const read = ({ value }: StoredDocument): Remembered => JSON.parse(value) as Remembered;

const underWay = (ms: number): HoldfastError =>
  new HoldfastError("HF-6009", { seconds: Math.max(1, Math.ceil(ms / 1_000)) });

function replayed({ status, body, etag }: NonNullable<Remembered["answer"]>): Response {
  const headers = new Headers({
    "content-type": status < 400 ? "application/json" : "application/problem+json",
    "cache-control": "no-store",
    "idempotent-replayed": "true",
  });
  if (etag !== null) headers.set("etag", etag);
  return new Response(body, { status, headers });
}
