import { readFileSync } from "node:fs";

/** The package's own version: its manifest lies two folders above this file, in the sources as in what is published. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return (manifest as { version: string }).version;
}
