/** A statement and the values for its placeholders. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A statement whose text is the same every time. */
export interface NamedStatement extends Statement {
  readonly name: string;
}

/** Adds a value and returns its placeholder. */
export type Bind = (value: unknown, type: string) => string;

/** Builds a statement together with its values, so that the two always match. */
export function statement(build: (bind: Bind) => string): Statement {
  const values: unknown[] = [];
  const text = build((value, type) => `$${values.push(value)}::${type}`);
  return { text, values };
}

/** The server's clock in epoch milliseconds. Unlike `now()`, it advances while a statement waits for a lock. */
export const CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Forces a flush of this commit on servers that don't flush commits by default. */
export const FLUSH =
  "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";
