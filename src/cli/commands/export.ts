import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { defineCommand } from "../command.ts";
import { usage } from "../globals.ts";
import { writeWhole } from "../output-file.ts";
import { signer } from "../view/bundle-keys.ts";
import { bytes } from "../view/sizes.ts";

/** `holdfast export`: writes a run as a portable bundle. */
export const command = defineCommand({
  name: "export",
  summary: "Export a run as a bundle that another store can import",
  args: ["<run>"],
  options: {
    out: { flag: "-o, --out <file>", summary: "Write to this file (default: standard output)" },
    children: { flag: "--children", summary: "Include its children and theirs" },
    sign: { flag: "--sign <key.pem>", summary: "Sign the bundle with this Ed25519 private key" },
  },
  examples: ["export recon-88 -o recon-88.jsonl", "export recon-88 --children --sign key.pem > bundle.jsonl"],
  async run(context) {
    const { args, options, host, out, globals } = context;
    const run = await (await context.addresses()).run(args[0] ?? "");
    const sign = options.sign === undefined ? {} : { sign: signer(options.sign, host.cwd) };
    const { transfer } = await context.engine();
    const act = await context.who();
    const lines = transfer.exportRun(run.id, { children: options.children, ...act, ...sign });
    if (options.out === undefined) {
      if (out.isJson)
        throw usage(
          "--json can't contain the bundle",
          "A bundle consists of several lines.",
          `holdfast export ${run.id} -o <file> --json`,
        );
      for await (const line of lines) host.stdout.write(line);
      return { data: {} };
    }
    const file = resolve(host.cwd, options.out);
    if (existsSync(file) && !globals.yes) throw new HoldfastError("HF-4356", { file: options.out });
    const size = await writeWhole(file, lines);
    const signed = options.sign === undefined ? "" : ", signed";
    return {
      data: { run: run.id, file, bytes: size, signed: options.sign !== undefined },
      text: `✓ exported ${run.id} to ${options.out} (${bytes(size)}${signed})`,
      next: [`import ${options.out}`],
    };
  },
});
