import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";
import { type Command, type Ended, missing, Running, sessionOf } from "./support/console.ts";
import { useFolders } from "./support/folders.ts";

/** The package as built; HOLDFAST_PACKAGE names another copy of it. */
const PACKAGE = process.env["HOLDFAST_PACKAGE"] ?? ROOT;
const EXAMPLES = path.join(ROOT, "examples");
const MADE_BY_RUNS = [
  ".holdfast",
  "outputs",
  "messages.txt",
  "calls.log",
  "bank",
  "mails.txt",
  "enough",
  "work",
  "keys.json",
];

const folder = useFolders("examples");

const INSTALLED = ["tsx", "@langchain", "ai", "@hono"];

/** Somebody else's project with the package, `tsx` and the libraries of the examples, and a copy of the example. */
function projectWith(example: string): string {
  const project = folder();
  const installed = path.join(project, "node_modules/holdfast");
  mkdirSync(installed, { recursive: true });
  cpSync(path.join(PACKAGE, "package.json"), path.join(installed, "package.json"));
  symlinkSync(path.join(PACKAGE, "dist"), path.join(installed, "dist"));
  for (const name of INSTALLED)
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(project, "node_modules", name));
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  const copy = path.join(project, example);
  const isKept = (file: string): boolean => !MADE_BY_RUNS.includes(path.basename(file));
  cpSync(path.join(EXAMPLES, example), copy, { recursive: true, filter: isKept });
  return copy;
}

const WORD = /"([^"]*)"|(\S+)/g;

function start(line: string, cwd: string): Running {
  const { PATH = "" } = process.env;
  const options = { cwd, env: { PATH } };
  const [, given] = /^npx holdfast (.*)$/.exec(line) ?? [];
  if (given === undefined) return new Running("sh", ["-c", line], options);
  const words = [...given.matchAll(WORD)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  return new Running(process.execPath, [path.join(PACKAGE, "dist/cli/main.js"), ...words], options);
}

/** Runs the commands of the README one after another. */
async function play(commands: readonly Command[], cwd: string): Promise<Ended[]> {
  const ends: Ended[] = [];
  const left: Running[] = [];
  try {
    for (const { line, exit, isLeftRunning, shows } of commands) {
      const waits = /^wait(?: %(\d+))?$/.exec(line);
      const running = waits ? left[Number(waits[1] ?? 1) - 1] : start(line, cwd);
      if (!running) throw new Error("There is nothing to wait for.");
      if (isLeftRunning) {
        left.push(running);
        await running.until(shows);
        continue;
      }
      const ended = await running.ended;
      expect(ended.exit, `${line}\n${ended.printed}`).toBe(exit);
      expect(missing(shows, ended.printed), `${line}\n${ended.printed}`).toEqual([]);
      ends.push(ended);
    }
  } finally {
    for (const running of left) running.kill();
  }
  return ends;
}

/** The number of model calls by agent, from the log. */
function callsIn(cwd: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const call of readFileSync(path.join(cwd, "calls.log"), "utf8").trimEnd().split("\n"))
    counts[call] = (counts[call] ?? 0) + 1;
  return counts;
}

const filesIn = (cwd: string, name: string): string[] =>
  readdirSync(path.join(cwd, name)).filter((file) => file.endsWith(".json"));

const OF_TEN = ["planner", "market", "news", "financials", "peers", "legal", "risk", "valuation"];
const once = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, 1]));

