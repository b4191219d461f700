import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { Documents } from "../../core/store/documents.ts";
import { type Principal, permissionsOf } from "./permission.ts";
import { changeDocument, everyDocument } from "./shared-document.ts";
import {
  infoOf,
  type NewToken,
  readRecord,
  recordOf,
  stateOf,
  type TokenInfo,
  type TokenRecord,
  type TokenState,
} from "./token-record.ts";
import { hashOf, matches, newToken, parseToken } from "./token-text.ts";

const KIND = "token";
/** A revocation counts everywhere within this time. */
const REMEMBERED_MS = 1_000;
const REMEMBERED = 10_000;
const USE_MS = 3_600_000;
/** The id of the token that the first start makes: only one can be made. */
const FIRST = "0".repeat(16);

export interface MadeToken {
  /** The token itself. It can't be had again. */
  readonly token: string;
  readonly info: TokenInfo;
}

/** The verdict on a token that was presented. Callers aren't told why it was refused; the log is. */
export type Checked =
  | { readonly principal: Principal; readonly token: TokenInfo }
  | { readonly refused: "malformed" | "unknown" | Exclude<TokenState, "valid"> };

export interface TokenDeps {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The tokens of a store. Their secrets are shown once, when they are made, and kept nowhere. */
export class Tokens {
  readonly #deps: TokenDeps;
  readonly #recent = new Map<string, { readonly record: TokenRecord; readonly until: number }>();

  constructor(deps: TokenDeps) {
    this.#deps = deps;
  }

  async create(given: NewToken): Promise<MadeToken> {
    const { id, secret, text } = newToken();
    const record = recordOf(given, hashOf(secret), this.#deps.clock.now());
    await this.#insert(id, record);
    return { token: text, info: infoOf(id, record) };
  }

  /**
   * Makes the administrator's token of a store that has never had a token; `null` if it has. Of two servers that start
   * at the same moment only one gets it.
   */
  async first(actor: string): Promise<string | null> {
    const { documents, clock } = this.#deps;
    if ((await documents.list(KIND, { limit: 1 })).length > 0) return null;
    const { secret } = newToken();
    const given = { name: "first", actor, roles: ["admin"], createdBy: actor } as const;
    const isMade = await this.#insert(FIRST, recordOf(given, hashOf(secret), clock.now()));
    return isMade ? `hf_${FIRST}_${secret}` : null;
  }

  async list(): Promise<TokenInfo[]> {
    const found: TokenInfo[] = [];
    for await (const { key, value } of everyDocument(this.#deps.documents, KIND)) {
      const record = this.#read(key, value);
      if (record) found.push(infoOf(key, record));
    }
    return found.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** A token by its id or name. */
  async get(named: string): Promise<TokenInfo> {
    const id = await this.#find(named);
    const record = await this.#recall(id);
    if (!record) throw new HoldfastError("HF-6061", { token: named });
    return infoOf(id, record);
  }

  /** True when somebody could sign in with a token now. */
  async isUsable(): Promise<boolean> {
    const now = this.#deps.clock.now();
    return (await this.list()).some((token) => stateOf(token, now) === "valid");
  }

  /** Revokes a token by its id or name: at once here, and within a second elsewhere. */
  async revoke(named: string, by: string): Promise<TokenInfo> {
    const id = await this.#find(named);
    const revokedAt = this.#deps.clock.now();
    const record = await this.#change(id, (record) =>
      record.revokedAt === null ? { ...record, revokedAt, revokedBy: by } : record,
    );
    return infoOf(id, record);
  }

  /**
   * Makes a token like an older one, which works until `until`, so that its bearers can change over. Unless `expiresAt`
   * is given, it is valid for as long as the older one was.
   */
  async rotate(named: string, by: string, until: number, expiresAt?: number | null): Promise<MadeToken> {
    const id = await this.#find(named);
    let life: number | null = null;
    const { name, actor, roles, scope } = await this.#change(id, (record) => {
      life = record.expiresAt === null ? null : record.expiresAt - record.createdAt;
      return { ...record, expiresAt: Math.min(record.expiresAt ?? until, until) };
    });
    const end = life === null ? null : this.#deps.clock.now() + life;
    return this.create({
      name,
      actor,
      roles,
      scope,
      expiresAt: expiresAt === undefined ? end : expiresAt,
      createdBy: by,
    });
  }

