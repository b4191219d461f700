import type { Cost } from "../../core/manage/reports/costs.ts";
import { tokens, usd } from "../format.ts";

export { used } from "../../core/values/amounts.ts";

/** The cost; "" when nothing was used. An unknown price is shown as such, never as zero. */
export function money({ costUsd, unpriced }: Readonly<Cost>): string {
  const open = unpriced > 0 ? `${tokens(unpriced)} unpriced` : "";
  if (costUsd === null || costUsd === 0) return open;
  return open === "" ? usd(costUsd) : `${usd(costUsd)} + ${open}`;
}

/** The cost in one word, for a column. */
export function costWord({
  tokens: some,
  costUsd,
}: {
  readonly tokens: number;
  readonly costUsd: number;
}): string {
  if (costUsd > 0) return usd(costUsd);
  return some > 0 ? "unpriced" : "";
}
