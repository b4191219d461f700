import path from "node:path";
import { type Browser, chromium } from "playwright-core";
import { firstOf } from "../../../lab/services/service.ts";
import { installed, missing } from "./service.ts";

/** Chromium as Debian packs it; `null` when it isn't installed. */
function chromiumProgram(): string | null {
  const folders = ["/usr/bin", ...(process.env["PATH"] ?? "").split(path.delimiter)];
  return firstOf(
    folders.flatMap((folder) => ["chromium", "google-chrome"].map((name) => path.join(folder, name))),
  );
}

/** Only what the test opens goes over the network. Tests run as root in containers, where the sandbox can't. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A real browser for one test file, or why there is none. */
export async function startBrowser(): Promise<{ readonly browser: Browser } | { readonly missing: string }> {
  if (!(await installed(chromiumProgram, "chromium")))
    return { missing: missing("Chromium", "it is not installed") };
  return { browser: await chromium.launch({ executablePath: chromiumProgram() ?? "", args: FLAGS }) };
}
