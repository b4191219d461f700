import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { interpreterSandbox } from "../../../scripts/sandboxes.mjs";
import { bundleInterpreter } from "../../../src/adapters/temporal/interpreter/index.ts";
import { hexDigest } from "../../../src/core/hash.ts";
import { ROOT } from "../../source-tree.ts";

/** The code of the interpreter's sandbox as the package has it, bundled by Temporal's own bundler. */
export async function interpreterBundle(): Promise<string> {
  const folder = path.join(ROOT, ".tmp");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `interpreter-${process.pid}.js`);
  await build({ ...interpreterSandbox(ROOT), output: { file, format: "esm", codeSplitting: false } });
  const made = path.join(folder, `interpreter-${hexDigest(readFileSync(file, "utf8")).slice(0, 16)}.bundle`);
  if (!existsSync(made)) {
    writeFileSync(`${made}.${process.pid}`, await bundleInterpreter(file));
    renameSync(`${made}.${process.pid}`, made);
  }
  return readFileSync(made, "utf8");
}
