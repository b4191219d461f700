import { HoldfastError } from "../core/errors.ts";
import {
  checkedDocuments,
  DOCUMENT_LIMITS,
  type Documents,
  type StoredDocument,
} from "../core/store/documents.ts";
import type { Pack } from "./compression.ts";
import { type DataKey, isSealed, openRecord, type RecordPlace, sealRecord } from "./record.ts";

interface Sealing {
  readonly storeId: string;
  readonly key: DataKey;
  readonly pack: Pack;
  /** Documents from before the store was sealed are read as they are. */
  readonly acceptPlain: boolean;
}

/**
 * Documents whose values are encrypted. Kind, key and version stay readable and are authenticated, so that a value
 * moved to another document, or put back under a later version, doesn't open.
 */
export function sealedDocuments(inner: Documents, sealing: Sealing): Documents {
  const { key: dataKey, pack } = sealing;
  const open = (found: StoredDocument): StoredDocument => ({ ...found, value: opened(sealing, found) });
  return checkedDocuments(
    {
      async read(kind, key) {
        const found = await inner.read(kind, key);
        return found && open(found);
      },
      list: async (kind, page) => (await inner.list(kind, page)).map(open),
      write: (batch) =>
        inner.write(
          batch.map(({ put, ...at }) => {
            if (!put) return { ...at, put };
            const sealed = sealRecord(dataKey, placeOf(sealing, { ...at, ...put }), put.value, pack);
            return { ...at, put: { version: put.version, value: JSON.stringify(sealed) } };
          }),
        ),
    },
    DOCUMENT_LIMITS.sealedBytes,
  );
}

const placeOf = (
  { storeId }: Sealing,
  { kind, key, version }: Omit<StoredDocument, "value">,
): RecordPlace => ({
  store: storeId,
  run: kind,
  type: "document",
  at: key,
  head: version,
});

function opened(sealing: Sealing, found: StoredDocument): string {
  const text: unknown = JSON.parse(found.value);
  if (typeof text !== "string" || !isSealed(text)) {
    if (sealing.acceptPlain) return found.value;
    throw unreadable(found, "It is not encrypted, and everything in this store is.");
  }
  const value = openRecord(sealing.key, placeOf(sealing, found), text);
  if (value === null) throw unreadable(found, "It was changed or moved, or encrypted for another store.");
  return value;
}

const unreadable = ({ kind, key }: StoredDocument, problem: string): HoldfastError =>
  new HoldfastError("HF-3091", { kind, key, problem });
