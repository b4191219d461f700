import { ApiError, BASE, setCsrf } from "./client.ts";

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
  const response = await fetch(PATH);
  return response.status === 401 ? null : opened(response);
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
}

async function opened(response: Response): Promise<Session> {
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => null));
  const session = (await response.json()) as Session;
  setCsrf(session.csrf);
  return session;
}
