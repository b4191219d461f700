import { TEXT } from "../text.ts";

const money = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
  minimumFractionDigits: 2,
});
const whole = new Intl.NumberFormat("en");

export const moneyText = (usd: number): string => money.format(usd);
/** What something cost. Tokens without a price are never shown as if they cost nothing. */
export function costText({
  costUsd,
  unpriced = 0,
}: {
  readonly costUsd: number | null;
  readonly unpriced?: number;
}): string {
  if (costUsd === null) return TEXT.cost.notPriced;
  return unpriced > 0 ? `${moneyText(costUsd)} + ${TEXT.cost.notPriced}` : moneyText(costUsd);
}
export const countText = (n: number): string => whole.format(n);
export const percentText = (part: number): string => `${Math.round(part * 100)}\u00a0%`;

/** `one` or `many`, with the number before it. */
export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${countText(n)} ${n === 1 ? one : many}`;

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  const step = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(1_024)));
  return `${(bytes / 1_024 ** step).toFixed(1)} ${units[step - 1] ?? "TB"}`;
}
