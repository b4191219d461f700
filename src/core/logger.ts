/** Receives messages for operators. Never receives values or keys. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const nothing = (): void => undefined;
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Wraps a logger so that its own failures do no harm: it is called where nothing may be thrown. */
export function unfailing(logger: Logger): Logger {
  const safely =
    (level: keyof Logger): Logger["info"] =>
    (message, fields) => {
      try {
        logger[level](message, fields);
      } catch {
        // There is nowhere else to report it.
      }
    };
  return { debug: safely("debug"), info: safely("info"), warn: safely("warn"), error: safely("error") };
}
