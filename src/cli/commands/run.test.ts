import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FLOWS, hooks, useFlows } from "../../../test/support/cli-flows.ts";

const folder = useFlows();

describe("holdfast run", () => {
  it("prints the result on standard output and one line per step on standard error", async () => {
    const { code, stdout, stderr } = await folder.run("run flows.mjs#greet -i name=Ada");
    expect([code, stdout]).toEqual([0, "Hello Ada\n"]);
    expect(stderr).toMatch(/^✓ look up +\d+ms +120 tok +\$0\.01 {3}checkpoint #\d+$/m);
    expect(stderr).toMatch(/^✓ compose /m);
    expect(stderr).toMatch(/^✓ completed in .+ · 120 tok · \$0\.01$/m);
  });

  it("answers one document with what a script needs", async () => {
    const document = (await folder.run("run flows.mjs#greet --json -i name=Ada --id one")).json();
    expect(document).toMatchObject({
      schema: "holdfast/run/v1",
      ok: true,
      run: "one",
      workflow: "greet",
      status: "completed",
      progress: "2 of 2",
      usage: { tokens: 120, costUsd: 0.01 },
      result: "Hello Ada",
    });
  });

  it("records who started the run, and why", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id one --as maria --reason ticket-7");
    expect((await folder.run("logs one")).stdout).toMatch(/ created \(greet 1\) by maria: ticket-7$/m);
  });

  it("leaves its name to the run when the run is forked", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id one --name first");
    expect((await folder.run("fork first@last --name two --yes")).code).toBe(0);
    expect((await folder.run("show first --json")).json()).toMatchObject({ id: "one" });
  });

  it("refuses another input for an id that has one (HF-1041)", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id one");
    const { code, stderr } = await folder.run("run flows.mjs#greet -i name=Bob --id one");
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining("HF-1041")]);
  });

  it("streams events as lines, the document last", async () => {
    const { stdout } = await folder.run("run flows.mjs#greet --jsonl -i name=Ada --id one");
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ type }) => type === "step_completed").map(({ step }) => step)).toEqual([
      "look up",
      "compose",
    ]);
    expect(lines.at(-1)).toMatchObject({ schema: "holdfast/run/v1", ok: true, status: "completed" });
  });

  it("takes the same id for the same run, and never does its work twice", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id one");
    const { code, stdout, stderr } = await folder.run("run flows.mjs#greet -i name=Ada --id one");
    expect([code, stdout]).toEqual([0, "Hello Ada\n"]);
    expect(stderr).toContain("one was completed before; nothing was run");
    expect(hooks.calls).toEqual(["look up", "compose"]);
    expect((await folder.run("run flows.mjs#fragile --id one")).code).toBe(2);
  });

  it("stops a failing run with what is safe and how to go on, and goes on with it", async () => {
    hooks.fail = "HTTP 429";
    hooks.retryAfterMs = undefined;
    const first = await folder.run("run flows.mjs#fragile --id f1");
    expect(first.code).toBe(75);
    expect(first.stdout).toBe("");
    expect(first.stderr).toMatch(/^✗ f1 stopped: HTTP 429 in ask, attempt 1 +HF-2101$/m);
    expect(first.stderr).toMatch(
      /^ {2}Safe {2}1 step saved \(checkpoint #\d+, [\d:]+ UTC\)\. No side effect is in doubt\.$/m,
    );
    expect(first.stderr).toMatch(/^ {2}Fix {3}holdfast resume f1$/m);
    hooks.fail = undefined;
    const second = await folder.run("run flows.mjs#fragile --id f1");
    expect([second.code, second.stdout]).toEqual([0, "asked\n"]);
    expect(second.stderr).toMatch(/^✓ completed in .+ · recovered in \S+ · reused 1 step/m);
    expect(hooks.calls).toEqual(["prepare", "ask", "ask"]);
  });

  it("tells a failure as a document with the run beside it", async () => {
    hooks.fail = "HTTP 429";
    const document = (await folder.run("run flows.mjs#fragile --id f1 --json")).json();
    expect(document).toMatchObject({
      ok: false,
      error: {
        code: "HF-2101",
        fix: ["holdfast resume f1 --after 10m"],
        safe: expect.stringContaining("1 step saved"),
      },
      run: "f1",
      status: "failed",
    });
  });

  it("groups its lines and marks a failure for GitHub Actions, with a summary", async () => {
    const summary = folder.write("summary.md", "");
    const env = { CI: "true", GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
    hooks.fail = "HTTP 429";
    const { stderr } = await folder.run("run flows.mjs#fragile --id f2", { env });
    expect(stderr).toMatch(/^::group::fragile f2$[^]*^::endgroup::$/m);
    expect(stderr).toMatch(
      /^::error file=flows\.mjs,title=HF-2101::f2 stopped: HTTP 429 .*%0A1 step saved .*%0Aholdfast resume f2/m,
    );
    expect(readFileSync(summary, "utf8")).toContain("### ✗ f2 stopped: HTTP 429");
  });

  it("undoes what was done and fails for good with --on-failure rollback", async () => {
    hooks.fail = "HTTP 429";
    const { code, stderr } = await folder.run("run flows.mjs#fragile --id f1 --on-failure rollback");
    expect(code).toBe(1);
    expect(stderr).toContain("What it did was undone");
    expect(hooks.calls).toEqual(["prepare", "ask", "undo prepare"]);
    expect((await folder.run("run flows.mjs#greet --on-failure continue")).code).toBe(3);
  });

  it("leaves with 75 and says who is waited for when nobody can be asked", async () => {
    const { code, stderr, stdout } = await folder.run("run flows.mjs#gated --id g1");
    expect([code, stdout]).toEqual([75, ""]);
    expect(stderr).toContain("→ holdfast gate approve g1:release");
    const agent = await folder.run("resume g1", { env: { CLAUDECODE: "1" } });
    expect(agent.stdout).toBe(
      "next: holdfast gate approve g1:release\nnext: holdfast gate reject g1:release\n",
    );
  });

  it("pauses before a step with --break-at, and goes on without it", async () => {
    const first = await folder.run("run flows.mjs#greet -i name=Ada --id b1 --break-at compose");
    expect(first.code).toBe(75);
    expect(first.stderr).toMatch(/^‖ Paused at #\d+ · resume: holdfast resume b1$/m);
    expect(hooks.calls).toEqual(["look up"]);
    expect((await folder.run("resume b1")).stdout).toBe("Hello Ada\n");
    expect(hooks.calls).toEqual(["look up", "compose"]);
  });

  it("says what would be started with --dry-run, and starts and saves nothing", async () => {
    const { code, stdout } = await folder.run("run flows.mjs#greet -i name=Ada --dry-run");
    expect(code).toBe(0);
    expect(stdout).toMatch(/run +look up +repeatable/);
    expect(hooks.calls).toEqual([]);
    expect((await folder.run("resume @last")).code).toBe(4);
  });

  it("waits when the budget is used up, and goes on with a higher one", async () => {
    const first = await folder.run("run flows.mjs#greet -i name=Ada --id c1 --budget-usd 0.005");
    expect(first.code).toBe(75);
    expect(first.stderr).toContain("budget reached");
    expect((await folder.run("resume c1 --budget-usd 1")).stdout).toBe("Hello Ada\n");
  });

  it("runs without saving where that is asked for, and says so", async () => {
    const { code, stdout, stderr } = await folder.run("run flows.mjs#greet -i name=Ada --no-checkpoint");
    expect([code, stdout]).toEqual([0, "Hello Ada\n"]);
    expect(stderr).toContain("! nothing is saved (--no-checkpoint)");
    folder.write("holdfast.config.json", JSON.stringify({ enabled: false }));
    expect((await folder.run("run flows.mjs#greet -i name=Ada")).stderr).toContain(
      "! nothing is saved (enabled: false)",
    );
    expect((await folder.run("resume @last")).code).toBe(4);
  });

  it("hands a run to another process with --detach", async () => {
    const { code, stdout } = await folder.run("run flows.mjs#greet -i name=Ada --id d1 --detach");
    expect([code, stdout]).toEqual([0, "d1\n"]);
    expect(folder.detached).toEqual([["resume", "d1", "--ui", "lines"]]);
    expect(hooks.calls).toEqual([]);
    expect((await folder.run(folder.detached[0] ?? [])).stdout).toBe("Hello Ada\n");
  });

  it("reads input from a file, from standard input, and single values on top", async () => {
    folder.write("input.json", JSON.stringify({ name: "Ada", times: 2 }));
    folder.write("input.yaml", "name: Ada\ntimes: 3\n");
    const result = async (line: string | string[], input?: string) =>
      JSON.parse((await folder.run(line, input === undefined ? {} : { input })).stdout) as unknown;
    expect(await result("run flows.mjs#echo --input-file input.json -i times=5")).toEqual({
      name: "Ada",
      times: 5,
    });
    expect(await result("run flows.mjs#echo --input-file input.yaml")).toEqual({ name: "Ada", times: 3 });
    expect(await result("run flows.mjs#echo --input-file -", '{"a":1}')).toEqual({ a: 1 });
    expect(await result(["run", "flows.mjs#echo", "-i", '{"a":[1]}'])).toEqual({ a: [1] });
    expect(await result("run flows.mjs#echo -i a=007 -i b=true -i c=x=y")).toEqual({
      a: "007",
      b: true,
      c: "x=y",
    });
    expect((await folder.run("run flows.mjs#echo -i oops")).code).toBe(2);
  });

  it("says which workflows a file has, and what is wrong with one that has none", async () => {
    const several = await folder.run("run flows.mjs");
    expect(several.code).toBe(3);
    expect(several.stderr).toContain("it has several workflows");
    expect((await folder.run("run flows.mjs#gret")).stderr).toContain("holdfast run flows.mjs#greet");
    folder.write("empty.mjs", "export const x = 1;");
    expect((await folder.run("run empty.mjs")).stderr).toContain("it exports no workflow");
    folder.write("broken.mjs", "throw new Error('not today');");
    const broken = await folder.run("run broken.mjs");
    expect([broken.code, broken.stderr.split("\n")[0]]).toEqual([3, expect.stringContaining("not today")]);
    expect((await folder.run("run nowhere.mjs")).code).toBe(4);
  });

  it("finds workflows by the names that the configuration lists", async () => {
    folder.write("holdfast.config.yaml", "workflows: [./flows.mjs]\n");
    expect((await folder.run("run greet -i name=Ada")).stdout).toBe("Hello Ada\n");
    const unknown = await folder.run("run great");
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining("holdfast run greet")]);
  });

  it("loads a TypeScript workflow, whatever Node this is", async () => {
    folder.write(
      "typed.ts",
      `${FLOWS}\nexport const typed = plain("typed", async (_ctx: unknown, input: { n: number }) => input.n + 1);`,
    );
    expect((await folder.run("run typed.ts#typed -i n=2")).stdout).toBe("3\n");
  });

  it("finds a run by the name it was given, and its code by the file it was started from", async () => {
    await folder.run(
      "run flows.mjs#greet -i name=Ada --name nightly --label team=a --label run=2 --break-at compose",
    );
    expect((await folder.run("resume nightly")).stdout).toBe("Hello Ada\n");
  });

  it("pins the run with --keep", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id k1 --keep");
    expect((await folder.until("k1", ({ status }) => status === "completed")).pinned).toBe(true);
  });
});

