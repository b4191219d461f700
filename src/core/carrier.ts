import { platform } from "./platform.ts";

/** Carries a value along a chain of promises, so that a step knows the scope it was called in. */
export interface Carrier<T> {
  get(): T | undefined;
  run<R>(value: T, body: () => R): R;
}

/** Made with its first value: modules create carriers when they are loaded, which may be before there is a platform. */
export function createCarrier<T>(): Carrier<T> {
  let storage: ReturnType<typeof open> | undefined;
  const open = () => platform().storage<T>();
  return {
    get: () => storage?.getStore(),
    run(value, body) {
      storage ??= open();
      return storage.run(value, body);
    },
  };
}
