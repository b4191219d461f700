import { defineCommand } from "../command.ts";
import { plural } from "../format.ts";
import { bundleText } from "../view/bundle-files.ts";
import { verifier } from "../view/bundle-keys.ts";

/** `holdfast import`: takes in what `export` wrote. */
export const command = defineCommand({
  name: "import",
  summary: "take in the runs of a bundle",
  args: ["<file>"],
  options: {
    onConflict: {
      flag: "--on-conflict <what>",
      summary: "for a run that is here already (default refuse)",
      choices: ["refuse", "skip"] as const,
    },
    verify: {
      flag: "--verify <public.pem>",
      summary: "only if signed with the key to this Ed25519 public key",
    },
  },
  examples: ["import recon-88.jsonl", "import - --verify public.pem < bundle.jsonl"],
  async run(context) {
    const { args, options, host } = context;
    const [file = ""] = args;
    const verify = options.verify === undefined ? {} : { verify: verifier(options.verify, host.cwd) };
    await context.store({ create: true });
    const { transfer } = await context.engine();
    const conflict = options.onConflict === undefined ? {} : { onConflict: options.onConflict };
    const report = await transfer.importRuns(bundleText(file, host), { ...conflict, ...verify });
    const { imported, skipped } = report;
    const here =
      skipped.length === 0
        ? ""
        : `; ${plural(skipped.length, "run")} were here already: ${skipped.join(", ")}`;
    const list = imported.length === 0 ? "" : `: ${imported.join(", ")}`;
    return {
      data: { ...report },
      text: `✓ imported ${plural(imported.length, "run")}${list}${here}`,
      next: imported.slice(0, 1).map((id) => `show ${id}`),
    };
  },
});
