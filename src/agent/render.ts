import { encode } from "../core/values/codec.ts";

/** Longer texts are cut: one of them must not fill a model's context. */
export const RESULT_CHARS = 200_000;
/** Deeper values are cut: no call stack holds every depth. */
const MOST_DEPTH = 100;
/** More parts than that are never part of a text of {@link RESULT_CHARS}. */
const MOST_PARTS = RESULT_CHARS;

/**
 * A value as the text that a model is shown. Never throws, and answers something for every value: what a tool has done does not become
 * undone because its answer is hard to show.
 */
export function render(value: unknown): string {
  if (typeof value === "string") return cut(value);
  try {
    const plain = new Plain().of(value, 0);
    return cut(plain === undefined ? "Done." : JSON.stringify(plain));
  } catch {
    return "Done. What it answered cannot be shown.";
  }
}

export const cut = (text: string): string =>
  text.length <= RESULT_CHARS
    ? text
    : `${text.slice(0, RESULT_CHARS)}\n[The rest of ${text.length} characters is left out.]`;

/** What can be stored as it is; else the text that it is shown as. An answer that cannot be stored was given all the same. */
export function storable(value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  try {
    encode(value);
    return value;
  } catch {
    return render(value);
  }
}

/** Turns a value into what JSON has words for. */
class Plain {
  /** What the value in hand lies in. */
  readonly #around = new Set<object>();
  #parts = 0;

  of(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "bigint":
        return value.toString();
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "undefined":
        return undefined;
      case "function":
      case "symbol":
        return `[${typeof value}]`;
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return value;
    }
  }

  #object(value: object, depth: number): unknown {
    if (this.#around.has(value)) return "[circular]";
    if (depth >= MOST_DEPTH || ++this.#parts > MOST_PARTS) return "[left out]";
    this.#around.add(value);
    try {
      return this.#known(value, depth + 1) ?? this.#fields(value, depth + 1);
    } catch {
      return "[unreadable]";
    } finally {
      this.#around.delete(value);
    }
  }

  /** What has a better form than its fields. */
  #known(value: object, depth: number): unknown {
    if (Array.isArray(value)) return Array.from(value, (item) => this.of(item, depth) ?? null);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof Set) return Array.from(value, (item) => this.of(item, depth) ?? null);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Error) return { error: value.message, ...this.#own(value, depth) };
    if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
    if (ArrayBuffer.isView(value))
      return base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return undefined;
  }

  /** As an object where every key is a text, else as pairs. */
  #map(map: ReadonlyMap<unknown, unknown>, depth: number): unknown {
    const pairs = Array.from(
      map,
      ([key, item]) => [this.of(key, depth) ?? null, this.of(item, depth) ?? null] as const,
    );
    return [...map.keys()].every((key) => typeof key === "string") ? Object.fromEntries(pairs) : pairs;
  }

  #fields(value: object, depth: number): unknown {
    const toJson: unknown = Reflect.get(value, "toJSON");
    return typeof toJson === "function" ? this.of(toJson.call(value), depth) : this.#own(value, depth);
  }

  #own(value: object, depth: number): Record<string, unknown> {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.of(item, depth)]));
  }
}

/** Bytes are told by their number and, as far as a text may go, in base64. */
function base64(bytes: Uint8Array): string {
  const shown = bytes.subarray(0, RESULT_CHARS / 2);
  let binary = "";
  for (const byte of shown) binary += String.fromCharCode(byte);
  return `[${bytes.length} bytes] ${btoa(binary)}`;
}
