import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "../../source-tree.ts";
import { FILES } from "./files.ts";

const MAIN = path.join(ROOT, "dist/cli/main.js");
const UNTIL_READY = path.join(ROOT, "test/support/docs-commands/until-ready.mjs");

/** How a block of commands is executed. */
export interface Scene {
  /** Commands before it, such as those that start the run it is about. */
  readonly before?: string;
  /** Texts of the block that stand for something of the reader's. */
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** True when commands may exit with 75, because a run waits for a person. */
  readonly waits?: boolean;
  /** Lines that aren't executed, and why not. */
  readonly without?: Readonly<Record<string, string>>;
  /** Commands after it, which show that it has worked. */
  readonly after?: string;
}

/** Servers run until they are stopped: each is stopped once it says that it is ready. */
const HOLDFAST = `set -euo pipefail
holdfast() {
  local code=0
  case "$1" in
    serve) node "$UNTIL_READY" "what is under way" "$MAIN" "$@" --port 0 || code=$? ;;
    worker) node "$UNTIL_READY" "what is under way" "$MAIN" "$@" || code=$? ;;
    mcp) node "$MAIN" "$@" < /dev/null || code=$? ;;
    *) node "$MAIN" "$@" || code=$? ;;
  esac
  if [ "$code" = 75 ] && [ "$WAITS" = yes ]; then code=0; fi
  return $code
}
`;

/** Executes a block as a reader would, in a folder with the project of the docs. Returns what failed. */
export async function play(
  code: string,
  { before = "", after = "", env = {}, waits = false, ...scene }: Scene,
): Promise<string> {
  const folder = mkdtempSync(path.join(ROOT, ".tmp-commands-"));
  try {
    mkdirSync(path.join(folder, "node_modules"));
    symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    const missing = Object.keys(scene.without ?? {}).filter((line) => !code.includes(line));
    if (missing.length > 0) return `The block has no line ${missing.join(", ")}`;
    const executed = Object.keys(scene.without ?? {}).reduce((text, line) => text.replace(line, ""), code);
    const typed = Object.entries(scene.with ?? {}).reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      executed,
    );
    const script = `${HOLDFAST}WAITS=yes\n${before}\nWAITS=${waits ? "yes" : "no"}\n${typed}\n${after}\n`;
    const kept = Object.entries(process.env).filter(
      ([name]) => !/^(?:HOLDFAST_|OTEL_|NODE_OPTIONS$)/.test(name),
    );
    const child = spawn("bash", ["-c", script], {
      cwd: folder,
      env: { ...Object.fromEntries(kept), HOME: folder, NO_COLOR: "1", MAIN, UNTIL_READY, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const [status, ...said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return status === 0 ? "" : `exit ${status}\n${said.join("\n")}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
