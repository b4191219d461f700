import { type ChildProcess, fork, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");
const CLI = path.join(ROOT, "dist/cli/main.js");

const FLOW = `import { workflow } from "${ROOT}/dist/index.js";
export const tick = workflow("tick", async (ctx) => {
  for (let i = 0; i < 5; i++) await ctx.step("step" + i, () => new Promise((done) => setTimeout(() => done(i), 50)));
});`;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Seconds of processor time that a process has taken so far. */
export function cpuOf(pid: number | undefined): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ").map(Number);
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) / 100;
}

export function rssOf(pid: number | undefined): number {
  const [, kb = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kb) / 1_024);
}

export interface Inspection {
  readonly heapMb: number;
  readonly externalMb: number;
  readonly rssMb: number;
  readonly sockets: number;
}

/** A folder with a configuration and a workflow, and the processes that are started there. */
export class Site {
  readonly #folder = mkdtempSync(path.join(tmpdir(), "holdfast-load-"));
  readonly #children = new Set<ChildProcess>();

  constructor(store: string) {
    writeFileSync(path.join(this.#folder, "flow.mjs"), FLOW);
    const rate = { per_second: 1e5, burst: 1e5 };
    const limits = { per_token: rate, per_address: rate, streams: 5_000, streams_per_token: 5_000 };
    const server = { port: 0, limits };
    writeFileSync(path.join(this.#folder, "holdfast.config.json"), JSON.stringify({ store, server }));
  }

  /** `holdfast serve`, without workers of its own. */
  async server(): Promise<Server> {
    const report = path.join(this.#folder, "inspection.json");
    const flags = ["--expose-gc", "--import", path.join(ROOT, "lab/load/inspect.mjs")];
    if (process.env["PROFILE"]) flags.push("--cpu-prof", `--cpu-prof-dir=${process.env["PROFILE"]}`);
    const { child, text } = await this.#start([...flags, CLI, "serve"], "Ctrl-C stops", report);
    return new Server(child, report, /http:\S+:\d+/.exec(text)?.[0] ?? "", /hf_\S+/.exec(text)?.[0] ?? "");
  }

  async worker(): Promise<ChildProcess> {
    return (await this.#start([CLI, "worker", "flow.mjs"], "advances")).child;
  }

  /** A process that is told what to do in messages. */
  script(name: string): Helper {
    const child = fork(path.join(ROOT, "lab/load", name), { execArgv: ["--import", "tsx"] });
    this.#children.add(child);
    return new Helper(child);
  }

  async end(): Promise<void> {
    const running = [...this.#children].filter(
      ({ exitCode, signalCode }) => exitCode === null && !signalCode,
    );
    const gone = running.map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of running) child.kill("SIGTERM");
    await Promise.all(gone);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(
    args: readonly string[],
    sign: string,
    report = "",
  ): Promise<{ child: ChildProcess; text: string }> {
    const env = { ...process.env, HOLDFAST_LOAD_REPORT: report };
    const child = spawn(process.execPath, args, {
      cwd: this.#folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.add(child);
    let text = "";
    await new Promise<void>((resolve, reject) => {
      const hear = (part: string): void => {
        text += part;
        if (text.includes(sign)) resolve();
      };
      child.stderr.setEncoding("utf8").on("data", hear);
      child.stdout.setEncoding("utf8").on("data", hear);
      child.once("exit", (code) => reject(new Error(`${args.at(-1)} ended with ${code}: ${text}`)));
    });
    return { child, text };
  }
}

export class Server {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  readonly #report: string;

  constructor(child: ChildProcess, report: string, url: string, token: string) {
    this.child = child;
    this.url = url;
    this.token = token;
    this.#report = report;
  }

  /** What it holds after a collection of garbage. */
  async inspect(): Promise<Inspection> {
    rmSync(this.#report, { force: true });
    this.child.kill("SIGUSR2");
    while (!existsSync(this.#report)) await pause(20);
    return JSON.parse(readFileSync(this.#report, "utf8")) as Inspection;
  }
}

export class Helper {
  readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  ask<T>(kind: string, more: object = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      this.child.once("message", (answer) => resolve(answer as T));
      this.child.once("exit", () => reject(new Error("a process of the load has ended")));
      this.child.send({ kind, ...more });
    });
  }
}
