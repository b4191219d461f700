import { platform } from "../core/platform.ts";
import { encode } from "../core/values/codec.ts";
import { wellFormed } from "../core/values/well-formed.ts";

/** Longer texts are truncated, so that one can't fill a model's context. */
export const RESULT_CHARS = 200_000;
/** Deeper values are truncated, because the call stack is limited. */
const MOST_DEPTH = 100;
/** A text of {@link RESULT_CHARS} can't hold more parts. */
const MOST_PARTS = RESULT_CHARS;

/**
 * Formats a value as text for a model. Never throws and returns something for every value: a tool's work isn't undone
 * because its result is hard to display.
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
    : `${wellFormed(text.slice(0, RESULT_CHARS))}\n[The rest of ${text.length} characters is left out.]`;

/** Values whose text is longer aren't stored whole: the model sees a part of them at most, and stores have limits. */
const STORED_CHARS = 20 * RESULT_CHARS;

/** Returns the value if it can be stored, otherwise its text: a result that can't be stored was still returned. */
export function storable(value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  try {
    return encode(value).length <= STORED_CHARS ? value : render(value);
  } catch {
    return render(value);
  }
}

/** Converts a value to plain JSON data. */
class Plain {
  /** The objects that enclose the current value. */
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

  /** Objects with a better representation than their fields. */
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

  /** An object when every key is a text, otherwise pairs. */
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

/** Describes bytes by their number and, within the length limit, in base64. */
function base64(bytes: Uint8Array): string {
  const shown = bytes.subarray(0, RESULT_CHARS / 2);
  return `[${bytes.length} bytes] ${platform().toBase64(shown)}`;
}
