/**
 * Plays the README as a newcomer would, from an empty folder: install, demo, an own file, `kill -9`, resume, and a gate that
 * another process answers. `node scripts/play-readme.mjs [holdfast-x.y.z.tgz]` packs the package itself when no tarball is named.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const WINDOWS = process.platform === "win32";
/** Whether this Node strips types itself. */
const RUNS_TYPESCRIPT = "typescript" in process.features && Boolean(process.features.typescript);
const run = promisify(execFile);

/**
 * What the README asks for: files to save, and commands to type, in its order.
 * @returns {{ files: Map<string, string>, commands: string[] }}
 */
export function readReadme() {
  const text = readFileSync(path.join(ROOT, "README.md"), "utf8");
  const fences = [...text.matchAll(/([^\n]*)\n\n^```(\w*)\n(.*?)^```$/gms)];
  const files = new Map();
  for (const [, before = "", , code] of fences) {
    const [, name] = /Save this as `([^`]+)`/.exec(before) ?? [];
    if (name !== undefined) files.set(name, code);
  }
  const plain = fences.filter(([, , language]) => language === "");
  const lines = plain.flatMap(([, , , code = ""]) => code.trim().split("\n"));
  const commands = lines.filter((line) => /^np[mx] /.test(line)).map((line) => line.replace(/ +#.*/, ""));
  return { files, commands };
}

/** An empty folder with no project above it, where npm would install instead. */
export function emptyFolder() {
  const isFree = (/** @type {string} */ folder) => {
    for (let above = folder; ; above = path.dirname(above)) {
      if (existsSync(path.join(above, "package.json")) || existsSync(path.join(above, "node_modules")))
        return false;
      if (above === path.dirname(above)) return true;
    }
  };
  const base = [tmpdir(), homedir()].find(isFree);
  if (base === undefined) throw new Error("there is a package.json above every folder for temporary files");
  return mkdtempSync(path.join(base, "holdfast-readme-"));
}

/** Packs the package into a folder. Returns the tarball's path. @param {string} folder @param {string} [from] */
export async function pack(folder, from = ROOT) {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: from,
    shell: WINDOWS,
  });
  return path.join(folder, JSON.parse(stdout)[0].filename);
}

/** Types commands in a folder, and remembers them with the time each took. */
class Terminal {
  /** @type {{ command: string, ms: number }[]} */
  typed = [];

  /** @param {string} folder @param {(line: string) => void} say */
  constructor(folder, say) {
    this.folder = folder;
    this.say = say;
  }

  /** Returns what the command printed on standard output. @param {string} command */
  async type(command, { codes = [0] } = {}) {
    const child = this.start(command);
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    const code = await child.ended;
    if (!codes.includes(code)) throw new Error(`${command} ended with ${code}:\n${out}\n${err}`);
    return out;
  }

  /** Starts a command in a process group of its own, so that it can be killed as a whole. @param {string} command */
  start(command) {
    const began = performance.now();
    const entry = { command, ms: 0 };
    this.typed.push(entry);
    const child = spawn(command, { cwd: this.folder, shell: true, detached: !WINDOWS });
    /** @type {Promise<number>} */
    const ended = new Promise((resolve) => {
      child.on("close", (code) => {
        entry.ms = Math.round(performance.now() - began);
        this.say(`${(entry.ms / 1_000).toFixed(1).padStart(6)} s  ${command}`);
        resolve(code ?? -1);
      });
    });
    return Object.assign(child, { ended });
  }
}

/** @param {{ readonly pid?: number | undefined }} child */
function killAll(child) {
  if (child.pid === undefined) throw new Error("the process did not start");
  process.kill(-child.pid, "SIGKILL");
}

/**
 * Resolves when a line of a stream contains the text.
 * @param {import("node:stream").Readable} stream
 * @param {string} text
 */
async function lineWith(stream, text) {
  for await (const line of createInterface({ input: stream })) if (line.includes(text)) return;
  throw new Error(`it never printed ${text}`);
}

/** @param {boolean} isTrue @param {string} what */
function check(isTrue, what) {
  if (!isTrue) throw new Error(what);
}

/**
 * Plays the README with this tarball. Returns what was typed, how often until the first resume, and how long all of it took.
 * @param {{ tarball: string, say?: (line: string) => void }} options
 */
export async function playReadme({ tarball, say = () => undefined }) {
  const { files, commands } = readReadme();
  const [install, demo, start, resume, gates, approve] = /** @type {string[]} */ (commands);
  const folder = emptyFolder();
  const terminal = new Terminal(folder, say);
  const began = performance.now();
  try {
    check(install === "npm install holdfast", `the README starts with ${install}`);
    await terminal.type(`npm install --prefer-offline --no-audit --no-fund ${tarball}`);
    const shown = await terminal.type(`${demo}`);
    check(shown.includes("0 duplicates"), `the demo said:\n${shown}`);
    const toFirstResume = terminal.typed.length;
    if (!RUNS_TYPESCRIPT) await terminal.type("npm install --prefer-offline --no-audit --no-fund tsx");
    for (const [name, code] of files) writeFileSync(path.join(folder, name), code);

    const child = terminal.start(`${start}`);
    await lineWith(child.stderr, "✓ flight");
    killAll(child);
    await child.ended;
    const booked = await terminal.type(`${resume}`);
    check(booked.includes("Booked: a flight to Oslo"), `resume said:\n${booked}`);

    const program = RUNS_TYPESCRIPT ? "node approved.mts" : "npx tsx approved.mts";
    const waiting = terminal.start(program);
    let said = "";
    waiting.stdout.on("data", (data) => (said += data));
    while (!(await terminal.type(`${gates}`)).includes("bergen:approve"));
    await terminal.type(`${approve}`);
    check((await waiting.ended) === 0 && said.includes("Booked Oslo"), `the program said:\n${said}`);
    return { typed: terminal.typed, toFirstResume, demo: shown, ms: Math.round(performance.now() - began) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-pack-"));
  const tarball = process.argv[2] ? path.resolve(process.argv[2]) : await pack(folder);
  const { ms, toFirstResume } = await playReadme({ tarball, say: console.log });
  rmSync(folder, { recursive: true, force: true });
  console.log(
    `${(ms / 1_000).toFixed(1).padStart(6)} s  in all; ${toFirstResume} commands to the first resume`,
  );
}
