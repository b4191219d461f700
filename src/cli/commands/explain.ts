import { errorTable, explainError, HoldfastError } from "../../core/errors.ts";
import { type Command, say } from "../output.ts";

/** `holdfast explain 2101`: an error code in four lines, offline. */
export const explain: Command = {
  name: "explain",
  usage: "explain <code>",
  summary: "what an error code means, what is safe and how to fix it",
  async run([given], { json }) {
    const code = `HF-${(given ?? "").toUpperCase().replace(/^HF-?/, "")}`;
    const entry = explainError(code);
    if (!entry) {
      throw new HoldfastError("HF-1003", {
        option: "code",
        problem: `${given ?? "nothing"} is not one of ${Object.keys(errorTable).join(", ")}`,
      });
    }
    if (json) say(JSON.stringify({ code, ...entry }));
    else
      for (const [label, text] of [
        [code, entry.what],
        ["Why", entry.why],
        ["Safe", entry.safe],
        ["Fix", entry.fix],
      ])
        say(`${label?.padEnd(8)} ${text}`);
    return 0;
  },
};
