import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { ROOT } from "../source-tree.ts";
import { startBrowser } from "../support/services/chromium.ts";

const MAIN = path.join(ROOT, "dist/cli/main.js");

export interface StageOptions {
  /** The store's URL. Default: a SQLite file of its own. */
  readonly store?: string;
  /** Workflow files by name, such as `pay.mjs`. They import the built package by its name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

type WindowOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A folder with a store, a real server process, real worker processes, and a browser that looks at them. */
export class Stage {
  readonly folder = mkdtempSync(path.join(tmpdir(), "holdfast-browser-"));
  readonly #options: StageOptions;
  readonly #processes = new Set<ChildProcess>();
  readonly #contexts: BrowserContext[] = [];
  url = "";
  /** What the pages have logged as errors, and requests that went elsewhere. */
  readonly complaints: string[] = [];
  #browser: Browser | null = null;
  #made = 0;

  constructor(options: StageOptions = {}) {
    this.#options = options;
    for (const [name, text] of Object.entries(options.files ?? {}))
      writeFileSync(path.join(this.folder, name), text);
    // Files import the package by its name.
    mkdirSync(path.join(this.folder, "node_modules"));
    symlinkSync(ROOT, path.join(this.folder, "node_modules/holdfast"));
  }

  /** Starts a command of the built package in the folder. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const store = this.#options.store === undefined ? [] : ["--store", this.#options.store];
    const child = spawn(process.execPath, [MAIN, ...args, ...store], {
      cwd: this.folder,
      env: { PATH: "/nowhere", HOME: this.folder, ...this.#options.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#processes.add(child);
    child.once("exit", () => this.#processes.delete(child));
    return child;
  }

  /** Runs a command to its end and returns what it printed. */
  async run(args: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string }> {
    const child = this.start(args);
    let stdout = "";
    child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    const [code] = (await once(child, "exit")) as [number | null];
    return { code, stdout };
  }

  /** Starts the server and returns a page that is signed in; the first call starts the browser. */
  async open(pathname = "/", files: readonly string[] = []): Promise<Page | { readonly missing: string }> {
    const started = await startBrowser();
    if ("missing" in started) return started;
    this.#browser = started.browser;
    return this.page(await this.serve(files), pathname);
  }

  /** Starts the server and returns its sign-in link. */
  async serve(files: readonly string[] = []): Promise<string> {
    const link = await said(this.start(["serve", ...files, "--port", "0", "--open"]), /(http\S+)\/#code=\S+/);
    this.url = link.split("/#")[0] ?? "";
    return link;
  }

  /** Opens a sign-in link in a browser window of its own. */
  async page(link: string, pathname = "/", options: WindowOptions = {}): Promise<Page> {
    const page = await this.#newPage(options);
    await page.goto(link);
    await page.getByRole("navigation").waitFor();
    if (pathname !== "/") await page.goto(`${this.url}${pathname}`);
    return page;
  }

  /** Another window, signed in as somebody with this role. */
  async window(role: string, pathname = "/", options: WindowOptions = {}): Promise<Page> {
    return this.windowWith(await this.token(role), pathname, options);
  }

  /** Another window, signed in with this token. */
  async windowWith(token: string, pathname = "/", options: WindowOptions = {}): Promise<Page> {
    const page = await this.#newPage(options);
    const authorization = `Bearer ${token}`;
    const origin = this.url;
    await page.request.post(`${this.url}/v1/session`, { headers: { authorization, origin } });
    await page.goto(`${this.url}${pathname}`);
    await page.getByRole("navigation").waitFor();
    return page;
  }

  /** A new token with this role. */
  async token(role: string): Promise<string> {
    const { stdout } = await this.run(["token", "create", `${role} ${++this.#made}`, "--role", role]);
    return /hf_\S+/.exec(stdout)?.[0] ?? "";
  }

  async #newPage(options: WindowOptions): Promise<Page> {
    if (!this.#browser) throw new Error("open the stage first");
    const context = await this.#browser.newContext({ reducedMotion: "reduce", ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (line) => {
      if (line.type() === "error" && !/status of (401|409|412)/.test(line.text()))
        this.complaints.push(line.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(this.url)) this.complaints.push(`asked ${request.url()}`);
    });
    return page;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.#browser?.close();
    for (const child of this.#processes) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The first match in what a process prints, on either of its outputs. */
export function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const hear = (chunk: Buffer): void => {
      text += chunk.toString();
      const [match] = pattern.exec(text) ?? [];
      if (match !== undefined) resolve(match);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code) => reject(new Error(`it ended with ${code} and said:\n${text}`)));
  });
}
