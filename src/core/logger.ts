/** Where Holdfast writes what an operator may want to read. Never receives values or keys. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const nothing = (): void => undefined;
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A logger whose own failures harm nobody: it is called where nothing may be thrown. */
export function unfailing(logger: Logger): Logger {
  const safely =
    (level: keyof Logger): Logger["info"] =>
    (message, fields) => {
      try {
        logger[level](message, fields);
      } catch {
        // There is no other place to say it.
      }
    };
  return { debug: safely("debug"), info: safely("info"), warn: safely("warn"), error: safely("error") };
}
