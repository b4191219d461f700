import { BASE } from "./base.ts";
import { ApiError, setCsrf } from "./client.ts";
import { takeEarly } from "./early.ts";
import { keepSignedIn } from "./signed-in.ts";

/** Who looks at the pages, and what they may do. */
export interface Session {
  readonly actor: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  readonly csrf: string | null;
}

const PATH = `${BASE}/v1/session`;

/** The open session, or `null` if somebody must sign in. */
export async function currentSession(): Promise<Session | null> {
  const response = (await takeEarly(`${location.origin}${PATH}`)) ?? (await fetch(PATH));
  if (response.status !== 401) return opened(response);
  keepSignedIn(false);
  return null;
}

/** Exchanges a token for a session. The token is not kept. */
export const signIn = async (token: string): Promise<Session> =>
  opened(await fetch(PATH, { method: "POST", headers: { authorization: `Bearer ${token}` } }));

/** Exchanges the one-time code of a link that `holdfast serve --open` made. */
export const signInWithCode = async (code: string): Promise<Session> =>
  opened(await fetch(PATH, { method: "POST", headers: { "x-holdfast-code": code } }));

export async function signOut(csrf: string | null): Promise<void> {
  await fetch(PATH, { method: "DELETE", headers: { "x-holdfast-csrf": csrf ?? "" } });
  setCsrf(null);
  keepSignedIn(false);
}

async function opened(response: Response): Promise<Session> {
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => null));
  const session = (await response.json()) as Session;
  setCsrf(session.csrf);
  keepSignedIn(true);
  return session;
}
