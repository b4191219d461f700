import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../source-tree.ts";
import { type CliFolder, cliFolder } from "../support/cli.ts";

const MAIN = join(ROOT, "src/cli/main.ts");
const TSX = pathToFileURL(join(ROOT, "node_modules/tsx/dist/esm/index.mjs")).href;

/** The second step ends when a file `go` exists. */
const FLOWS = `
import { existsSync } from "node:fs";
const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const step = (ctx, name, work) => ctx.step(name, async () => { console.error("begun " + name); await work?.(); return name; });
export const slow = {
  name: "slow", version: "1", schema: 1, migrations: [], compensateOnFailure: false,
  async body(ctx) {
    const first = await step(ctx, "first");
    const second = await step(ctx, "second", async () => { while (!existsSync("go")) await rest(20); });
    return [first, second, await step(ctx, "third")].join(" ");
  },
};
`;

/** Their second steps end the process at the first attempt. */
const SUDDEN = `
const later = (work) => new Promise(() => setTimeout(work, 10));
const flow = (name, end) => ({
  name, version: "1", schema: 1, migrations: [], compensateOnFailure: false,
  body: async (ctx) => {
    await ctx.step("first", () => 1);
    return ctx.step("second", ({ attempt }) => attempt > 1 ? "done" : later(end));
  },
});
export const throwing = flow("throwing", () => { throw new Error("far away"); });
export const leaving = flow("leaving", () => process.exit(3));
`;

const folders: CliFolder[] = [];
let folder: CliFolder;

beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
  folder.write("slow.mjs", FLOWS);
  folder.write("holdfast.config.json", JSON.stringify({ claim: "2s" }));
});
afterAll(() => folders.forEach((one) => one.remove()));

const go = () => folder.write("go", "");

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the real command from source. `on` is called once when a text appears on standard error. Of the stream `unread`
 * nobody reads anything, as behind a pipe whose reader has left.
 */
function holdfast(
  line: string,
  on: Readonly<Record<string, (child: ChildProcess) => void>> = {},
  unread?: "stdout" | "stderr",
): Promise<Ended> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, ["--import", TSX, MAIN, ...line.split(" ")], {
    cwd: folder.path,
    env: { PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (unread) child[unread].destroy();
  let [stdout, stderr] = ["", ""];
  const left = new Map(Object.entries(on));
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    for (const [text, act] of left)
      if (stderr.includes(text)) {
        left.delete(text);
        act(child);
      }
  });
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
}

