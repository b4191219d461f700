import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore } from "../../../test/support/cli-runs.ts";
import { main, verifyBundle } from "../verify-audit.ts";

let folder: ReturnType<typeof cliFolder>;
let publicKey = "";

beforeEach(async () => {
  folder = cliFolder();
  await fillStore(folder.path);
  const made = (await folder.run("audit key example.com/audit --out audit.key --json")).json();
  publicKey = String(made["publicKey"]);
  folder.write(
    "holdfast.config.json",
    JSON.stringify({ audit: { key_file: "audit.key", anchors: [{ file: "heads.txt" }] } }),
  );
});
afterEach(() => folder.remove());

function change(sql: string): void {
  const db = new DatabaseSync(join(folder.path, ".holdfast", "holdfast.db"));
  db.exec(sql);
  db.close();
}

describe("audit", () => {
  it("anchors, verifies, and finds what was changed behind its back (S1-34, S1-54)", async () => {
    expect(statSync(join(folder.path, "audit.key")).mode & 0o077).toBe(0);
    const anchored = await folder.run("audit anchor");
    expect([anchored.code, anchored.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ signed \d+ leaves; sent to 1 anchor/),
    ]);
    const line = `audit verify --anchor heads.txt --key ${publicKey}`;
    const { code, stdout } = await folder.run(line);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("✓ Nothing was changed in what could be verified."),
    ]);
    expect(stdout).toContain("This can't see:");
    expect((await folder.run("verify --json")).json()).toMatchObject({ ok: true, audit: { ok: true } });
    change("DELETE FROM journal WHERE run = (SELECT max(run) FROM journal)");
    const after = await folder.run(line);
    expect(after.code).toBe(6);
    expect(after.stdout).toMatch(/^✗ run {2}/m);
    expect((await folder.run("verify")).code).toBe(6);
  });

  it("exports a bundle that the offline verifier checks without the store (U3)", async () => {
    await folder.run("audit anchor");
    const out = await folder.run(["audit", "export", "--out", "audit.jsonl", "--reason", "the yearly audit"]);
    expect(out.code).toBe(0);
    const bundle = join(folder.path, "audit.jsonl");
    const heads = join(folder.path, "heads.txt");
    const found = await verifyBundle({ bundle, keys: [], anchors: [] });
    expect(found).toMatchObject({ ok: true, keysFrom: "log", anchored: null });
    expect(await main([bundle, "--key", publicKey, "--anchor", heads])).toBe(0);
    folder.write("bad.jsonl", readFileSync(bundle, "utf8").replace("run_head", "run_haed"));
    expect(await main([join(folder.path, "bad.jsonl"), "--anchor", heads])).toBe(1);
    expect(await main(["--nonsense"])).toBe(2);
    const privateKey = readFileSync(join(folder.path, "audit.key"), "utf8").trim();
    const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await main([bundle, "--key", privateKey])).toBe(2);
    const told = JSON.stringify(said.mock.calls);
    said.mockRestore();
    expect(told).toContain("isn't a public key");
    expect(told).not.toContain(privateKey.slice(-40));
    expect(await main([join(folder.path, "missing.jsonl")])).toBe(2);
    const listed = await folder.run("audit list --act audit_exported");
    expect(listed.stdout).toContain("the yearly audit");
  });

  it("hands over to another key, and refuses a file that is no anchor", async () => {
    await folder.run("audit anchor");
    await folder.run("audit key example.com/audit --out next.key");
    const rotated = await folder.run("audit rotate --to-file next.key --reason yearly");
    expect(rotated.code).toBe(0);
    expect((await folder.run("audit anchor")).stderr).toContain("HF-3205");
    expect((await folder.run("audit verify --anchor audit.key")).stderr).toContain("HF-3210");
    expect((await folder.run("audit rotate")).code).toBe(2);
  });
});
