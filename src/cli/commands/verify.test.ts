import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore } from "../../../test/support/cli-runs.ts";

let folder: ReturnType<typeof cliFolder>;
beforeEach(async () => {
  folder = cliFolder();
  await fillStore(folder.path);
});
afterEach(() => folder.remove());

function change(sql: string): void {
  const db = new DatabaseSync(join(folder.path, ".holdfast", "holdfast.db"));
  db.exec(sql);
  db.close();
}

describe("verify", () => {
  it("finds nothing wrong with a store that is as it was written (D3)", async () => {
    const { code, stdout } = await folder.run("verify");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ \d+ runs: rows, journals, values and blobs/),
    ]);
    expect((await folder.run("verify --limit 1 --json")).json()).toMatchObject({
      ok: true,
      runs: 1,
      damaged: [],
    });
    expect((await folder.run("verify --limit none")).code).toBe(2);
  });

  it("names the run, the place and the last good checkpoint, and ends with 6 (D3)", async () => {
    change("UPDATE runs SET status = 'cancelled' WHERE status = 'completed'");
    const { code, stdout, stderr } = await folder.run("verify");
    expect(code).toBe(6);
    expect(stdout).toMatch(/^✗ \S+ {2}#\d+ {2}The run's row says cancelled, its journal says completed\.$/m);
    expect(stdout).toMatch(/^ {2}last good checkpoint \S+@\d+$/m);
    expect(stderr).toContain("HF-4359");
    expect((await folder.run("verify --json")).json()).toMatchObject({
      ok: false,
      damaged: [{ problems: expect.arrayContaining([expect.objectContaining({ kind: "row" })]) }],
    });
    const doctor = await folder.run("doctor");
    expect([doctor.code, doctor.stdout]).toEqual([
      6,
      expect.stringMatching(/✗ integrity .*→ holdfast verify/),
    ]);
  });

  it("finds what belongs to no run, and values that were changed (D3)", async () => {
    change("UPDATE journal SET run = 999 WHERE id = (SELECT max(id) FROM journal)");
    change("UPDATE journal SET data = replace(data, 'a', 'b') WHERE id = 2");
    const { code, stdout } = await folder.run("verify");
    expect(code).toBe(6);
    expect(stdout).toContain("✗ store  Journal entries that belong to no run: 1.");
    expect(stdout).toContain("Its last entry is missing.");
  });

  it("finds blobs that nothing in a run's journal names (D3)", async () => {
    change("INSERT INTO run_blobs (run, hash, data) SELECT max(n), 'stray', 'who put this here?' FROM runs");
    const { code, stdout } = await folder.run("verify");
    expect(code).toBe(6);
    expect(stdout).toContain("Blobs that nothing in its journal names: 1.");
  });

  it("does not hide a damaged run, nor others because of it (E16)", async () => {
    change("UPDATE runs SET waiting = 'no json', control = 'nobody' WHERE n = 1");
    const { runs } = (await folder.run("list --limit 20 --json")).json() as {
      runs: { id: string; standing: string }[];
    };
    expect(runs.filter(({ standing }) => standing === "review")).toHaveLength(1);
    expect(runs.length).toBeGreaterThan(2);
    const [bad] = runs.filter(({ standing }) => standing === "review");
    const shown = await folder.run(`show ${bad?.id}`);
    expect(shown.stdout).toContain("is damaged at");
  });
});
