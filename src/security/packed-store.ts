import { defined } from "../core/defined.ts";
import { checkStore } from "../core/store/check-store.ts";
import type { Append, Store } from "../core/store/contract.ts";
import { PACKED, UNREADABLE } from "../core/values/blind.ts";
import { type CompressionOptions, type Pack, packer, unpack } from "./compression.ts";
import { withValues } from "./store-parts.ts";

/**
 * A value that is compressed and not encrypted: `hfp1.`, its size in bytes, a dot, and base64. Size 0 means
 * uncompressed.
 */
const PREFIX = PACKED;
const FORM = /^hfp1\.(\d{1,10})\.([A-Za-z0-9+/]*={0,2})$/;

export function packText(pack: Pack, text: string): string {
  const bytes = Buffer.from(text);
  const packed = pack(bytes);
  if (packed) {
    const written = `${PREFIX}${bytes.length}.${Buffer.from(packed).toString("base64")}`;
    if (written.length < text.length) return written;
  }
  // A plain text that looks compressed must not be mistaken for one.
  return text.startsWith(PREFIX) ? `${PREFIX}0.${bytes.toString("base64")}` : text;
}

export function unpackText(text: string): string {
  if (!text.startsWith(PREFIX)) return text;
  const [, size = "", base64 = ""] = FORM.exec(text) ?? [];
  const bytes = Buffer.from(base64, "base64");
  const plain = size === "0" ? bytes : unpack(bytes, Number(size));
  return size === "" || !plain ? UNREADABLE : plain.toString();
}

/**
 * Wraps a store so that long values are compressed. Values stored without it stay readable; values it has stored are
 * readable only through it. `sealStore` compresses too, and encrypts.
 *
 * @example
 * ```ts
 * import { packStore } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const store = packStore(await openSqliteStore({ file: "runs.db" }), { level: 3 });
 * ```
 */
export function packStore(inner: Store, options: CompressionOptions = {}): Store {
  checkStore("inner", inner);
  const pack = packer(options);
  const packed = (append: Append): Append => ({
    ...append,
    entries: append.entries.map((entry) =>
      entry.data === null ? entry : { ...entry, data: packText(pack, entry.data) },
    ),
    blobs: append.blobs.map(({ hash, data }) => ({ hash, data: packText(pack, data) })),
  });
  const transact = inner.transaction?.bind(inner);
  const blobNames = inner.blobNames?.bind(inner);
  const outlines = inner.outlines?.bind(inner);
  return withValues(inner, `${inner.name} (packed)`, {
    append: (batch) => inner.append(batch.map(packed)),
    async entries(runId, range) {
      const entries = await inner.entries(runId, range);
      return entries.map((entry) =>
        entry.data === null ? entry : { ...entry, data: unpackText(entry.data) },
      );
    },
    async blobs(runId, hashes) {
      const found = await inner.blobs(runId, hashes);
      return new Map(Array.from(found, ([hash, data]) => [hash, unpackText(data)]));
    },
    ...defined({ blobNames, outlines }),
    ...(transact ? { transaction: (work, append) => transact(work, (value) => packed(append(value))) } : {}),
  });
}
