import { existsSync, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { splitAddress } from "../addresses.ts";
import { defineCommand } from "../command.ts";
import { usage } from "../globals.ts";
import { noFile } from "../modules.ts";
import { validateBundle } from "./validate/bundle.ts";
import { validateCheckpointFile } from "./validate/checkpoint-file.ts";
import { validateConfig, validateModule, validateYaml } from "./validate/files.ts";
import { findCheckpointFile } from "./validate/find-file.ts";
import { validateStored } from "./validate/stored.ts";

/** `holdfast validate`: checks a workflow, the configuration, a bundle, a run or a checkpoint. */
export const command = defineCommand({
  name: "validate",
  summary: "Check a workflow file, a run, a checkpoint, a bundle or the configuration",
  args: ["<what>"],
  options: {
    file: { flag: "--file <file>", summary: "For a run: the code that would continue it" },
    verify: { flag: "--verify <public.pem>", summary: "For a bundle: check its signature" },
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
    return what === "-"
      ? validateBundle(context, what, options.verify)
      : validateCheckpointFile(context, path, what, options.verify);
  },
});

/** `holdfast validate-checkpoint --file=…`: the same for a file, as the checkpoint system design spells it. */
export const validateFile = defineCommand({
  name: "validate-checkpoint",
  summary: "Same as validate, for a checkpoint file",
  options: {
    file: { flag: "--file <file>", summary: "The file, or its name in a store of this project" },
  },
  examples: ["validate-checkpoint --file=checkpoint_phase2_20240102.json"],
  async run(context) {
    const { file } = context.options;
    if (file === undefined || file === "")
      throw usage(
        "the file is missing",
        "Name it with --file.",
        "holdfast validate-checkpoint --file=<file>",
      );
    const path = findCheckpointFile(await context.settings(), context.host.cwd, file);
    if (path === undefined) throw noFile(file);
    return validateCheckpointFile(context, path, file);
  },
});
