/** Picks `most` items of the list, evenly spaced, including the first and the last. */
export function spread<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  const gap = (list.length - 1) / Math.max(1, most - 1);
  return Array.from({ length: most }, (_, index) => list[Math.round(index * gap)] as T);
}
