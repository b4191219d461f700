import type { Logger } from "./logger.ts";

/**
 * Lets work go on that nobody waits for. If it fails, that is logged: a promise that is left to itself must never end the process. Whoever
 * depends on the work sees to that inside it. The linter refuses every other way to leave a promise alone.
 */
export function detached(
  work: Promise<unknown>,
  logger: Logger,
  what: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  work.catch((error: unknown) => logger.error(`${what} failed`, { ...fields, error: String(error) }));
}
