import type { Host } from "./host.ts";

type Env = Host["env"];

/**
 * Variables that coding agents set for the commands they run. `AI_AGENT` names any other one; `HOLDFAST_AGENT=0` means
 * that a person is there after all.
 */
const AGENTS: readonly (readonly [name: string, variables: readonly string[]])[] = [
  ["claude", ["CLAUDECODE", "CLAUDE_CODE"]],
  ["cursor", ["CURSOR_AGENT"]],
  ["codex", ["CODEX_SANDBOX", "CODEX_THREAD_ID"]],
  ["gemini", ["GEMINI_CLI"]],
  ["opencode", ["OPENCODE"]],
  ["copilot", ["COPILOT_AGENT", "COPILOT_CLI"]],
  ["auggie", ["AUGMENT_AGENT"]],
];

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** The coding agent that runs this command, by name; `undefined` for a person or a script. */
export function detectAgent(env: Env): string | undefined {
  const said = env["HOLDFAST_AGENT"];
  if (isSet(said)) return said === "0" || said === "false" ? undefined : said;
  const named = env["AI_AGENT"];
  if (isSet(named)) return named;
  return AGENTS.find(([, variables]) => variables.some((name) => isSet(env[name])))?.[0];
}

export const isCi = (env: Env): boolean => isSet(env["CI"]) && env["CI"] !== "false" && env["CI"] !== "0";

const isDumb = (env: Env): boolean => env["TERM"] === "dumb";

/** True when a stream is shown in colour. `NO_COLOR` takes precedence over `FORCE_COLOR`, and a flag over both. */
export function hasColor(env: Env, isTTY: boolean, flag: boolean | undefined): boolean {
  if (flag !== undefined) return flag;
  if (isSet(env["NO_COLOR"])) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTTY && !isDumb(env);
}

/** True when only ASCII may be used. */
export function wantsAscii(env: Env, flag: boolean): boolean {
  if (flag || isDumb(env) || env["TERM"] === "linux") return true;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return /^(C|POSIX)$/.test(locale);
}

export type Display = "live" | "lines" | "none";

/** How a running run is displayed. */
export function displayFor(env: Env, isTTY: boolean, asked: "auto" | Display, quiet: boolean): Display {
  if (quiet) return "none";
  if (asked !== "auto") return asked;
  const isPlain = !isTTY || isCi(env) || isDumb(env) || detectAgent(env) !== undefined;
  return isPlain ? "lines" : "live";
}
