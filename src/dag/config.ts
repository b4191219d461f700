import { checkKeys, checkNumber, checkObject, checkOneOf, checkWhole } from "../core/check-options.ts";
import type { ExecutionConfig } from "./types.ts";

const DEFAULTS = {
  speculation: true,
  concurrency: 8,
  onTaskFailure: "stop",
  onCheckpointFailure: "stop",
  keepCheckpoints: 5,
} as const;

export type FullConfig = ExecutionConfig & Required<Pick<ExecutionConfig, keyof typeof DEFAULTS>>;

/** The configuration with its defaults; refuses what makes no sense (HF-1003). */
export function fullConfig(given: ExecutionConfig = {}): FullConfig {
  checkObject("config", given);
  checkKeys(given, [...Object.keys(DEFAULTS), "timeout"], "config");
  const config = { ...DEFAULTS, ...given };
  if (config.timeout !== undefined) checkNumber("config.timeout", config.timeout);
  checkWhole("config.concurrency", config.concurrency);
  checkWhole("config.keepCheckpoints", config.keepCheckpoints);
  checkOneOf("config.onTaskFailure", config.onTaskFailure, ["stop", "continue"]);
  checkOneOf("config.onCheckpointFailure", config.onCheckpointFailure, ["stop", "continue"]);
  return config;
}