describe("Ctrl-C", () => {
  const pauseThenRelease = async (runId: string, press: () => void, hold: { release: () => void }) => {
    press();
    await folder.until(runId, ({ control }) => control === "pausing");
    hold.release();
  };

  it("pauses after the current step, durably, and leaves with 130", async () => {
    const hold = hooks.hold("look up");
    const { code, stderr } = await folder.run("run flows.mjs#greet -i name=Ada --id s1", {
      onListening: (press) => void hold.begun.then(() => pauseThenRelease("s1", () => press("SIGINT"), hold)),
    });
    expect(code).toBe(130);
    expect(stderr).toContain("Pausing… finishing look up; Ctrl-C again to stop now");
    expect(stderr).toMatch(/^✓ look up/m);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^‖ Paused at #\d+ · resume: holdfast resume s1$/);
    expect(hooks.calls).toEqual(["look up"]);
    expect((await folder.run("resume s1")).stdout).toBe("Hello Ada\n");
  });

  it("stops at once when pressed again, and says what was under way", async () => {
    const hold = hooks.hold("look up");
    const { code, stderr } = await folder.run("run flows.mjs#greet -i name=Ada --id s2", {
      onListening: (press) => void hold.begun.then(() => (press("SIGINT"), press("SIGINT"))),
    });
    hold.release();
    expect(code).toBe(130);
    expect(stderr).toContain("look up was still running; resume finds out how it ended");
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^‖ Paused at #\d+ · resume: holdfast resume s2$/);
  });

  it("ends the process at once when pressed a third time", async () => {
    const hold = hooks.hold("look up");
    const exits: number[] = [];
    await folder.run("run flows.mjs#greet -i name=Ada --id s4", {
      onExit: (code) => void exits.push(code),
      onListening: (press) => void hold.begun.then(() => [1, 2, 3].forEach(() => press("SIGINT"))),
    });
    hold.release();
    expect(exits).toEqual([130]);
  });

  it("leaves with 75 after SIGTERM, so that a scheduler tries again", async () => {
    const hold = hooks.hold("look up");
    const { code, stderr } = await folder.run("run flows.mjs#greet -i name=Ada --id s3", {
      onListening: (press) =>
        void hold.begun.then(() => pauseThenRelease("s3", () => press("SIGTERM"), hold)),
    });
    expect(code).toBe(75);
    expect(stderr).toContain("stopping in 25s at the latest");
    expect(stderr).toContain("‖ Paused at");
  });
});
