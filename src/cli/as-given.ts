import { HoldfastError } from "../core/errors.ts";

/** Maps options of the library to command-line flags. */
const FLAGS: Readonly<Record<string, string>> = {
  url: "--store",
  since: "--since",
  until: "--until",
  actor: "--as",
  reason: "--reason",
  limit: "--limit",
  onConflict: "--on-conflict",
  "budget.costUsd": "--budget-usd",
};

/**
 * Rewords an invalid option under the name it was given by: a flag of this command line, or else a setting from
 * elsewhere.
 */
export function asGiven(error: unknown, argv: readonly string[]): unknown {
  if (!HoldfastError.is(error, "HF-1003")) return error;
  const { option = "", problem = "" } = error.detail;
  const flag = FLAGS[String(option)];
  const isGiven = argv.some((word) => word === flag || word.startsWith(`${flag}=`));
  if (flag !== undefined && isGiven) return new HoldfastError("HF-1003", { option: flag, problem });
  return new HoldfastError("HF-1060", { option: flag?.slice(2) ?? option, problem });
}
