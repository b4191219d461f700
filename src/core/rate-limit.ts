/** How much of something may be used within any period: calls, tokens or both. */
export interface RateLimit {
  readonly calls?: number;
  readonly tokens?: number;
  /** At most a day. Default one minute. */
  readonly periodMs?: number;
}

/**
 * The `limit` of a step: the name of a rate limit, or with the number of tokens that the call is expected to use.
 * `isOptional`: a limit that isn't defined doesn't apply, where otherwise the step is refused (HF-5120).
 */
export interface LimitUse {
  readonly name: string;
  /** Default 0. */
  readonly tokens?: number;
  readonly isOptional?: boolean;
}

export type LimitOption = string | LimitUse | readonly (string | LimitUse)[];

/** The uses that a step's option names. */
export const limitUses = (option: LimitOption | undefined): readonly LimitUse[] => {
  if (option === undefined) return [];
  const list = Array.isArray(option) ? option : [option];
  return list.map((one: string | LimitUse) => (typeof one === "string" ? { name: one } : one));
};
