import type { Clock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { nextCursor } from "./cursor.ts";
import { isJsonType, type StreamInfo, type StreamSlice, type StreamSource, wholeBody } from "./source.ts";
import { openSse } from "./sse.ts";

/** How long a reader of the long-poll mode waits for something new. */
const LONG_POLL_MS = 20_000;

export interface ReadDeps {
  readonly clock: Clock;
  readonly longPollMs?: number | undefined;
}

/** Answers GET and HEAD of a stream. */
export async function answerRead(source: StreamSource, request: Request, deps: ReadDeps): Promise<Response> {
  if (request.method === "HEAD") return answerHead(await source.info(false));
  const { searchParams } = new URL(request.url);
  const live = searchParams.get("live");
  const given = offsetIn(searchParams, live !== null);
  const info = await source.info(true);
  const cursor = searchParams.get("cursor");
  const from = given === "now" ? info.tail : given === "-1" ? undefined : given;
  if (live === "sse")
    return openSse(source, info, { from, cursor, signal: request.signal, clock: deps.clock });
  if (live === "long-poll") return longPoll(source, info, { from, given, cursor, request, deps });
  if (given === "now") return nothingYet(info);
  return dataAnswer(info, await source.read(from), request, { given, headers: {} });
}

/** The one offset of a request. */
function offsetIn(query: URLSearchParams, isLive: boolean): string | undefined {
  const all = query.getAll("offset");
  const live = query.get("live");
  const [offset] = all;
  if (live !== null && live !== "sse" && live !== "long-poll") throw refused("live is sse or long-poll");
  if (all.length > 1 || offset === "") throw refused("offset is given once, and isn't empty");
  if (isLive && offset === undefined) throw refused("a live reader says from which offset it reads");
  return offset;
}

const refused = (problems: string): HoldfastError => new HoldfastError("HF-6004", { problems });

function answerHead(info: StreamInfo): Response {
  const { ttl = null, expiresAt = null } = info;
  return new Response(null, {
    headers: {
      ...headersOf(info, info.tail),
      etag: etagOf(info, "-1", info.tail, info.closed),
      "cache-control": "no-store",
      ...(info.closed ? CLOSED : {}),
      ...(ttl === null ? {} : { "stream-ttl": String(ttl) }),
      ...(expiresAt === null ? {} : { "stream-expires-at": expiresAt }),
    },
  });
}

const CLOSED = { "stream-closed": "true" } as const;
const UP_TO_DATE = { "stream-up-to-date": "true" } as const;

const headersOf = ({ contentType }: StreamInfo, next: string): Record<string, string> => ({
  "content-type": contentType,
  "stream-next-offset": next,
});

const etagOf = ({ id }: StreamInfo, from: string, next: string, closed: boolean): string =>
  `"${Buffer.from(id).toString("base64url")}:${from}:${next}${closed ? ":c" : ""}"`;

/** The answer to `offset=now`: where the stream ends, and nothing of it. */
function nothingYet(info: StreamInfo): Response {
  const headers = { ...headersOf(info, info.tail), ...UP_TO_DATE, "cache-control": "no-store" };
  const body = isJsonType(info.contentType) ? "[]" : "";
  return new Response(body, { headers: { ...headers, ...(info.closed ? CLOSED : {}) } });
}

interface Asked {
  readonly given: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

function dataAnswer(
  info: StreamInfo,
  { parts, next, isUpToDate, closed }: StreamSlice,
  request: Request,
  { given = "-1", headers: more }: Asked,
): Response {
  const etag = etagOf(info, given, next, closed);
  if (request.headers.get("if-none-match") === etag)
    return new Response(null, { status: 304, headers: { etag, "cache-control": CACHED } });
  const headers = {
    ...headersOf(info, next),
    etag,
    "cache-control": CACHED,
    ...(isUpToDate ? UP_TO_DATE : {}),
    ...(closed ? CLOSED : {}),
    ...more,
  };
  return new Response(wholeBody(info.contentType, parts), { headers });
}

/** Streams hold what people say: only the reader's own cache keeps them, and asks before it uses them. */
const CACHED = "private, max-age=0, must-revalidate";

interface LongPoll {
  readonly from: string | undefined;
  readonly given: string | undefined;
  readonly cursor: string | null;
  readonly request: Request;
  readonly deps: ReadDeps;
}

async function longPoll(source: StreamSource, info: StreamInfo, asked: LongPoll): Promise<Response> {
  const { clock, longPollMs = LONG_POLL_MS } = asked.deps;
  const first = await source.read(asked.from);
  let slice = first;
  if (slice.parts.length === 0 && !slice.closed) {
    const over = new AbortController();
    const leave = (): void => over.abort();
    const cancel = clock.setTimer(leave, longPollMs, { background: true });
    asked.request.signal.addEventListener("abort", leave, { once: true });
    await source.moved(first.next, over.signal).finally(cancel);
    slice = await source.read(first.next);
  }
  const headers = slice.closed ? {} : { "stream-cursor": nextCursor(asked.cursor, clock.now()) };
  if (slice.parts.length > 0) return dataAnswer(info, slice, asked.request, { given: asked.given, headers });
  const closed = slice.closed ? CLOSED : {};
  const told = { "stream-next-offset": slice.next, "cache-control": "no-store" };
  return new Response(null, { status: 204, headers: { ...told, ...UP_TO_DATE, ...headers, ...closed } });
}