describe("the command as a process", () => {
  it("pauses at the first Ctrl-C after the current step, and resume does only what is left (S3-02)", async () => {
    const first = await holdfast("run slow.mjs --id p1", {
      "begun second": (child) => child.kill("SIGINT"),
      "Pausing… finishing second; Ctrl-C again to stop now": go,
    });
    expect([first.code, first.stdout]).toEqual([130, ""]);
    expect(first.stderr.trimEnd().split("\n").at(-1)).toMatch(
      /^‖ Paused at #\d+ · resume: holdfast resume p1$/,
    );
    const second = await holdfast("resume p1");
    expect([second.code, second.stdout]).toEqual([0, "first second third\n"]);
    expect(second.stderr).not.toMatch(/begun (first|second)/);
    expect(second.stderr).toMatch(/reused 2 steps/);
  });

  it("stops at the second Ctrl-C although a step does not end, and its claim is known to be dead", async () => {
    const first = await holdfast("run slow.mjs --id p2", {
      "begun second": (child) => child.kill("SIGINT"),
      "Pausing… finishing second": (child) => child.kill("SIGINT"),
    });
    expect(first.code).toBe(130);
    expect(first.stderr).toContain("second was still running; resume finds out how it ended");
    expect(first.stderr.trimEnd().split("\n").at(-1)).toMatch(/^‖ Paused at #\d+/);
    go();
    const second = await holdfast("resume p2");
    expect([second.code, second.stdout]).toEqual([0, "first second third\n"]);
    expect(second.stderr).not.toContain("begun first");
  });

  it("is resumed after kill -9, and a live process is never taken for a dead one", async () => {
    let other: Promise<Ended> | undefined;
    const first = await holdfast("run slow.mjs --id p3", {
      "begun second": (child) => {
        other = holdfast("resume p3");
        void other.then(() => child.kill("SIGKILL"));
      },
    });
    expect(first.signal).toBe("SIGKILL");
    expect(await other).toMatchObject({ code: 7, stderr: expect.stringContaining("HF-4311") });
    go();
    const last = await holdfast("resume p3");
    expect([last.code, last.stdout]).toEqual([0, "first second third\n"]);
    expect(last.stderr).not.toContain("begun first");
  });

  it("started twice at once with the same id is one run: the other command says who has it", async () => {
    const both = ["run slow.mjs --id p4", "run slow.mjs --id p4"].map(async (line) => {
      const ended = await holdfast(line);
      // The refused one ends first: the other waits for it.
      go();
      return ended;
    });
    const ended = await Promise.all(both);
    expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([0, 7]));
    expect(ended.find(({ code }) => code === 7)?.stderr).toContain("HF-4311");
    expect(
      ended
        .map(({ stderr }) => stderr.match(/begun \w+/g) ?? [])
        .flat()
        .sort(),
    ).toEqual(["begun first", "begun second", "begun third"]);
  });

  it.each([
    ["throwing", /✗ Run r was cut off: far away +HF-4367\n +At +sudden\.mjs:10:/],
    ["leaving", /✗ Run r was cut off: its code ended the process with exit code 3\. +HF-4368/],
  ])("says how to continue when the code ends the process: %s", async (name, told) => {
    folder.write("sudden.mjs", SUDDEN);
    const { code, stderr } = await holdfast(`run sudden.mjs#${name} --id r`);
    expect(code).toBe(75);
    expect(stderr).toMatch(told);
    expect(stderr).toContain("Fix   holdfast resume r\n");
    const second = await holdfast("resume r");
    expect([second.code, second.stdout]).toEqual([0, "done\n"]);
  });

  it("leaves with 75 after SIGTERM", async () => {
    const { code, stderr } = await holdfast("run slow.mjs --id p4", {
      "begun second": (child) => child.kill("SIGTERM"),
      "Pausing… finishing second": go,
    });
    expect(code).toBe(75);
    expect(stderr).toMatch(/‖ Paused at #\d+ · resume: holdfast resume p4/);
  });

  it("ends quietly when whoever reads its output has left, also while it follows a run", async () => {
    let follow: (ended: Promise<Ended>) => void = () => undefined;
    const followed = new Promise<Ended>((resolve) => {
      follow = resolve;
    });
    const run = holdfast("run slow.mjs --id p6", {
      "begun second": () => follow(holdfast("logs p6 --follow", {}, "stdout")),
    });
    expect(await followed).toMatchObject({ code: 0, stderr: "" });
    go();
    expect((await run).code).toBe(0);
    for (const line of ["logs p6 --json", "list", "--help"])
      expect(await holdfast(line, {}, "stdout"), line).toMatchObject({ code: 0, stderr: "" });
  });

  it("finishes a run although nobody reads its progress any more", async () => {
    go();
    expect(await holdfast("run slow.mjs --id p7", {}, "stderr")).toMatchObject({
      code: 0,
      stdout: "first second third\n",
    });
    const { code } = await holdfast("run slow.mjs --id p8", {}, "stdout");
    expect([code, (await folder.until("p8", ({ status }) => status === "completed")).stepsDone]).toEqual([
      0, 3,
    ]);
  });

  it("continues in the background with --detach", async () => {
    go();
    const { code, stdout } = await holdfast("run slow.mjs --id p5 --detach");
    expect([code, stdout]).toEqual([0, "p5\n"]);
    expect((await folder.until("p5", ({ status }) => status === "completed")).stepsDone).toBe(3);
  });
});
