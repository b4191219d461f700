import { AsyncLocalStorage } from "node:async_hooks";

/** Carries a value along a chain of promises, so that a step knows the scope it was called in. */
export interface Carrier<T> {
  get(): T | undefined;
  run<R>(value: T, body: () => R): R;
}

export function createCarrier<T>(): Carrier<T> {
  const storage = new AsyncLocalStorage<T>();
  return { get: () => storage.getStore(), run: (value, body) => storage.run(value, body) };
}
