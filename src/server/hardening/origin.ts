import { isIP } from "node:net";

/** The name in a Host header, without its port; `null` if it isn't one. */
function hostName(host: string): string | null {
  const [, name] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host) ?? [];
  return name === undefined ? null : name.replace(/^\[|\]$/g, "").toLowerCase();
}

/**
 * True for a Host header that a request to this server can honestly have: an address, `localhost`, or a name that was
 * allowed. A page can point a name of its own at this machine (DNS rebinding), but the browser then sends that name.
 */
export function isOwnHost(host: string | null, names: readonly string[]): boolean {
  const name = host === null ? null : hostName(host);
  if (name === null) return false;
  return isIP(name) !== 0 || name === "localhost" || names.some((one) => one.toLowerCase() === name);
}

/** Where a request comes from, as far as the browser says so. */
export type Source = "own" | "listed" | "foreign";

/** Tells pages of this server, and listed ones, from all others. Programs that aren't browsers count as own. */
export function sourceOf(headers: Headers, origins: readonly string[], method: string): Source {
  const origin = headers.get("origin");
  if (origin !== null) {
    if (hostOf(origin) === headers.get("host")?.toLowerCase()) return "own";
    return origins.includes(origin) ? "listed" : "foreign";
  }
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return "own";
  // A link on another page may lead here. It brings no credential: the cookie is SameSite=Strict.
  const isLink = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  return isLink && method === "GET" ? "own" : "foreign";
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

/** An exact origin: scheme, name and port, nothing else. */
export function isOrigin(text: string): boolean {
  try {
    const { origin, protocol } = new URL(text);
    return origin === text && /^https?:$/.test(protocol);
  } catch {
    return false;
  }
}

/** The headers of the Durable Streams protocol, for pages that read and write streams. */
const STREAM_REQUEST =
  "stream-closed, stream-expires-at, stream-fork-offset, stream-fork-sub-offset, stream-forked-from, stream-seq, stream-ttl";
const STREAM_ANSWER =
  "stream-closed, stream-cursor, stream-expires-at, stream-next-offset, stream-sse-data-encoding, stream-ttl, stream-up-to-date";
const PRODUCER = "producer-epoch, producer-id, producer-seq";
const PRODUCER_ANSWER = "producer-epoch, producer-expected-seq, producer-received-seq, producer-seq";

const ALLOWED = `authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, x-holdfast-reason, ${STREAM_REQUEST}, ${PRODUCER}`;
const EXPOSED = `etag, location, retry-after, ${STREAM_ANSWER}, ${PRODUCER_ANSWER}`;

/** What a listed page is told. It sends a token of its own; cookies are never accepted from elsewhere. */
export const corsHeaders = (origin: string): Record<string, string> => ({
  "access-control-allow-origin": origin,
  "access-control-allow-headers": ALLOWED,
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-expose-headers": EXPOSED,
  "access-control-max-age": "600",
  vary: "origin",
});
