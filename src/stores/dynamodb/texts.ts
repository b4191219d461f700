import { partKey } from "./keys.ts";
import type { Item } from "./service.ts";

/** An item may have 400 KB. Two texts of up to this length fit into one item with room for the rest. */
const INLINE_BYTES = 170_000;
const PART_BYTES = 380_000;

/** An item to write: the part that differs from other items of its run. */
export interface Record {
  readonly sk: string;
  readonly item: Item;
  readonly bytes: number;
}

const partsOf = (field: string): string => `${field}Parts`;

/** The item for these fields, and the further items that hold the parts of long texts. */
export function recordsOf(
  sk: string,
  fields: Readonly<{ [name: string]: string | null }>,
  more: Item = {},
): Record[] {
  const item: Item = { ...more };
  const further: Record[] = [];
  let bytes = sk.length + 300;
  for (const [field, text] of Object.entries(fields)) {
    if (text === null) continue;
    const length = Buffer.byteLength(text);
    if (length <= INLINE_BYTES) {
      item[field] = { S: text };
      bytes += length;
      continue;
    }
    const pieces = split(text);
    item[partsOf(field)] = { N: String(pieces.length) };
    pieces.forEach((piece, n) => {
      const size = Buffer.byteLength(piece);
      further.push({
        sk: partKey(sk, field, n),
        item: { text: { S: piece } },
        bytes: size + sk.length + 300,
      });
    });
  }
  return [{ sk, item, bytes }, ...further];
}

/** Never splits within a character. */
function split(text: string): string[] {
  const room = new Uint8Array(PART_BYTES);
  const pieces: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const { read } = new TextEncoder().encodeInto(rest, room);
    pieces.push(rest.slice(0, read));
    rest = rest.slice(read);
  }
  return pieces;
}

/** The sort keys of the items that hold the parts of this field. */
export function partKeys(sk: string, item: Item, field: string): string[] {
  const parts = Number(item[partsOf(field)]?.N ?? 0);
  return Array.from({ length: parts }, (_, n) => partKey(sk, field, n));
}

/**
 * The text of a field, assembled from `parts` by sort key; `null` when there is none. `undefined` means that a part is
 * missing because the value was dropped after the item was read.
 */
export function textOf(
  sk: string,
  item: Item,
  field: string,
  parts: ReadonlyMap<string, Item>,
): string | null | undefined {
  const keys = partKeys(sk, item, field);
  if (keys.length === 0) return item[field]?.S ?? null;
  const texts = keys.map((key) => parts.get(key)?.["text"]?.S);
  return texts.includes(undefined) ? undefined : texts.join("");
}

/** The fields that an item loses together with its data. */
export const DATA_FIELDS: readonly string[] = ["data", partsOf("data")];
