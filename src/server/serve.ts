import { type Clock, systemClock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { type Logger, unfailing } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import { createIdentify, type Identify, type Issuer } from "./access/identify.ts";
import { answerSession, SESSION_PATH } from "./access/session-routes.ts";
import { Sessions } from "./access/sessions.ts";
import { SignInLinks } from "./access/sign-in-links.ts";
import { Tokens } from "./access/tokens.ts";
import { type Visit, Visits } from "./access/visit.ts";
import { trustedProxies } from "./hardening/client-address.ts";
import { type Fetch, protect } from "./hardening/protect.ts";
import type { Rate } from "./hardening/rate-limit.ts";
import { type StreamLimits, Streams } from "./hardening/streams.ts";
import { type ConnectionLimits, type Listening, listen } from "./listen.ts";

export interface ServeOptions {
  readonly store: Store;
  /** Makes the API, given how to find out who calls. */
  readonly app: (identify: Identify) => Fetch;
  readonly host?: string;
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** A proxy in front of it has TLS. */
  readonly isBehindProxy?: boolean;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly proxies?: readonly string[];
  readonly hosts?: readonly string[];
  readonly origins?: readonly string[];
  readonly issuer?: Issuer;
  readonly limits?: Partial<ServeLimits>;
  /** Who the first token is for. */
  readonly owner: string;
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface ServeLimits {
  readonly perCredential: Rate;
  readonly perAddress: Rate;
  readonly streams: StreamLimits;
  readonly connection: Partial<ConnectionLimits>;
}

const LIMITS: ServeLimits = {
  perCredential: { perSecond: 100, burst: 200 },
  perAddress: { perSecond: 200, burst: 400 },
  streams: { perCredential: 500, total: 2_000 },
  connection: {},
};

/** How often streams are checked for credentials that have ended. */
const RECHECK_MS = 1_000;

export interface Serving extends Omit<Listening, "stop"> {
  /** The administrator's token of a store that had none. It is shown this once. */
  readonly firstToken: string | null;
  /** An address that signs this person in as an administrator, once, within a minute. */
  signInUrl(actor: string): string;
  stop(graceMs?: number): Promise<void>;
}

/** Serves the API on the network: refuses to start if nobody could sign in, or if tokens would be sent in the clear. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { store, clock = systemClock, issuer, owner } = options;
  const logger = unfailing(options.logger);
  const tokens = new Tokens({ documents: documentsOf(store), clock, logger });
  const links = new SignInLinks(tokens, clock);
  const { answer, streams } = guarded(options, tokens, links, clock, logger);
  const { host, tls, isBehindProxy } = options;
  const { connection } = { ...LIMITS, ...options.limits };
  const place = { ...defined({ host, tls, isBehindProxy }), port: options.port, limits: connection };
  const listening = await listen({ ...place, answer });
  try {
    const firstToken = issuer ? null : await firstTokenOf(tokens, owner);
    const rechecks = recheckAgainAndAgain(streams, clock, logger);
    const stop = async (graceMs = 10_000): Promise<void> => {
      rechecks.stop();
      streams.endAll();
      await listening.stop(graceMs);
    };
    const { url, port } = listening;
    return { url, port, firstToken, signInUrl: (actor) => `${url}/#code=${links.make(actor)}`, stop };
  } catch (error) {
    await listening.stop(0);
    throw error;
  }
}

function guarded(options: ServeOptions, tokens: Tokens, links: SignInLinks, clock: Clock, logger: Logger) {
  const { store, issuer, tls, isBehindProxy = false, hosts = [], origins = [], proxies = [] } = options;
  const limits = { ...LIMITS, ...options.limits };
  const isTls = tls !== undefined || isBehindProxy;
  const visits = new Visits();
  const sessions = new Sessions({ documents: documentsOf(store), clock, logger });
  const rest = { visits, clock, logger, isTls };
  const identify = createIdentify({
    ...rest,
    ...defined({ issuer }),
    tokens,
    sessions,
    rate: limits.perCredential,
  });
  const streams = new Streams(limits.streams);
  const app = options.app(identify);
  const fetch: Fetch = (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === SESSION_PATH)
      return answerSession(request, { identify, sessions, tokens, links, isTls });
    return health(pathname, store) ?? app(request);
  };
  const answer = protect(fetch, {
    ...rest,
    hosts,
    origins,
    proxies: trustedProxies(proxies),
    rate: limits.perAddress,
    streams,
    isWelcome: (visit) => isWelcome(visit, tokens, clock),
  });
  return { answer, streams };
}

/** A credential of the store is looked up again; one of another service counts until it expires. */
async function isWelcome({ principal }: Visit, tokens: Tokens, clock: Clock): Promise<boolean> {
  const [kind, id] = (principal?.credential ?? "").split(" ");
  if (kind === "token" && id !== undefined) return "principal" in (await tokens.checkId(id));
  return principal?.expiresAt === undefined || principal.expiresAt > clock.now();
}

/** For containers and balancers, which have no credentials: whether it is up, and whether it can work. Nothing else. */
function health(pathname: string, store: Store): Promise<Response> | undefined {
  if (pathname === "/healthz") return Promise.resolve(state(200, "ok"));
  if (pathname !== "/readyz") return undefined;
  return store.now().then(
    () => state(200, "ready"),
    () => state(503, "the store doesn't answer"),
  );
}

const state = (status: number, text: string): Response =>
  new Response(JSON.stringify({ status: text }), {
    status,
    headers: { "content-type": "application/json" },
  });

function documentsOf({ documents }: Store) {
  if (documents) return documents;
  const why = "Credentials are documents of the store, and this kind of store keeps none.";
  throw new HoldfastError("HF-6060", { why, fix: "Use SQLite or PostgreSQL." });
}

async function firstTokenOf(tokens: Tokens, owner: string): Promise<string | null> {
  const first = await tokens.first(owner);
  if (first !== null || (await tokens.isUsable())) return first;
  const why = "Every token of this store has expired or was revoked.";
  throw new HoldfastError("HF-6060", { why, fix: "Make one: holdfast token create <name> --role admin" });
}

function recheckAgainAndAgain(streams: Streams, clock: Clock, logger: Logger): { stop(): void } {
  let isStopped = false;
  let cancel = (): void => undefined;
  const failed = (error: unknown): void =>
    logger.warn("streams were not checked for ended credentials", { error: String(error) });
  const arm = (): void => {
    if (isStopped) return;
    const check = (): void => void streams.recheck().catch(failed).then(arm, arm);
    cancel = clock.setTimer(check, RECHECK_MS, { background: true });
  };
  arm();
  return {
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}
