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
  const known = FLAGS[String(option)];
  const given = (known ? [known] : flagsFor(String(option))).find((flag) =>
    argv.some((word) => word === flag || word.startsWith(`${flag}=`)),
  );
  if (given !== undefined) return new HoldfastError("HF-1003", { option: given, problem });
  return new HoldfastError("HF-1060", { option: known?.slice(2) ?? option, problem });
}

/** The flags that an option's name leads to: `perKey` is `--per-key`, `everyMs` is `--every`, `labels` is `--label`. */
function flagsFor(option: string): readonly string[] {
  const kebab = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [kebab, kebab.replace(/-ms$/, ""), kebab.replace(/s$/, "")].map((name) => `--${name}`);
}
