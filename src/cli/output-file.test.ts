import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../test/support/cli.ts";

let folder: CliFolder;

beforeAll(async () => {
  folder = cliFolder();
  folder.write("file", "text");
  mkdirSync(join(folder.path, "folder"));
  folder.write("one.yaml", ONE);
  expect((await folder.run("run one.yaml --id one")).code).toBe(0);
});
afterAll(() => folder.remove());

const ONE = `workflow: { name: one, entry_point: say }
agents:
  - { name: say, type: set, values: { word: hello }, routes: [{ to: $end }] }
output: { word: "{{ say.output.word }}" }
`;

describe("a path that can't be used", () => {
  it.each([
    ["init file", "file/workflows", "a part of its path is a file"],
    ["init file/inside", "file", "a part of its path is a file"],
    ["run one.yaml --log file/x.log", "file/x.log", "a file is there"],
    ["run one.yaml --log folder", "folder", "it is a folder"],
    ["run one.yaml --log-file folder", "folder", "it is a folder"],
    ["export one -o nowhere/one.jsonl", "nowhere/one.jsonl", "its folder doesn't exist"],
    ["export one -o file/one.jsonl", "file/one.jsonl", "a part of its path is a file"],
    ["audit export -o nowhere/a.jsonl", "nowhere/a.jsonl", "its folder doesn't exist"],
    ["report effects --format md -o nowhere/a.md", "nowhere/a.md", "its folder doesn't exist"],
    ["audit key me -o nowhere/key", "nowhere/key", "its folder doesn't exist"],
    ["import folder", "folder", "it is a folder"],
    ["run one.yaml --config folder", "folder", "it is a folder"],
    ["worker folder", "folder", "it is a folder"],
  ])("%s says which, and why", async (line, path, why) => {
    const { code, stderr } = await folder.run(line);
    const told = stderr.replace(/\s+/g, " ");
    expect(told).toContain("HF-4324");
    expect(told).toContain(path);
    expect(told).toContain(why);
    expect(code).toBe(2);
    expect(readdirSync(folder.path).sort()).toEqual([".holdfast", "file", "folder", "one.yaml"]);
  });

  it("isn't what a file is about that was written: it is whole, and its owner's", async () => {
    const { code } = await folder.run("export one -o one.jsonl");
    const file = join(folder.path, "one.jsonl");
    expect([code, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
    expect(readFileSync(file, "utf8").trimEnd().split("\n").length).toBeGreaterThan(1);
  });
});
