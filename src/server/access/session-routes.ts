import { HoldfastError } from "../../core/errors.ts";
import { endedCookie, readCookie, sessionCookie } from "./cookie.ts";
import type { Identify } from "./identify.ts";
import type { Principal } from "./permission.ts";
import type { Sessions } from "./sessions.ts";
import type { SignInLinks } from "./sign-in-links.ts";
import type { Tokens } from "./tokens.ts";

export interface SessionDeps {
  readonly identify: Identify;
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  readonly links: SignInLinks;
  readonly isTls: boolean;
}

export const SESSION_PATH = "/v1/session";

/**
 * Answers `/v1/session`, where a browser exchanges a token or the code of a sign-in link for a cookie (POST), asks who it
 * is (GET) and signs out (DELETE). The rest of the API never sees these requests.
 */
export async function answerSession(request: Request, deps: SessionDeps): Promise<Response> {
  const { identify, sessions, isTls } = deps;
  const secret = readCookie(request.headers.get("cookie"), isTls);
  const code = request.method === "POST" ? request.headers.get("x-holdfast-code") : null;
  if (code !== null) return loginByLink(code, deps);
  const principal = await identify(request);
  if (!principal) throw new HoldfastError("HF-6050");
  if (request.method === "GET") {
    const session = secret === null ? null : await sessions.find(secret);
    return json({ ...described(principal), csrf: session?.csrf ?? null });
  }
  if (request.method === "POST") return login(request, principal, deps);
  if (request.method !== "DELETE") throw new HoldfastError("HF-6002", { allow: "GET, POST, DELETE" });
  if (secret !== null) await sessions.close(secret);
  return new Response(null, { status: 204, headers: { "set-cookie": endedCookie(isTls) } });
}

/** Every login gets a new session, so that nobody can plant one before. Only a token opens it, not another session. */
async function login(request: Request, principal: Principal, { sessions, isTls }: SessionDeps) {
  const [kind, id] = (principal.credential ?? "").split(" ");
  if (request.headers.get("authorization") === null || kind !== "token" || id === undefined)
    throw new HoldfastError("HF-6050");
  return opened(id, principal, { sessions, isTls });
}

async function loginByLink(code: string, { tokens, links, ...deps }: SessionDeps): Promise<Response> {
  const id = await links.redeem(code);
  const checked = id === null ? null : await tokens.checkId(id);
  if (id === null || !checked || !("principal" in checked)) throw new HoldfastError("HF-6050");
  return opened(id, checked.principal, deps);
}

async function opened(
  tokenId: string,
  principal: Principal,
  { sessions, isTls }: Pick<SessionDeps, "sessions" | "isTls">,
): Promise<Response> {
  const { secret, csrf } = await sessions.open(tokenId);
  return json({ ...described(principal), csrf }, { "set-cookie": sessionCookie(secret, isTls) });
}

/** Who it is, for pages. */
export const described = ({ actor, roles = [], permissions, scope = null }: Principal) => ({
  actor,
  roles,
  permissions: [...permissions],
  scope,
});

const json = (value: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { headers: { "content-type": "application/json", ...headers } });
