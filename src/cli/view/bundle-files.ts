import { createReadStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Host } from "../host.ts";
import { noFile } from "../modules.ts";
import { fileError } from "../output-file.ts";

/** The text of a bundle in pieces; `-` is standard input. */
export async function* bundleText(file: string, host: Host): AsyncGenerator<string> {
  if (file === "-") {
    yield await host.readInput();
    return;
  }
  const path = resolve(host.cwd, file);
  if (!existsSync(path)) throw noFile(file);
  try {
    yield* createReadStream(path, { encoding: "utf8" });
  } catch (error) {
    throw fileError(error, file);
  }
}
