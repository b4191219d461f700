import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StdioServer } from "../../src/adapters/mcp/index.ts";

const SERVER = fileURLToPath(new URL("./mcp-server.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Describes how to start the server as a process; it writes what it does to `file`. */
export const mcpProcess = (file: string, mode = "stdio"): StdioServer => ({
  command: process.execPath,
  args: ["--import", "tsx", SERVER, file, mode],
  cwd: ROOT,
  env: { GIVEN: "yes" },
});

export interface ServedMcp {
  readonly port: number;
  readonly url: string;
  readonly ended: Promise<unknown>;
  stop(): void;
}

/** Starts the server at an address, with or without sessions; `port` reuses an old address. */
export async function serveMcp(file: string, kind: "http" | "session", port = 0): Promise<ServedMcp> {
  const args = ["--import", "tsx", SERVER, file, `${kind}:${port}`];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const printed = await new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").once("data", resolve);
  });
  const at = Number(printed);
  return { port: at, url: `http://127.0.0.1:${at}/mcp`, ended, stop: () => void child.kill("SIGKILL") };
}

/** The server's actions, in order. */
export const deedsIn = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
