/** Drops the entry that was added first when there are more than `most`. */
export function dropOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/**
 * Adds an entry as the newest; the `most` newest are kept. While there is plenty of room an entry keeps its place:
 * moving it for every write leaves a hole each time, which maps collect slowly.
 */
export function keepRecent<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  if (2 * map.size > most) map.delete(key);
  map.set(key, value);
  dropOldest(map, most);
}
