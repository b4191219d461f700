import { closeSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { isAtLeast, LOG_LEVELS, type LogLevel, toLevels } from "../core/log-line.ts";
import type { Logger } from "../core/logger.ts";
import { Redactor } from "../core/values/redact.ts";
import type { CommandContext } from "./context.ts";
import { openToAppend } from "./output-file.ts";

/** The options of commands that advance runs. */
export const logOptions = {
  log: {
    flag: "--log <file>",
    summary: "Write a structured log to this file; - writes it to standard error",
  },
  logLevel: {
    flag: "--log-level <level>",
    summary: "Log this level and above (default info)",
    choices: LOG_LEVELS,
  },
  logFormat: {
    flag: "--log-format <format>",
    summary: "json writes lines as pino does (the default), text writes lines for people",
    choices: ["json", "text"],
  },
} as const;

export interface LogWanted {
  readonly log?: string | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly logFormat?: "json" | "text" | undefined;
}

/** Opens the log that was asked for, and has the engines of the command write to it. Call it before they are made. */
export async function openLog(context: CommandContext<LogWanted>): Promise<void> {
  const { log, logLevel = "info", logFormat = "json" } = context.options;
  const wanted = [log, context.options.logLevel, context.options.logFormat];
  if (wanted.every((one) => one === undefined)) return;
  const isFile = log !== undefined && log !== "-";
  const write = isFile ? toFile(context, resolve(context.host.cwd, log)) : toStderr(context);
  const { jsonLogger, logEvents } = await import("../observe/index.ts");
  const logger = logFormat === "json" ? jsonLogger({ write, level: logLevel }) : textLogger(write, logLevel);
  context.logTo({ logger, isAlone: !isFile, observe: logEvents(logger) });
}

/** Written at once and in order, so that the last line before a kill is there. */
function toFile(context: CommandContext<LogWanted>, file: string): (line: string) => void {
  const opened = openToAppend(file);
  context.atEnd(async () => closeSync(opened));
  return (line) => void writeSync(opened, line);
}

const toStderr =
  ({ host }: CommandContext<LogWanted>) =>
  (line: string): void =>
    host.stderr.write(line);

/** `2026-01-17T10:00:00.000Z warn message runId=… step=…` */
function textLogger(write: (line: string) => void, least: LogLevel): Logger {
  const redactor = new Redactor({});
  return toLevels((level, message, fields = {}) => {
    if (!isAtLeast(level, least)) return;
    const more = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`);
    const line = [new Date().toISOString(), level.padEnd(5), message, ...more].join(" ");
    write(`${redactor.text(line).replace(/[\r\n]+/g, " ")}\n`);
  });
}

const shown = (value: unknown): string =>
  typeof value === "string" && /^[\w.:/@[\]#-]+$/.test(value)
    ? value
    : (JSON.stringify(value) ?? "undefined");
