/**
 * Copies of values that were saved, for finding out cheaply whether they have changed since. Strings are compared by
 * their address first, so that a long conversation costs little. What can't be copied faithfully is never the same.
 */
const NOT_COPIED = Symbol("not copied");
const MAX_DEPTH = 32;

/** An object's names and values; a list has no names. */
interface Fields {
  readonly prototype: unknown;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

export function copyOf(value: unknown, depth = 0): unknown {
  if (typeof value === "function" || typeof value === "symbol" || depth > MAX_DEPTH) return NOT_COPIED;
  if (typeof value !== "object" || value === null) return value;
  if (!isOpen(value)) return NOT_COPIED;
  const keys: string[] = [];
  const values: unknown[] = [];
  // Not `Object.keys`: comparing makes no lists of names then, which for a long conversation is most of its work.
  if (Array.isArray(value)) for (const item of value) values.push(copyOf(item, depth + 1));
  else
    for (const key in value) {
      keys.push(key);
      values.push(copyOf(Reflect.get(value, key), depth + 1));
    }
  const fields: Fields = { prototype: Object.getPrototypeOf(value), keys, values };
  return values.includes(NOT_COPIED) ? NOT_COPIED : fields;
}

export function isSame(copy: unknown, value: unknown): boolean {
  if (copy === NOT_COPIED) return false;
  if (typeof value !== "object" || value === null) return Object.is(copy, value);
  if (typeof copy !== "object" || copy === null) return false;
  const { prototype, keys, values } = copy as Fields;
  if (Object.getPrototypeOf(value) !== prototype) return false;
  let count = 0;
  if (Array.isArray(value)) {
    if (value.length !== values.length) return false;
    for (const item of value) if (!isSame(values[count++], item)) return false;
    return true;
  }
  for (const key in value) {
    if (keys[count] !== key || !isSame(values[count], (value as Record<string, unknown>)[key])) return false;
    count++;
  }
  return count === keys.length;
}

/** True for data whose fields say everything: plain objects, lists, and LangChain's messages. */
function isOpen(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return true;
  return Reflect.get(value, "lc_serializable") === true && Reflect.get(value, "lc_namespace") !== undefined;
}