/** Checks what each example must have done when its README has been followed. */
const PROOFS: Readonly<Record<string, (cwd: string, ends: readonly Ended[]) => void>> = {
  "langgraph-agent": (cwd) =>
    expect(callsIn(cwd)).toEqual({
      ...once(["model 0", "model 1", "model 3", "invoice 1", "invoice 2", "invoice 3"]),
      "model 2": 2,
    }),
  "streaming-chat": (cwd, [, asked]) => {
    expect(callsIn(cwd)).toEqual({ model: 2 });
    // Half of the answer came from the first process, and was printed once.
    expect(asked?.printed.match(/Sunlight holds/g)).toHaveLength(1);
  },
  "http-routes": (cwd) => expect(callsIn(cwd)).toEqual({ reserve: 1, charge: 2, pack: 1 }),
  "hello-crash": (_, [, resumed]) => expect(resumed?.printed).not.toContain("looking up"),
  "ten-agents-429": (cwd) => expect(callsIn(cwd)).toEqual({ ...once(OF_TEN), reviewer: 3, publisher: 1 }),
  "parallel-groups": (cwd) =>
    expect(callsIn(cwd)).toEqual({ ...once(["market", "product", "team", "summary"]), finances: 2 }),
  "for-each-200": (cwd) => {
    const { "attempt 1": first = 0, "attempt 2": second = 0, ...others } = callsIn(cwd);
    expect(others).toEqual({});
    // Each invoice once, and again those in progress: eight at most.
    expect(first + second).toBeGreaterThan(200);
    expect(first + second).toBeLessThanOrEqual(208);
    expect(second).toBeLessThanOrEqual(8);
  },
  "human-gate": (cwd) => expect(callsIn(cwd)).toEqual({ writer: 1, polish: 2 }),
  "sub-workflows": (cwd) =>
    expect(callsIn(cwd)).toEqual({ ...once(["search", "shorten", "title"]), judge: 2 }),
  "script-and-set": (_, [, resumed]) => expect(resumed?.printed).not.toContain("✓ measure"),
  "reconcile-payments": (cwd) => {
    const paid = filesIn(cwd, "bank").map((file) => readFileSync(path.join(cwd, "bank", file), "utf8"));
    const [one, other] = ["INV-1", "INV-3"].map((id) => paid.filter((text) => text.includes(id)).length);
    // The run, two uninterrupted ones and four killed ones: each has paid both, under its own keys.
    expect(one).toBeGreaterThanOrEqual(7);
    expect(other).toBe(one);
  },
  "version-migration": (_, ends) => expect(ends.at(-1)?.printed).not.toContain("under the key"),
  "contract-review": (cwd) =>
    expect(callsIn(cwd)).toEqual({
      ...once(["turn 0", "turn 1", "turn 3", "turn 5"]),
      "turn 2": 2,
      "turn 4": 2,
    }),
  "codebase-refactor": (cwd, [, resumed]) => {
    expect(callsIn(cwd)).toMatchObject({ "turn 4": 1, "turn 5": 2, "turn 8": 1 });
    expect(resumed?.printed).not.toContain("refactorer[4]/model");
    const files = readdirSync(path.join(cwd, "work"));
    expect(files).toContain("setup.js");
    expect(files.map((file) => readFileSync(path.join(cwd, "work", file), "utf8")).join("")).not.toContain(
      'fetchData("',
    );
  },
  "clinical-summary": (cwd, [, , resumed]) => {
    expect(resumed?.printed).not.toContain("…");
    const stored = readdirSync(path.join(cwd, ".holdfast")).map((file) =>
      readFileSync(path.join(cwd, ".holdfast", file), "latin1"),
    );
    for (const text of ["Grace", "Hopper", "204417", "haemoglobin"])
      expect(stored.join("")).not.toContain(text);
  },
  "two-workers-race": (_, [loser]) => expect(loser?.printed).not.toContain("… process"),
  "stock-team": (cwd) => {
    const calls = callsIn(cwd);
    expect(Object.keys(calls)).toHaveLength(54);
    // Only what was under way when the process was killed: four agents at most.
    const again = Object.entries(calls).filter(([, count]) => count > 1);
    expect(again.map(([call]) => call)).toContain("strategy_analyst ma_review");
    expect(again.length).toBeLessThanOrEqual(4);
    expect(calls["strategy_analyst historical_roi"]).toBe(1);
    expect(readFileSync(path.join(cwd, "messages.txt"), "utf8").trim().split("\n")).toHaveLength(2);
  },
  "phases-atlas": (cwd) => {
    const calls = callsIn(cwd);
    expect(calls["mercury_2 write"]).toBe(3);
    expect(calls["mercury_1 gather"]).toBe(2);
    expect(calls["mercury_4 write"]).toBe(1);
  },
  "dag-pglite": (cwd) => {
    const { moon, cartoon, outline, publish, plan, archive } = callsIn(cwd);
    // The killed search once more; what was finished or confirmed, once.
    expect({ moon, plan, outline, cartoon, publish, archive }).toEqual({
      moon: 2,
      plan: 1,
      outline: 1,
      cartoon: 1,
      publish: 1,
      archive: 1,
    });
  },
  everything: (cwd) =>
    expect(Object.keys(callsIn(cwd)).sort()).toEqual(["draft", "reviewer", "security", "style", "title"]),
};

describe("the examples", () => {
  const names = readdirSync(EXAMPLES, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );

  it("each have a proof here, and a row in the table of the README", () => {
    expect(names.sort()).toEqual(Object.keys(PROOFS).sort());
    const readme = readFileSync(path.join(ROOT, "README.md"), "utf8");
    expect(names.filter((name) => !readme.includes(`(examples/${name})`))).toEqual([]);
  });

  it.each(names)("%s does what its README shows", { timeout: 900_000 }, async (name) => {
    const readme = readFileSync(path.join(EXAMPLES, name, "README.md"), "utf8");
    const commands = sessionOf(readme);
    expect(commands.length).toBeGreaterThan(1);
    expect(readme).toContain("**Crash it here:**");
    const cwd = projectWith(name);
    PROOFS[name]?.(cwd, await play(commands, cwd));
  });
});
