import { checkedDocuments, type Documents, type StoredDocument } from "../../core/store/documents.ts";
import { type Commands, script, texts } from "./commands.ts";
import { documentKeys, metaKey } from "./keys.ts";

/** KEYS: meta, versions, texts, keys. ARGV: incarnation, key, the expected version or '', the new version or '', text. */
const WRITE = script(`#!lua
if redis.call('HGET', KEYS[1], 'incarnation') ~= ARGV[1] then
  return redis.error_reply('LOST what this store held is gone or was replaced')
end
local key = ARGV[2]
if (redis.call('HGET', KEYS[2], key) or '') ~= ARGV[3] then return 0 end
if ARGV[4] == '' then
  redis.call('HDEL', KEYS[2], key)
  redis.call('HDEL', KEYS[3], key)
  redis.call('ZREM', KEYS[4], key)
else
  redis.call('HSET', KEYS[2], key, ARGV[4])
  redis.call('HSET', KEYS[3], key, ARGV[5])
  redis.call('ZADD', KEYS[4], 0, key)
end
return 1
`);

/** Key, version and text in turn. KEYS: versions, texts, keys. ARGV: the start of the range, the limit. */
const LIST = script(`#!lua flags=no-writes
local keys = redis.call('ZRANGEBYLEX', KEYS[3], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
local found = {}
for _, key in ipairs(keys) do
  found[#found + 1] = key
  found[#found + 1] = redis.call('HGET', KEYS[1], key)
  found[#found + 1] = redis.call('HGET', KEYS[2], key)
end
return found
`);

/** Key, version and text. KEYS: versions, texts. ARGV: the key. */
const READ = script(`#!lua flags=no-writes
return {ARGV[1], redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1])}
`);

/** How the store runs its calls, and who it is. */
interface Access {
  readonly prefix: string;
  readonly call: <T>(work: (commands: Commands) => Promise<T>) => Promise<T>;
  readonly incarnation: () => Promise<string>;
}

/** The documents of a store, all in one slot. One script is one write. */
export const documentsIn = ({ prefix, call, incarnation }: Access): Documents =>
  checkedDocuments({
    async read(kind, key) {
      const [versions = "", bodies = ""] = documentKeys(prefix, kind);
      const reply = await call((commands) => commands.run(READ, [versions, bodies], [key]));
      return toDocuments(kind, reply)[0] ?? null;
    },
    async list(kind, { after, limit }) {
      const start = after === undefined ? "-" : `(${after}`;
      const reply = await call((commands) => commands.run(LIST, documentKeys(prefix, kind), [start, limit]));
      return toDocuments(kind, reply);
    },
    async write(batch) {
      const results: boolean[] = [];
      for (const { kind, key, expect, put } of batch) {
        const keys = [metaKey(prefix), ...documentKeys(prefix, kind)];
        const taken = await call(async (commands) => {
          const args = [await incarnation(), key, expect ?? "", put?.version ?? "", put?.value ?? ""];
          return commands.run(WRITE, keys, args);
        });
        results.push(Number(taken) === 1);
      }
      return results;
    },
  });

function toDocuments(kind: string, reply: unknown): StoredDocument[] {
  const parts = texts(reply);
  const found: StoredDocument[] = [];
  for (let i = 0; i < parts.length; i += 3) {
    const [key, version, value] = parts.slice(i, i + 3);
    if (typeof key === "string" && typeof version === "string" && typeof value === "string")
      found.push({ kind, key, version, value });
  }
  return found;
}
