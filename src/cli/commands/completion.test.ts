import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore } from "../../../test/support/cli-runs.ts";
import { errorTable } from "../../core/errors.ts";
import { catalog } from "../catalog.ts";

const folder = cliFolder();
beforeAll(() => fillStore(folder.path));
afterAll(() => folder.remove());

const complete = async (...words: string[]): Promise<string[]> =>
  (await folder.run(["completion", "__complete", "--", ...words])).stdout
    .split("\n")
    .filter((line) => line !== "");

describe("completion", () => {
  it("gives a script for each shell, which asks the program itself", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await folder.run(`completion ${shell}`);
      expect([code, stdout]).toEqual([0, expect.stringContaining("completion __complete --")]);
    }
    expect((await folder.run("completion fis")).stderr).toContain("holdfast completion fish");
  });

  it("gives a script that bash can read", async () => {
    const { stdout } = await folder.run("completion bash");
    expect(spawnSync("bash", ["-n"], { input: stdout }).status).toBe(0);
  });

  it("knows every command, and those below one", async () => {
    expect(await complete("")).toEqual([...new Set(catalog.map(({ name }) => name))].sort());
    expect(await complete("li")).toEqual(["list", "list-checkpoints"]);
    expect(await complete("gate", "a")).toEqual(["answer", "approve"]);
  });

  it("knows options and what they can be", async () => {
    expect(await complete("list", "--st")).toEqual(["--stalled", "--status", "--store"]);
    expect(await complete("list", "--status", "c")).toEqual(["cancelled", "completed"]);
    expect(await complete("--json", "checkpoints", "prune", "--k")).toEqual(["--keep"]);
  });

  it("knows the runs of the store, their labels and what they wait at", async () => {
    expect(await complete("show", "")).toEqual(["@last", "aapl-17", "done-1", "recon-88"]);
    expect(await complete("show", "re")).toEqual(["recon-88"]);
    expect(await complete("fork", "done-1@s")).toEqual(["done-1@scored"]);
    expect(await complete("gate", "approve", "recon-88:")).toEqual(["recon-88:approve"]);
  });

  it("says nothing where it knows nothing", async () => {
    expect(await complete("nonsense", "")).toEqual([]);
    const result = await folder.run([
      "completion",
      "__complete",
      "--store",
      "./no-such/x.db",
      "--",
      "show",
      "",
    ]);
    expect([result.code, result.stdout.trim()]).toEqual([0, ""]);
  });
});

describe("explain", () => {
  it("takes a code in every way it is written", async () => {
    const one = await folder.run("explain 2101");
    expect(one.stdout).toMatch(/^HF-2101 /);
    expect((await folder.run("explain HF-2101")).stdout).toBe(one.stdout);
    expect((await folder.run("explain hf2101")).stdout).toBe(one.stdout);
    expect((await folder.run("explain")).code).toBe(2);
  });

  it("lists every code there is, with the exit code of each", async () => {
    const { codes } = (await folder.run("explain --all --json")).json<{
      codes: { code: string; exit: number }[];
    }>();
    expect(codes.map(({ code }) => code)).toEqual(Object.keys(errorTable).sort());
    expect(codes.find(({ code }) => code === "HF-4303")?.exit).toBe(4);
    expect((await folder.run("explain --all")).stdout.trimEnd().split("\n")).toHaveLength(codes.length);
  });
});
