const money = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
  minimumFractionDigits: 2,
});
const whole = new Intl.NumberFormat("en");

export const moneyText = (usd: number): string => money.format(usd);
/** A cost that isn't known is never shown as zero. */
export const costText = ({
  tokens,
  costUsd,
}: {
  readonly tokens: number;
  readonly costUsd: number;
}): string => (tokens > 0 && costUsd === 0 ? "unpriced" : moneyText(costUsd));
export const countText = (n: number): string => whole.format(n);
export const percentText = (part: number): string => `${Math.round(part * 100)} %`;

/** `one` or `many`, with the number before it. */
export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${countText(n)} ${n === 1 ? one : many}`;

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  const step = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(1_024)));
  return `${(bytes / 1_024 ** step).toFixed(1)} ${units[step - 1] ?? "TB"}`;
}
