import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { FLOWS } from "../../../test/support/cli-flows.ts";

const folder = cliFolder();
folder.write("flows.mjs", FLOWS);
afterAll(() => folder.remove());

const linesOf = (file: string): readonly Record<string, unknown>[] =>
  readFileSync(join(folder.path, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("logs", () => {
  it("shows the lines that the workflow wrote between what happened, by level and by step", async () => {
    expect((await folder.run("run flows.mjs#talks --id talk-1")).code).toBe(0);
    const { stdout } = await folder.run("logs talk-1");
    const shown = stdout.split("\n").map((line) => line.replace(/^\S+ +/, ""));
    expect(shown.filter((line) => line.startsWith("log"))).toEqual([
      expect.stringMatching(/^log · run +begins \{"key":".*"\}$/),
      expect.stringMatching(/^log ! load +slow today \{"ms":1200\}$/),
    ]);
    const only = await folder.run("logs talk-1:load --level warn --jsonl");
    expect(only.stdout).toContain('"message":"slow today"');
    expect(only.stdout).not.toContain("begins");
  });

  it("writes a structured log as pino does, with ids and without secrets", async () => {
    const ran = await folder.run("run flows.mjs#talks --id talk-2 --log out/run.log --log-level debug");
    expect(ran.code).toBe(0);
    const lines = linesOf("out/run.log");
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 40,
        msg: "slow today",
        runId: "talk-2",
        step: "load",
        attempt: 1,
        ms: 1200,
      }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ level: 20, msg: "a detail", workflow: "talks" }));
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 30, event: "step_completed", runId: "talk-2", step: "load" }),
    );
    for (const line of lines)
      expect(line).toMatchObject({
        pid: process.pid,
        name: "holdfast",
        hostname: expect.any(String),
        time: expect.any(Number),
      });
    expect(JSON.stringify(lines)).not.toContain("sk-ant");
    expect(JSON.stringify(lines)).toContain("[redacted:");
  });

  it("writes lines for people when asked to, and only those of the level", async () => {
    const ran = await folder.run(
      "run flows.mjs#talks --id talk-3 --log - --log-format text --log-level warn",
    );
    const lines = ran.stderr.split("\n").filter((line) => /^\d{4}-\d\d-\d\dT/.test(line));
    expect(lines).toEqual([
      expect.stringMatching(/ warn +slow today ms=1200 runId=talk-3 workflow=talks step=load attempt=1$/),
    ]);
    expect((await folder.run("run flows.mjs#talks --log x --log-level loud")).code).toBe(2);
  });
});
