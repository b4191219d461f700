import type { Clock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { type Rate, RateLimit } from "../hardening/rate-limit.ts";
import { readCookie } from "./cookie.ts";
import type { Principal } from "./permission.ts";
import { provesOrigin, type Sessions } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";
import type { Visits } from "./visit.ts";

/** Checks credentials that another service issues, such as ID tokens. */
export interface Issuer {
  /** Who presents it, or why it is refused. */
  check(credential: string): Promise<{ readonly principal: Principal } | { readonly refused: string }>;
}

export interface IdentifyOptions {
  readonly tokens: Tokens;
  readonly sessions?: Sessions;
  readonly issuer?: Issuer;
  readonly visits: Visits;
  /** Requests of one credential. */
  readonly rate: Rate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isTls: boolean;
}

/** Finds out who calls; `null` for nobody, whatever is wrong with the credential: only the log says what. */
export type Identify = (request: Request) => Promise<Principal | null>;

type Found = { readonly principal: Principal } | { readonly refused: string };

const BEARER = /^Bearer ([\x21-\x7e]{1,8192})$/i;
const SAFE = ["GET", "HEAD", "OPTIONS"];

export function createIdentify(options: IdentifyOptions): Identify {
  const { visits, logger, clock, rate } = options;
  const limit = new RateLimit(rate, clock);
  return async (request) => {
    const visit = visits.of(request);
    const found = await credentialOf(request, options);
    if ("refused" in found) {
      const path = new URL(request.url).pathname;
      logger.warn("a credential was refused", { why: found.refused, address: visit.address, path });
      return null;
    }
    const { principal } = found;
    visit.principal = principal;
    const seconds = limit.take(principal.credential ?? principal.actor);
    if (seconds === 0) return principal;
    visit.retryAfter = seconds;
    throw new HoldfastError("HF-6057", { who: "credential", seconds });
  };
}

async function credentialOf(request: Request, options: IdentifyOptions): Promise<Found> {
  const { tokens, issuer } = options;
  const header = request.headers.get("authorization");
  if (header === null) return ofSession(request, options);
  const [, credential] = BEARER.exec(header) ?? [];
  if (credential === undefined) return { refused: "malformed" };
  if (credential.startsWith("hf_") || !issuer) return tokens.check(credential);
  return issuer.check(credential);
}

/** A browser sends the cookie by itself, so an act must also repeat what only a page of this server can have read. */
async function ofSession(request: Request, options: IdentifyOptions): Promise<Found> {
  const { sessions, tokens, isTls } = options;
  const secret = readCookie(request.headers.get("cookie"), isTls);
  if (!sessions || secret === null) return { refused: "none" };
  const session = await sessions.find(secret);
  if (!session) return { refused: "session over" };
  const isSafe = SAFE.includes(request.method);
  if (!isSafe && !provesOrigin(session, request.headers.get("x-holdfast-csrf")))
    throw new HoldfastError("HF-6056");
  return tokens.checkId(session.tokenId);
}
