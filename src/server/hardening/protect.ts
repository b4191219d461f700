import { randomUUID } from "node:crypto";
import type { BlockList } from "node:net";
import type { Clock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { withoutTokens } from "../access/token-text.ts";
import type { Visit, Visits } from "../access/visit.ts";
import { innerError, isInner, problemResponse } from "../problem.ts";
import { clientAddress } from "./client-address.ts";
import { secured } from "./headers.ts";
import { corsHeaders, isOwnHost, type Source, sourceOf } from "./origin.ts";
import { type Rate, RateLimit } from "./rate-limit.ts";
import type { Streams } from "./streams.ts";

export interface ProtectOptions {
  /** Names, besides addresses and `localhost`, that requests may be sent to. */
  readonly hosts: readonly string[];
  /** Origins of other servers' pages that may call this one. */
  readonly origins: readonly string[];
  readonly proxies: BlockList;
  /** Requests of one address. */
  readonly rate: Rate;
  readonly streams: Streams;
  /** The most requests that it works on at once; open streams don't count. Default 256. */
  readonly atOnce?: number;
  /** Tells whether the visit's credential is still valid. */
  readonly isWelcome: (visit: Visit) => Promise<boolean>;
  readonly visits: Visits;
  readonly isTls: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type Fetch = (request: Request) => Promise<Response>;

/** Answers a request that came from this address. */
export type Guarded = (request: Request, peer: string | undefined) => Promise<Response>;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** A refused credential counts like so many requests, so that trying them out soon ends. */
const REFUSED_COST = 10;
const AT_ONCE = 256;
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/** Puts everything between the network and the API that doesn't depend on the operation. */
export function protect(fetch: Fetch, options: ProtectOptions): Guarded {
  const limit = new RateLimit(options.rate, options.clock);
  const taken = turnstile(fetch, options.atOnce ?? AT_ONCE);
  return async (request, peer) => {
    const address = clientAddress(peer, request.headers.get("x-forwarded-for"), options.proxies);
    const visit: Visit = { address };
    const answer = await answered(request, visit, taken, options, limit);
    const { status } = answer;
    if (status === 401) limit.take(address, REFUSED_COST);
    if (status === 403 || status === 421) logDenial(options.logger, request, visit, status);
    return secured(answer, headersFor(request, visit, status, options), options.isTls);
  };
}

/**
 * Refuses what would only wait: it would take memory, and make everything after it late. Probes are always answered, so
 * that a busy server isn't taken for a dead one.
 */
function turnstile(fetch: Fetch, most: number): Fetch {
  let count = 0;
  return async (request) => {
    if (count >= most && !PROBES.has(new URL(request.url).pathname))
      return problemResponse(new HoldfastError("HF-6020", { limit: most }), { "retry-after": "1" });
    count++;
    try {
      return await fetch(request);
    } finally {
      count--;
    }
  };
}

function headersFor(request: Request, { retryAfter }: Visit, status: number, { origins }: ProtectOptions) {
  const origin = request.headers.get("origin");
  return {
    ...(origin !== null && origins.includes(origin) ? corsHeaders(origin) : {}),
    ...(status === 401 ? { "www-authenticate": 'Bearer realm="holdfast"' } : {}),
    ...(status === 429 && retryAfter !== undefined ? { "retry-after": String(retryAfter) } : {}),
  };
}

async function answered(
  request: Request,
  visit: Visit,
  fetch: Fetch,
  options: ProtectOptions,
  limit: RateLimit,
): Promise<Response> {
  try {
    const seconds = limit.take(visit.address);
    if (seconds > 0) throw tooMany(visit, seconds);
    const source = admit(request, options);
    if (source === "listed" && request.method === "OPTIONS") return new Response(null, { status: 204 });
    options.visits.begin(request, visit);
    const response = await fetch(request);
    return await watched(response, visit, options);
  } catch (error) {
    return problemResponse(
      HoldfastError.is(error) && !isInner(error) ? error : unexpected(error, request, options.logger),
    );
  }
}

function tooMany(visit: Visit, seconds: number): HoldfastError {
  visit.retryAfter = seconds;
  return new HoldfastError("HF-6057", { who: "address", seconds });
}

/** Refuses what no honest caller sends. */
function admit(request: Request, { hosts, origins }: ProtectOptions): Source {
  const { headers, method, url } = request;
  if (!isOwnHost(headers.get("host"), hosts)) throw new HoldfastError("HF-6054");
  const source = sourceOf(headers, origins, method);
  if (source === "foreign") throw new HoldfastError("HF-6055");
  if (!METHODS.includes(method)) throw new HoldfastError("HF-6001");
  if (hasCredential(new URL(url))) throw new HoldfastError("HF-6053");
  return source;
}

const CREDENTIAL_NAMES = /^(?:access_|auth_?|id_|bearer_)?(?:token|api_?key|authorization|secret|password)$/i;

function hasCredential(url: URL): boolean {
  if ([...url.searchParams.keys()].some((name) => CREDENTIAL_NAMES.test(name))) return true;
  const text = `${url.pathname}${url.search}`;
  return withoutTokens(text) !== text || withoutTokens(decoded(text)) !== decoded(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Streams of events are counted, and end with their credential. */
function watched(response: Response, visit: Visit, { streams, isWelcome }: ProtectOptions) {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const caller = visit.principal?.credential ?? visit.address;
  return streams.watch(response, caller, () => isWelcome(visit));
}

function unexpected(error: unknown, request: Request, logger: Logger): HoldfastError {
  const id = randomUUID();
  const path = new URL(request.url).pathname;
  logger.error("a request failed", { id, method: request.method, path, error: withoutTokens(String(error)) });
  return innerError(error, id);
}

function logDenial(logger: Logger, request: Request, visit: Visit, status: number): void {
  const { method, url } = request;
  const actor = visit.principal?.actor ?? "nobody";
  const path = withoutTokens(new URL(url).pathname);
  logger.warn("a request was denied", { status, actor, address: visit.address, method, path });
}
