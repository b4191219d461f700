import { createReadStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import type { Host } from "../host.ts";

/** The text of a bundle, in pieces; `-` is standard input. */
export async function* bundleText(file: string, host: Host): AsyncGenerator<string> {
  if (file === "-") {
    yield await host.readInput();
    return;
  }
  const path = resolve(host.cwd, file);
  if (!existsSync(path))
    throw new HoldfastError("HF-4304", {
      file,
      problem: "there is no such file",
      why: "Nothing is at this path.",
      fix: "Check the path; it is relative to the folder you are in.",
    });
  yield* createReadStream(path, { encoding: "utf8" });
}
