/** The cookie of a session. Over TLS its name makes the browser insist on the attributes. */
const name = (isTls: boolean): string => (isTls ? "__Host-holdfast" : "holdfast_session");

const SECRET = /^[A-Za-z0-9_-]{43}$/;

export function sessionCookie(secret: string, isTls: boolean): string {
  return `${name(isTls)}=${secret}; Path=/; HttpOnly; SameSite=Strict${isTls ? "; Secure" : ""}`;
}

export const endedCookie = (isTls: boolean): string => `${sessionCookie("", isTls)}; Max-Age=0`;

/** The secret in the request's cookie, or `null`. */
export function readCookie(header: string | null, isTls: boolean): string | null {
  const prefix = `${name(isTls)}=`;
  const found = (header ?? "")
    .split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  const secret = found?.slice(prefix.length) ?? "";
  return SECRET.test(secret) ? secret : null;
}
