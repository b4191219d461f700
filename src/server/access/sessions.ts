import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { digest } from "../../core/hash.ts";
import { changeDocument, everyDocument } from "./shared-document.ts";
import type { TokenDeps } from "./tokens.ts";

const KIND = "session";
const IDLE_MS = 30 * 60_000;
const LONGEST_MS = 12 * 3_600_000;
/** How often a session that is in use is written again. */
const SEEN_MS = 60_000;

const sessionSchema = z.strictObject({
  /** The id of the token it was opened with. A session never has more rights than its token, and ends with it. */
  token: z.string(),
  openedAt: z.number(),
  seenAt: z.number(),
});
type Session = z.infer<typeof sessionSchema>;

/** An open session of a browser. */
export interface OpenSession {
  readonly tokenId: string;
  /** What an act must repeat in a header, because a browser sends the cookie by itself. */
  readonly csrf: string;
}

/**
 * Sessions of the dashboard. The cookie holds a random secret, and the store its SHA-256, so a copy of the store opens
 * no session. Each ends after half an hour without a request, and after twelve hours in any case.
 */
export class Sessions {
  readonly #deps: TokenDeps;

  constructor(deps: TokenDeps) {
    this.#deps = deps;
  }

  /** Opens a session and returns the secret for the cookie. */
  async open(tokenId: string): Promise<{ readonly secret: string; readonly csrf: string }> {
    const { documents, clock } = this.#deps;
    await this.#sweep();
    const secret = randomBytes(32).toString("base64url");
    const now = clock.now();
    const value = JSON.stringify({ token: tokenId, openedAt: now, seenAt: now } satisfies Session);
    const put = { version: randomUUID(), value };
    await documents.write([{ kind: KIND, key: keyOf(secret), expect: null, put }]);
    return { secret, csrf: csrfOf(secret) };
  }

  /** The session of a cookie, if it is open. */
  async find(secret: string): Promise<OpenSession | null> {
    const { documents, clock } = this.#deps;
    const found = await documents.read(KIND, keyOf(secret));
    const session = found ? readSession(found.value) : null;
    const now = clock.now();
    if (!session || isOver(session, now)) return null;
    if (now - session.seenAt >= SEEN_MS)
      await changeDocument(documents, KIND, keyOf(secret), (value) => {
        const current = value === null ? null : readSession(value);
        return current ? JSON.stringify({ ...current, seenAt: now }) : value;
      });
    return { tokenId: session.token, csrf: csrfOf(secret) };
  }

  async close(secret: string): Promise<void> {
    await changeDocument(this.#deps.documents, KIND, keyOf(secret), () => null);
  }

  async #sweep(): Promise<void> {
    const { documents, clock } = this.#deps;
    const now = clock.now();
    for await (const { kind, key, version, value } of everyDocument(documents, KIND)) {
      const session = readSession(value);
      if (!session || isOver(session, now))
        await documents.write([{ kind, key, expect: version, put: null }]);
    }
  }
}

/** True if an act in a session carries the right proof. */
export function provesOrigin({ csrf }: OpenSession, given: string | null): boolean {
  const [a, b] = [Buffer.from(csrf), Buffer.from(given ?? "")];
  return a.length === b.length && timingSafeEqual(a, b);
}

const keyOf = (secret: string): string => digest(secret);
const csrfOf = (secret: string): string => digest(`csrf ${secret}`);

const isOver = ({ openedAt, seenAt }: Session, now: number): boolean =>
  now - seenAt >= IDLE_MS || now - openedAt >= LONGEST_MS;

function readSession(text: string): Session | null {
  try {
    return sessionSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
