import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";
import { type Command, type Ended, missing, type Running, sessionOf } from "./support/console.ts";
import { callsIn, EXAMPLES, exampleProjects, start } from "./support/example-project.ts";
import { useFolders } from "./support/folders.ts";

const projectWith = exampleProjects(useFolders("examples"));

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
