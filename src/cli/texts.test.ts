import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { fillStore } from "../../test/support/cli-runs.ts";
import { type ErrorCode, errorTable, HoldfastError } from "../core/errors.ts";
import { width } from "./format.ts";

const folder = cliFolder();
beforeAll(() => fillStore(folder.path));
afterAll(() => folder.remove());

const codes = Object.keys(errorTable) as ErrorCode[];

describe("the texts of errors (R14)", () => {
  it("end with one full stop, whatever is put into them", () => {
    const anything = new Proxy({}, { get: () => "It does not fit." });
    const wrong = codes.flatMap((code) => {
      const { message, why, safe, fix } = new HoldfastError(code, anything);
      return [message, why, safe, fix]
        .filter((text) => /[^.]\.\.(?!\.)/.test(text))
        .map((text) => `${code}: ${text}`);
    });
    expect(wrong).toEqual([]);
  });

  it("are explained without raw placeholders, each and all of them", async () => {
    const { stdout } = await folder.run("explain --all --json");
    expect(stdout).not.toMatch(/\{\w+\}/);
    expect((await folder.run("explain 2101")).stdout).toContain("<step>");
    for (const code of ["4300", "4309"])
      expect((await folder.run(`explain ${code}`)).stdout).not.toMatch(/[{}]/);
  });

  it("count one as one", async () => {
    await folder.run("export done-1 -o one.jsonl");
    expect((await folder.run("import one.jsonl --on-conflict skip")).stdout).toContain(
      "1 run was already here: done-1",
    );
    expect((await folder.run("config validate")).stdout).toBe(
      "✓ no configuration file: the defaults are used\n",
    );
  });

  it("of unusable keys tell what works when it is done (C7)", async () => {
    folder.write("sealed/holdfast.config.yaml", "encryption: true\nstore: sqlite:./sealed.db\n");
    const { HOLDFAST_KEYS: before } = process.env;
    process.env["HOLDFAST_KEYS"] = "c2hvcnQ=";
    const wrong = await folder
      .run("doctor", { cwd: "sealed" })
      .finally(() => (process.env["HOLDFAST_KEYS"] = before ?? ""));
    expect(wrong.stdout + wrong.stderr).toContain('export HOLDFAST_KEYS="k1:$(openssl rand -base64 32)"');
  });
});

describe("--json", () => {
  it("with fields takes them of the items of a list, and refuses what is in neither (C8)", async () => {
    const { runs } = (await folder.run("list --json=id,status")).json<{ runs: object[] }>();
    expect(runs).toContainEqual({ id: "done-1", status: "completed" });
    const unknown = await folder.run("list --json=id,stats");
    expect([unknown.code, unknown.stdout]).toEqual([2, expect.stringContaining("no field stats")]);
  });

  it("says null for money that nobody knows, and counts a completed run as n of n (C8)", async () => {
    const { runs } = (await folder.run("list --json")).json<{
      runs: { id: string; progress: object; usage: object }[];
    }>();
    expect(runs.find(({ id }) => id === "done-1")?.progress).toMatchObject({ done: 3, total: 3 });
    const listed = (await folder.run("list")).stdout.split("\n").find((line) => line.startsWith("recon-88"));
    const gate = (await folder.run("gate list")).stdout
      .split("\n")
      .find((line) => line.startsWith("recon-88"));
    expect([listed, gate]).toEqual([expect.stringContaining(" 2/4 "), expect.stringContaining(" 2/4 ")]);
  });
});

describe("what an error says to do (C9)", () => {
  it("can be typed, and names the option that was given", async () => {
    const { stderr } = await folder.run("list --limit 0");
    expect(stderr).toContain("--limit: 0 isn't a valid number");
    expect(stderr).toMatch(/Fix +--limit 10/);
  });

  it("is about the file where a file is missing", async () => {
    const { code, stderr } = await folder.run("inject recon-88 --file gone.txt");
    expect([code, stderr]).toEqual([4, expect.stringContaining("gone.txt")]);
    expect(stderr).not.toMatch(/internal|HF-4300/);
  });

  it("is how to import the rest where a run is here already", async () => {
    await folder.run("export done-1 -o again.jsonl");
    const { code, stderr } = await folder.run("import again.jsonl");
    expect([code, stderr]).toEqual([8, expect.stringContaining("--on-conflict skip")]);
  });
});

describe("a narrow terminal", () => {
  it("of 60 or 80 columns breaks no line of a list (C10)", async () => {
    for (const columns of [60, 80])
      for (const line of ["list", "gate list", "checkpoints list recon-88", "show recon-88"]) {
        const { stdout } = await folder.run(`${line} --no-color`, { columns });
        const long = stdout
          .split("\n")
          .filter((text) => width(text) > columns && !text.includes("holdfast "));
        expect([line, columns, long]).toEqual([line, columns, []]);
      }
  });
});
