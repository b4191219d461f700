import { randomBytes } from "node:crypto";
import { digest } from "../../core/hash.ts";
import type { TokenDeps, Tokens } from "./tokens.ts";

/** How long a link may lie about before somebody opens it. */
const LINK_MS = 60_000;
/** As long as the longest session. */
const TOKEN_MS = 12 * 3_600_000;

/**
 * Links that sign in once, for whoever starts the server and so owns the store. Codes live in memory only and open one
 * session each. The session belongs to a token that ends by itself, and that can be listed and revoked like any other.
 */
export class SignInLinks {
  readonly #tokens: Tokens;
  readonly #clock: TokenDeps["clock"];
  readonly #open = new Map<string, { readonly actor: string; readonly until: number }>();

  constructor(tokens: Tokens, clock: TokenDeps["clock"]) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** A code for this person. It stands after the # of an address, so that no server or proxy logs it. */
  make(actor: string): string {
    const code = randomBytes(24).toString("base64url");
    this.#open.set(digest(code), { actor, until: this.#clock.now() + LINK_MS });
    return code;
  }

  /** The id of the token for a session; `null` if the code is unknown, used or too old. */
  async redeem(code: string): Promise<string | null> {
    const key = digest(code);
    const found = this.#open.get(key);
    this.#open.delete(key);
    const now = this.#clock.now();
    if (!found || found.until <= now) return null;
    const { actor } = found;
    const { info } = await this.#tokens.create({
      name: `browser ${new Date(now).toISOString().slice(0, 19)}`,
      actor,
      roles: ["admin"],
      createdBy: actor,
      expiresAt: now + TOKEN_MS,
    });
    return info.id;
  }
}
