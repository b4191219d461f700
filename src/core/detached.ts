import type { Logger } from "./logger.ts";

/**
 * Runs work that no caller waits for, and logs its failure: an unhandled rejection must never end the process. Code
 * that depends on the work handles that inside it. The linter refuses every other way to leave a promise unhandled.
 */
export function detached(
  work: Promise<unknown>,
  logger: Logger,
  what: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  work.catch((error: unknown) => logger.error(`${what} failed`, { ...fields, error: String(error) }));
}
