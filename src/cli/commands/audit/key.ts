import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../../core/errors.ts";
import { defineCommand } from "../../command.ts";
import { usage } from "../../globals.ts";

export const key = defineCommand({
  name: "key",
  summary: "Make a key that signs the audit log",
  args: ["<name>"],
  options: {
    out: { flag: "-o, --out <file>", summary: "Write the private key to this file, for you alone" },
  },
  examples: ["audit key example.com/audit --out audit.key"],
  async run(context) {
    const { newAuditKey } = await import("../../../security/audit-key.ts");
    const { privateKey, publicKey } = newAuditKey(context.args[0] ?? "");
    const { out } = context.options;
    if (out === undefined) {
      context.out.say(`Public key: ${publicKey}`);
      context.out.say("Keep the private key out of the store and of version control.");
      return { data: { privateKey, publicKey }, text: privateKey, isValue: true };
    }
    const file = resolve(context.host.cwd, out);
    if (existsSync(file)) throw new HoldfastError("HF-4356", { file: out });
    writeFileSync(file, `${privateKey}\n`, { mode: 0o600, flag: "wx" });
    return {
      data: { file, publicKey },
      text: `✓ wrote the private key to ${out}\n  Public key, for whoever verifies: ${publicKey}`,
    };
  },
});

export const rotate = defineCommand({
  name: "rotate",
  summary: "Let another key sign from now on; the present one signs the announcement",
  options: { toFile: { flag: "--to-file <file>", summary: "The file with the new private key" } },
  examples: ["audit rotate --to-file next.key --reason yearly"],
  async run(context) {
    const { toFile } = context.options;
    if (toFile === undefined)
      throw usage("there is no new key", "Say which key signs from now on.", "audit rotate --to-file <file>");
    const { fileAuditKey } = await import("../../../security/audit-key.ts");
    const next = fileAuditKey(resolve(context.host.cwd, toFile));
    const act = await context.act("audit rotate");
    const head = await (await context.engine()).audit.rotate(next, act);
    const text = `✓ ${next.publicKey} signs from leaf ${head.size} on\n  Give the new key to every process, then destroy the old one.`;
    return { data: { head, publicKey: next.publicKey }, text };
  },
});
