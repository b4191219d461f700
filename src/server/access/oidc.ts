import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { loadPackage } from "../../adapters/load-package.ts";
import type { Clock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { isLoopback } from "../listen.ts";
import type { Issuer } from "./identify.ts";
import { isRole, type Principal, permissionsOf, type Role } from "./permission.ts";

export interface OidcOptions {
  /** As in the `iss` of its tokens, such as `https://login.example.com`. */
  readonly issuer: string;
  /** As in the `aud` of tokens that are meant for this server. */
  readonly audience: string;
  /** Where its public keys are. Default: as its discovery document says. */
  readonly jwksUri?: string;
  /** The accepted signatures. Default RS256 and ES256; shared secrets are never accepted. */
  readonly algorithms?: readonly string[];
  /** How far its clock may be off. Default 30 s. */
  readonly clockToleranceMs?: number;
  /** The claim that names the caller. Default `email`, and `sub` without one. */
  readonly actorClaim?: string;
  /** The claim that lists groups or roles, such as `groups` or `realm_access.roles`. */
  readonly rolesClaim: string;
  /** What each entry of it means here. Entries that aren't listed mean nothing. */
  readonly roles: Readonly<Record<string, Role>>;
}

const ASYMMETRIC = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const FETCH_MS = 5_000;

/** Checks ID tokens and access tokens (JWT) of one issuer. Its keys are fetched when they are first needed, and kept. */
export async function createOidc(options: OidcOptions, clock: Pick<Clock, "now">): Promise<Issuer> {
  checkOptions(options);
  const { createRemoteJWKSet, jwtVerify } = await loadPackage("jose", "OpenID Connect", () => import("jose"));
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const keysOf = (): Promise<JWTVerifyGetKey> => {
    keys ??= jwksUri(options)
      .then((url) => createRemoteJWKSet(url, { timeoutDuration: FETCH_MS }))
      .catch((error: unknown) => {
        // Asked again with the next request.
        keys = undefined;
        throw error;
      });
    return keys;
  };
  const { issuer, audience, algorithms = ["RS256", "ES256"], clockToleranceMs = 30_000 } = options;
  return {
    async check(credential) {
      try {
        const { payload } = await jwtVerify(credential, await keysOf(), {
          issuer,
          audience,
          algorithms: [...algorithms],
          clockTolerance: clockToleranceMs / 1_000,
          currentDate: new Date(clock.now()),
          requiredClaims: ["exp", "iat", "sub"],
        });
        return principalOf(payload, options);
      } catch (error) {
        return { refused: reasonOf(error) };
      }
    },
  };
}

function principalOf(
  payload: JWTPayload,
  options: OidcOptions,
): { principal: Principal } | { refused: string } {
  const roles = rolesOf(payload, options);
  if (roles.length === 0) return { refused: "no role" };
  const { sub = "", exp = 0 } = payload;
  const named = payload[options.actorClaim ?? "email"];
  // An address that the issuer hasn't verified could be anybody's.
  const isProven = options.actorClaim !== undefined || payload["email_verified"] !== false;
  const actor = typeof named === "string" && named !== "" && isProven ? named : sub;
  const credential = `oidc ${sub}`;
  return {
    principal: { actor, roles, permissions: permissionsOf(roles), credential, expiresAt: exp * 1_000 },
  };
}

function rolesOf(payload: JWTPayload, { rolesClaim, roles }: OidcOptions): Role[] {
  let found: unknown = payload;
  for (const part of rolesClaim.split("."))
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, part)
        ? Reflect.get(found, part)
        : undefined;
  const entries: unknown[] = Array.isArray(found) ? found : typeof found === "string" ? found.split(" ") : [];
  const known = entries.flatMap((entry) =>
    typeof entry === "string" && Object.hasOwn(roles, entry) ? (roles[entry] ?? []) : [],
  );
  return [...new Set(known)];
}

/** For the log: jose's codes say what was wrong and repeat nothing of the token. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "the issuer's keys can't be fetched";

/** The address of the issuer's keys: as configured, or from its discovery document, which must be its own. */
async function jwksUri({ issuer, jwksUri }: OidcOptions): Promise<URL> {
  if (jwksUri !== undefined) return checkUrl("jwks_uri", jwksUri);
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(FETCH_MS) });
  const found: unknown = await response.json();
  const said = typeof found === "object" && found !== null ? { ...found } : {};
  const { issuer: own, jwks_uri: keys }: { issuer?: unknown; jwks_uri?: unknown } = said;
  if (own !== issuer || typeof keys !== "string")
    throw bad("the discovery document is another issuer's", `It is at ${url}.`, "Check issuer.");
  return checkUrl("jwks_uri", keys);
}

function checkOptions({ issuer, audience, algorithms = [], rolesClaim, roles, jwksUri }: OidcOptions): void {
  checkUrl("issuer", issuer);
  if (jwksUri !== undefined) checkUrl("jwks_uri", jwksUri);
  if (audience === "") throw bad("audience is empty", "Tokens for other services would do.", "Set it.");
  const shared = algorithms.find((one) => !ASYMMETRIC.includes(one));
  if (shared !== undefined)
    throw bad(`${shared} isn't accepted`, `Signatures are ${ASYMMETRIC.join(", ")}.`, "Leave it out.");
  const wrong = Object.values(roles).find((role) => !isRole(role));
  if (rolesClaim === "" || Object.keys(roles).length === 0 || wrong !== undefined)
    throw bad(
      "no role can be found",
      "Each entry of roles maps a group to a role.",
      "Set roles_claim and roles.",
    );
}

/** Keys that come over an open network without TLS could be anybody's. */
function checkUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url && isSafe) return url;
  throw bad(
    `${option} must be an https address`,
    "Keys must come from where they claim to.",
    `Correct ${option}.`,
  );
}

const bad = (problem: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-6063", { problem, why, fix });
