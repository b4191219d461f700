import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine } from "../../src/index.ts";
import { auditKey, fileAnchor, newAuditKey } from "../../src/security/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import type { SigningConfig } from "./signing-child.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-signing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { privateKey, publicKey } = newAuditKey("example.com/audit");
let stores = 0;

function sign(config: Omit<SigningConfig, "key">): {
  readonly signal: string | null;
  readonly writes: number;
} {
  const script = childScript("test/crash/signing-child");
  const child = spawnSync(process.execPath, [script, JSON.stringify({ ...config, key: privateKey })]);
  if (child.status !== 0 && child.signal !== "SIGKILL") throw new Error(String(child.stderr));
  return { signal: child.signal, writes: Number(String(child.stdout)) };
}

const freshStore = () => {
  const file = path.join(folder, `${++stores}.db`);
  return { file, anchor: `${file}.heads` };
};

describe("signing heads through kill -9", () => {
  it("leaves a log that verifies and goes on, wherever the process dies (U2)", async () => {
    const { writes } = sign({ ...freshStore(), run: "whole" });
    expect(writes).toBeGreaterThan(5);
    for (let write = 1; write <= writes; write++)
      for (const when of ["before", "after"] as const) {
        const place = freshStore();
        const { signal } = sign({ ...place, run: "first", kill: { write, when } });
        expect(signal, `write ${write}, ${when}`).toBe("SIGKILL");
        // Another process goes on with the same log, and whatever the anchor has is part of it.
        expect(sign({ ...place, run: "second" }).signal).toBeNull();
        await expectWhole(place, `write ${write}, ${when}`);
      }
  }, 300_000);
});

async function expectWhole({ file, anchor }: { file: string; anchor: string }, where: string): Promise<void> {
  const store = await openSqliteStore({ file });
  const engine = createEngine({
    store,
    execute: false,
    audit: { key: auditKey(privateKey), anchors: [fileAnchor(anchor)] },
  });
  try {
    const text = existsSync(anchor) ? readFileSync(anchor, "utf8") : "";
    const found = await engine.audit.verify({ keys: [publicKey], anchors: [{ name: "file", text }] });
    expect(found.problems, where).toEqual([]);
    expect(found.anchored?.size, where).toBe(found.signed?.size);
    // Each act is recorded once for each process that went through with it.
    expect(found.acts["log_opened"], where).toBe(1);
    expect(found.acts["pause_queue"], where).toBeGreaterThanOrEqual(1);
    expect(found.acts["pause_queue"], where).toBeLessThanOrEqual(2);
  } finally {
    await engine.close();
    await store.close();
  }
}
