import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "../../../core/errors.ts";
import { hexDigest } from "../../../core/hash.ts";
import { readManifest } from "../../../core/manage/evidence/bundle.ts";
import { defineCommand } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { plural } from "../../format.ts";
import { usage } from "../../globals.ts";

/** Checks signed evidence without a store: who signed the list, and whether the files beside it are the listed ones. */
export const verify = defineCommand({
  name: "verify",
  summary: "Check a signed document: who signed it, and whether its files were changed. Needs no store",
  args: ["<note>"],
  options: {
    key: { flag: "--key <public-key>", summary: "A public key that you trust", list: true },
  },
  examples: ["report verify evidence-2026-11.note --key example.com/audit+1a2b3c4d+AVpR…"],
  async run({ args, options, host }) {
    const [named = ""] = args;
    const { key: keys = [] } = options;
    if (keys.length === 0)
      throw usage(
        "There is no key to check the signature with",
        "Whether a signature counts depends on whose key you trust. Get the public key through a channel other than the one the document came by.",
        `holdfast report verify ${named} --key <public-key>`,
      );
    const file = resolve(host.cwd, named);
    const { verifyText } = await import("../../../security/index.ts");
    const { text, signedBy } = verifyText(read(file, named), keys);
    const listed = readManifest(text);
    if (!listed) throw unlisted(named, "it is signed, but it isn't a list of evidence files");
    const files = [...listed].map(([name, digest]) => ({
      name,
      state: stateOf(join(dirname(file), name), digest),
    }));
    const ok = files.every(({ state }) => state === "unchanged");
    const marks = { unchanged: "✓", changed: "✗", missing: "✗" } as const;
    return {
      exit: ok ? EXIT.done : EXIT.integrity,
      data: { ok, signedBy, files, list: text },
      text: [
        `✓ signed by ${signedBy.join(", ")}`,
        ...text
          .trimEnd()
          .split("\n")
          .slice(1, 4)
          .map((line) => `  ${line}`),
        ...files.map(({ name, state }) => `${marks[state]} ${name}: ${state}`),
        ok ? `✓ ${plural(files.length, "file")} as signed` : "✗ not what was signed",
      ].join("\n"),
    };
  },
});

const unlisted = (file: string, problem: string): HoldfastError =>
  new HoldfastError("HF-6151", { file, problem });

function read(file: string, named: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw unlisted(named, "it can't be read");
  }
}

function stateOf(file: string, digest: string): "unchanged" | "changed" | "missing" {
  try {
    return hexDigest(readFileSync(file, "utf8")) === digest ? "unchanged" : "changed";
  } catch {
    return "missing";
  }
}