  /** Checks a token as it came in. */
  async check(text: string): Promise<Checked> {
    const parts = parseToken(text);
    if (!parts) return { refused: "malformed" };
    const record = await this.#recall(parts.id);
    // An unknown id costs the same comparison as a wrong secret.
    const isRight = matches(parts.secret, record?.hash ?? hashOf(""));
    return record && isRight ? this.#judge(parts.id, record) : { refused: "unknown" };
  }

  /** Checks the token behind a session, by its id. */
  async checkId(id: string): Promise<Checked> {
    const record = await this.#recall(id);
    return record ? this.#judge(id, record) : { refused: "unknown" };
  }

  async #judge(id: string, record: TokenRecord): Promise<Checked> {
    const now = this.#deps.clock.now();
    const state = stateOf(record, now);
    if (state !== "valid") return { refused: state };
    if (now - (record.lastUsedAt ?? 0) >= USE_MS) await this.#noteUse(id, now - (now % USE_MS));
    const { actor, roles, scope } = record;
    const principal = { actor, roles, scope, permissions: permissionsOf(roles), credential: `token ${id}` };
    return { principal, token: infoOf(id, record) };
  }

  /** A store that doesn't take the note now keeps nobody out. */
  async #noteUse(id: string, lastUsedAt: number): Promise<void> {
    try {
      await this.#change(id, (record) => ({ ...record, lastUsedAt }));
    } catch (error) {
      this.#deps.logger.warn("the last use of a token was not noted", { token: id, error: String(error) });
    }
  }

  async #recall(id: string): Promise<TokenRecord | null> {
    const known = this.#recent.get(id);
    if (known && known.until > this.#deps.clock.monotonic()) return known.record;
    const found = await this.#deps.documents.read(KIND, id);
    const record = found ? this.#read(id, found.value) : null;
    if (record) this.#remember(id, record);
    else this.#recent.delete(id);
    return record;
  }

  #remember(id: string, record: TokenRecord): void {
    if (this.#recent.size >= REMEMBERED) this.#recent.clear();
    this.#recent.set(id, { record, until: this.#deps.clock.monotonic() + REMEMBERED_MS });
  }

  async #insert(id: string, record: TokenRecord): Promise<boolean> {
    const put = { version: randomUUID(), value: JSON.stringify(record) };
    const [isTaken = false] = await this.#deps.documents.write([{ kind: KIND, key: id, expect: null, put }]);
    return isTaken;
  }

  async #change(id: string, change: (record: TokenRecord) => TokenRecord): Promise<TokenRecord> {
    const unknown = new HoldfastError("HF-6061", { token: id });
    let changed: TokenRecord | null = null;
    await changeDocument(this.#deps.documents, KIND, id, (value) => {
      const record = value === null ? null : this.#read(id, value);
      if (!record) throw unknown;
      changed = change(record);
      return JSON.stringify(changed);
    });
    if (!changed) throw unknown;
    this.#remember(id, changed);
    return changed;
  }

  /** The id of a token that is named by its id or, if only one has it, its name. */
  async #find(named: string): Promise<string> {
    const all = await this.list();
    if (all.some(({ id }) => id === named)) return named;
    const found = all.filter(({ name }) => name === named);
    const live = found.filter(({ revokedAt }) => revokedAt === null);
    const [one, another] = live.length > 0 ? live : found;
    if (!one) throw new HoldfastError("HF-6061", { token: named });
    if (!another) return one.id;
    const ids = (live.length > 0 ? live : found).map(({ id }) => id).join(", ");
    throw new HoldfastError("HF-4366", { name: named, ids });
  }

  #read(id: string, value: string): TokenRecord | null {
    const record = readRecord(value);
    if (!record)
      this.#deps.logger.error("a token isn't accepted, because its record can't be read", { token: id });
    return record;
  }
}
