/** Drops the entry that was added first when there are more than `most`. */
export function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

/** Adds an entry as the newest; the `most` newest are kept. */
export function keepRecent<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  dropOldest(map, most);
}
