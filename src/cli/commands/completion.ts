import { nearest } from "../../core/nearest.ts";
import type { Listed } from "../command.ts";
import { type Command, defineCommand } from "../command.ts";
import { usage } from "../globals.ts";
import { candidates } from "./completion/candidates.ts";
import { SCRIPTS } from "./completion/scripts.ts";

/** Called by the scripts with the words typed so far; not for people. */
const ASK = "__complete";

/** `holdfast completion bash`: prints a shell completion script for commands, options and runs. */
export const completionFor = (catalog: readonly Listed[]): Command =>
  defineCommand({
    name: "completion",
    summary: "Print a shell completion script for bash, zsh or fish",
    args: ["<shell>", "[words...]"],
    examples: [
      "completion bash >> ~/.bashrc",
      "completion zsh > ~/.zfunc/_holdfast",
      "completion fish > ~/.config/fish/completions/holdfast.fish",
    ],
    async run(context) {
      const [shell = "", ...words] = context.args;
      if (shell === ASK) {
        const found = await candidates(context, catalog, words);
        return { data: { candidates: found }, text: found.join("\n"), isValue: true };
      }
      const script = SCRIPTS[shell];
      const known = Object.keys(SCRIPTS);
      if (script === undefined)
        throw usage(
          `${shell} isn't supported`,
          `The supported shells are ${known.join(", ")}.`,
          `holdfast completion ${nearest(shell, known)}`,
        );
      return { data: { shell, script }, text: script, isValue: true };
    },
  });
