import { HoldfastError } from "../../../core/errors.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import type { CommandContext } from "../../context.ts";
import { plural } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { bundleText } from "../../view/bundle-files.ts";
import { verifier } from "../../view/bundle-keys.ts";
import { damaged } from "./invalid.ts";

/** Imports the bundle into a store in memory: everything that an import checks is checked, and nothing is kept. */
export async function validateBundle(
  context: CommandContext<unknown>,
  file: string,
  key: string | undefined,
): Promise<Outcome> {
  const { host } = context;
  const { transfer } = await context.engine({ store: createMemoryStore() });
  const verify = key === undefined ? {} : { verify: verifier(key, host.cwd) };
  try {
    const { imported } = await transfer.importRuns(bundleText(file, host), verify);
    const checked = key === undefined ? "checksums" : "checksums and signature";
    return {
      data: { kind: "bundle", file, valid: true, runs: imported },
      text: `✓ ${file} is whole: ${plural(imported.length, "run")} (${imported.join(", ")}); ${checked} are right`,
      next: [`import ${file}`],
    };
  } catch (error) {
    if (!HoldfastError.is(error, "HF-3017") && !HoldfastError.is(error, "HF-3010")) throw error;
    return {
      data: { kind: "bundle", file, valid: false, problems: [error.message] },
      ...damaged(
        file,
        error.message,
        error.why,
        "None of it was taken in.",
        "Export it again: holdfast export <run> -o <file>",
      ),
    };
  }
}
