/** A statement and the values for its placeholders. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Takes a value in, and gives the text that stands for it. */
export type Bind = (value: unknown, type: string) => string;

/** Builds a statement together with its values, so that neither can miss the other. */
export function statement(build: (bind: Bind) => string): Statement {
  const values: unknown[] = [];
  const text = build((value, type) => `$${values.push(value)}::${type}`);
  return { text, values };
}

/** The server's clock in epoch milliseconds. Unlike `now()` it goes on while a statement waits for a lock. */
export const CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Where commits are not flushed by themselves, the one that has this in its answer is. */
export const FLUSH =
  "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";
