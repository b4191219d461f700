/** Receives messages for operators. Never receives values or keys. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const nothing = (): void => undefined;
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The logger of an engine that is given none: one line per message on the terminal, and silence elsewhere. */
export const terminalLogger: Logger = {
  debug: nothing,
  info: (message) => say(message),
  warn: (message, fields) => say(withCause(message, fields)),
  error: (message, fields) => say(withCause(message, fields)),
};

function say(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`holdfast: ${message}\n`);
}

const withCause = (message: string, { runId, error }: Readonly<Record<string, unknown>> = {}): string =>
  [
    ...(typeof runId === "string" ? [runId] : []),
    message,
    ...(typeof error === "string" ? [error] : []),
  ].join(": ");

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
