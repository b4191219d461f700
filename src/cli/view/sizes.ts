const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** `640 B`, `3.4 MB`. */
export function bytes(value: number): string {
  let [left, unit] = [value, 0];
  while (left >= 1_000 && unit < UNITS.length - 1) {
    left /= 1_000;
    unit++;
  }
  return `${unit === 0 || left >= 100 ? Math.round(left) : left.toFixed(1)} ${UNITS[unit]}`;
}
