import type { Store } from "../core/store/contract.ts";

/** The store with some of its methods replaced. */
export function withParts(store: Store, parts: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
