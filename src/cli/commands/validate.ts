import { existsSync, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { splitAddress } from "../addresses.ts";
import { defineCommand } from "../command.ts";
import { validateBundle } from "./validate/bundle.ts";
import { validateConfig, validateModule, validateYaml } from "./validate/files.ts";
import { validateStored } from "./validate/stored.ts";

/** `holdfast validate`: checks a workflow, the configuration, a bundle, a run or a checkpoint. */
export const command = defineCommand({
  name: "validate",
  summary: "check a workflow file, a run, a checkpoint, a bundle or the configuration",
  args: ["<what>"],
  options: {
    file: { flag: "--file <file>", summary: "for a run: the code it would go on with" },
    verify: { flag: "--verify <public.pem>", summary: "for a bundle: check its signature" },
  },
  examples: ["validate flow.yaml", "validate recon-88@last", "validate recon-88.jsonl", "validate config"],
  async run(context) {
    const { args, options, host } = context;
    const [what = ""] = args;
    if (what === "config") return validateConfig(context);
    const path = resolve(host.cwd, what.split("#")[0] ?? "");
    if (what !== "-" && !(existsSync(path) && statSync(path).isFile())) {
      // A name that looks like a missing file would be searched in the store in vain.
      if (/\.(ya?ml|[mc]?[tj]s|jsonl?)$/.test(splitAddress(what).run)) return validateModule(context, what);
      return validateStored(context, what, options.file);
    }
    if (basename(path).startsWith("holdfast.config.")) return validateConfig(context, path);
    const kind = extname(path);
    if (kind === ".yaml" || kind === ".yml") return validateYaml(context, path);
    if (/^\.[mc]?[tj]s$/.test(kind)) return validateModule(context, what);
    return validateBundle(context, what, options.verify);
  },
});
