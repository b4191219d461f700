import type { Documents } from "../../core/store/documents.ts";
import type { StreamMark } from "./state.ts";

const KIND = "stream";

/** What a stream is, besides its data. */
export interface Head {
  /** Tells it from others that had the same path before. */
  readonly id: string;
  readonly contentType: string;
  readonly createdAt: number;
  /** Idle seconds after which it ends. */
  readonly ttl: number | null;
  readonly expiresAt: string | null;
  /** When it was last read or written, as far as its end depends on it. */
  readonly touchedAt: number;
  readonly from: ForkSource | null;
  /** Where the chunks before its own are: up to `upTo` they are those of stream `id`. */
  readonly segments: readonly { readonly id: string; readonly upTo: number }[];
  /** The number of streams forked from it, which need its data. */
  readonly forks: number;
  readonly isDeleted: boolean;
  /** What its first chunks add up to, so that nobody has to read them all. */
  readonly mark: StreamMark;
}

export interface ForkSource {
  readonly path: string;
  readonly id: string;
  readonly offset: string;
  readonly sub: number;
}

export interface StoredHead {
  readonly head: Head;
  readonly version: string;
}

export async function readHead(documents: Documents, path: string): Promise<StoredHead | null> {
  const found = await documents.read(KIND, path);
  return found && { head: JSON.parse(found.value) as Head, version: found.version };
}

/** Replaces a head, unless somebody else has; returns its new version. */
export async function writeHead(
  documents: Documents,
  path: string,
  expect: string | null,
  head: Head | null,
): Promise<string | null> {
  const version = crypto.randomUUID();
  const put = head && { version, value: JSON.stringify(head) };
  const [isWritten] = await documents.write([{ kind: KIND, key: path, expect, put }]);
  return isWritten ? version : null;
}

/** Heads in the order of their paths. */
export async function listHeads(
  documents: Documents,
  after: string | undefined,
  limit: number,
): Promise<readonly (StoredHead & { readonly path: string })[]> {
  const found = await documents.list(KIND, { limit, ...(after === undefined ? {} : { after }) });
  return found.map(({ key, version, value }) => ({ path: key, version, head: JSON.parse(value) as Head }));
}

/** True when its time is over. */
export function isExpired({ ttl, expiresAt, touchedAt }: Head, now: number): boolean {
  if (ttl !== null && now >= touchedAt + ttl * 1_000) return true;
  return expiresAt !== null && now >= Date.parse(expiresAt);
}

/** The type without its parameters, for comparison. */
export const plainType = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();

export const isJson = ({ contentType }: Pick<Head, "contentType">): boolean =>
  plainType(contentType) === "application/json";
