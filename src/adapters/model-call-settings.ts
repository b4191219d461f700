import type { RetryOption } from "../core/options.ts";
import type { ModelPrice } from "../core/prices.ts";

/** How model calls are made. */
export interface ModelCallSettings {
  /** For model calls. Default: 6 attempts over up to 10 minutes, and never sooner than the provider asks for. */
  readonly retry?: RetryOption;
  /** For one model call. */
  readonly timeoutMs?: number;
  /** Prices by model, so that the run's cost is known. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}
