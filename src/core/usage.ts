/** Tokens and cost to add to a run or a step. */
export interface UsageReport {
  readonly tokens?: number;
  /** In US dollars. Leave it out when the price isn't known: 0 says that it was free. */
  readonly costUsd?: number;
  readonly model?: string;
}

export interface RunMetrics {
  /** Milliseconds since the run was created. */
  readonly elapsedMs: number;
  /** Calls begun, counting every attempt. */
  readonly calls: number;
  readonly tokens: number;
  readonly costUsd: number;
  /** The most memory that this process has used, in megabytes. */
  readonly memoryPeakMb: number;
}
