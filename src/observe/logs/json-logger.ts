import { hostname } from "node:os";
import { checkFunction, checkKeys, checkOneOf } from "../../core/check-options.ts";
import {
  isAtLeast,
  LOG_LEVELS,
  type LogLevel,
  logFields,
  logMessage,
  toLevels,
} from "../../core/log-line.ts";
import type { Logger } from "../../core/logger.ts";
import { type Redaction, Redactor } from "../../core/values/redact.ts";

/** The numbers that pino gives to its levels. */
const PINO_LEVELS: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };

/** Options of `jsonLogger`. */
export interface JsonLoggerOptions {
  /** Takes each line, with its line break. Default: standard error. */
  readonly write?: (line: string) => void;
  /** Only lines of this level and above. Default `info`. */
  readonly level?: LogLevel;
  /** The name in every line. Default `holdfast`. */
  readonly name?: string;
  /** What to replace besides keys, tokens and private keys of the usual forms. */
  readonly redact?: Redaction;
}

/**
 * A logger that writes lines of JSON as pino does, so that everything that reads pino's logs reads them: `level`,
 * `time`, `pid`, `hostname`, `name`, `msg`, and `runId`, `step`, `attempt` and `workflow` where they belong to one.
 * Secrets of the usual forms are replaced.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { jsonLogger, logEvents } from "holdfast/observe";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const logger = jsonLogger({ level: "debug" });
 * export const engine = createEngine({ store: await openSqliteStore(), logger, observe: logEvents(logger) });
 * ```
 */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  checkKeys(options, ["write", "level", "name", "redact"]);
  const { write = toStderr, level: least = "info", name = "holdfast", redact = {} } = options;
  checkFunction("write", write);
  checkOneOf("level", least, LOG_LEVELS);
  const redactor = new Redactor(redact);
  const clean = (text: string): string => redactor.text(text);
  const host = hostname();
  return toLevels((level, message, fields) => {
    if (!isAtLeast(level, least)) return;
    const head = { level: PINO_LEVELS[level], time: Date.now(), pid: process.pid, hostname: host, name };
    // The fields come first, so that none of them can pretend to be another line's time or level.
    const line = { ...logFields(fields, clean), ...head, msg: logMessage(message, clean) };
    write(`${JSON.stringify(line)}\n`);
  });
}

const toStderr = (line: string): void => void process.stderr.write(line);

/** The methods that Holdfast calls of a pino logger. */
export interface PinoLike {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Writes through your own pino logger, with its transports, serializers and redaction.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { type PinoLike, pinoLogger } from "holdfast/observe";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const engineWith = async (pino: PinoLike) =>
 *   createEngine({ store: await openSqliteStore(), logger: pinoLogger(pino) });
 * ```
 */
export const pinoLogger = (pino: PinoLike): Logger =>
  toLevels((level, message, fields) => pino[level]({ ...fields }, message));
