/** The same object, but a key whose value may be undefined may be absent instead. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out the keys whose value is undefined. Other empty values stay: `null`, `""`, `0` and `false`. */
export function defined<T extends object>(given: T): Defined<T>;
export function defined<T extends object>(given: T): Partial<T> {
  const kept: Partial<T> = {};
  for (const key in given) if (given[key] !== undefined) kept[key] = given[key];
  return kept;
}
