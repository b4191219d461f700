import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../../core/errors.ts";
import { defineCommand } from "../../command.ts";
import { writeWhole } from "../../output-file.ts";

export const exportLog = defineCommand({
  name: "export",
  summary: "Write the log, its heads and the journals to a file for the offline verifier",
  options: {
    out: { flag: "-o, --out <file>", summary: "Write to this file (default: standard output)" },
    journals: {
      flag: "--journals <part>",
      summary: "heads (default): without values · full: with them · none: only the log",
      choices: ["heads", "full", "none"] as const,
    },
  },
  examples: ["audit export --out audit.jsonl", "audit export --journals full --out audit.jsonl"],
  async run(context) {
    const { host, options, globals } = context;
    const { journals = "heads", out } = options;
    const engine = await context.engine();
    const lines = engine.audit.export({ journals, ...(await context.act("audit export")) });
    if (out === undefined) {
      for await (const line of lines) host.stdout.write(line);
      return { data: {} };
    }
    const file = resolve(host.cwd, out);
    if (existsSync(file) && !globals.yes) throw new HoldfastError("HF-4356", { file: out });
    await writeWhole(file, lines);
    return {
      data: { file, journals },
      text: `✓ exported the audit log to ${out}\n  Verify it anywhere: node verify-audit.mjs ${out} --anchor <file> --key <public key>`,
      next: ["audit verifier"],
    };
  },
});
