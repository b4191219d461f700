import { type AgentTool, checkTools } from "../agent/tool.ts";
import { checkKeys, checkOneOf } from "../core/check-options.ts";
import type { Effect } from "../core/types.ts";

/** How the calls of a tool are recorded, and what may happen when an outcome is unknown. */
export type DurableToolOptions = Partial<
  Pick<
    AgentTool,
    "effect" | "onRepeat" | "timeoutMs" | "retry" | "keyWindowMs" | "onKeyRejected" | "verify" | "compensate"
  >
>;

const SETTINGS = [
  "effect",
  "onRepeat",
  "timeoutMs",
  "retry",
  "keyWindowMs",
  "onKeyRejected",
  "verify",
  "compensate",
] as const;

/** The settings of a tool, from its effect alone or in full. */
export function toolSettings(name: string, how: Effect | DurableToolOptions = {}): DurableToolOptions {
  if (typeof how !== "string") checkKeys(how, SETTINGS, `tools.${name}`);
  const settings = typeof how === "string" ? { effect: how } : how;
  checkOneOf(`tools.${name}`, settings.effect ?? "once", ["repeatable", "keyed", "once"]);
  checkTools([{ ...settings, name, parameters: {}, checksInput: true, run: () => undefined }]);
  return settings;
}
