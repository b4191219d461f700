import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepted, creation, everythingOf, step } from "../../testing/conformance/index.ts";
import { openPgliteStore } from "./index.ts";

const root = mkdtempSync(path.join(tmpdir(), "holdfast-pglite-"));
const template = path.join(root, "template");
const warnings: unknown[] = [];
const logger = { warn: (message: string, fields?: unknown) => void warnings.push([message, fields]) };

/** Creating a database takes seconds, so it is created once. */
beforeAll(async () => {
  mkdirSync(path.join(template, ".new-left-over"), { recursive: true });
  writeFileSync(path.join(template, ".new-left-over", "PG_VERSION"), "18\n");
  const store = await openPgliteStore({ folder: template, logger });
  await store.identity();
  expect(store.capabilities).toMatchObject({ durability: "process", transactions: "async" });
  await store.close();
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function newFolder(): string {
  const folder = path.join(root, String(++count));
  cpSync(template, folder, { recursive: true });
  return folder;
}

/** Starts a process that opens the folder, writes runs endlessly, and reports which are acknowledged. */
async function writer(folder: string): Promise<{ child: ChildProcess; acknowledged: string[] }> {
  const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  const code = `
    import { openPgliteStore } from ${url("./index.ts")};
    import { creation } from ${url("../../testing/conformance/fixtures.ts")};
    const store = await openPgliteStore({ folder: ${JSON.stringify(folder)} });
    for (let i = 0; ; i++) {
      const blobs = [{ hash: "h", data: "x".repeat(10_000) }];
      const [result] = await store.append([creation({ run: { id: "run-" + i }, blobs })]);
      if (result.ok) console.log("run-" + i);
    }`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged: string[] = [];
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.on("line", (line) => acknowledged.push(line));
  while (acknowledged.length < 20) await once(lines, "line");
  return { child, acknowledged };
}

describe("the folder of a PGlite store", () => {
  it("holds a whole database and nothing that was left unfinished", () => {
    expect(readdirSync(template)).toEqual(["data"]);
  });

  it("is said once not to survive a power loss", () => {
    expect(warnings).toEqual([
      ["acknowledged writes may not survive a power loss", { doubt: "the server runs with fsync off" }],
    ]);
  });

  it("is refused to a second opener, who is told who has it", async () => {
    const folder = newFolder();
    const store = await openPgliteStore({ folder });
    const failure = await openPgliteStore({ folder }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-3023", detail: { pid: process.pid } });
    expect((failure as Error).message).toContain(`is in use by pid ${process.pid} on `);
    await accepted(store, creation());
    await store.close();
  });

  it("can be opened again after it was closed, with everything in it", async () => {
    const folder = newFolder();
    const store = await openPgliteStore({ folder });
    const [identity, row] = [await store.identity(), await accepted(store, creation())];
    await accepted(store, step(row));
    const before = await everythingOf(store, row.id);
    await store.close();
    expect(readdirSync(folder)).toEqual(["data"]);
    const again = await openPgliteStore({ folder });
    expect(await again.identity()).toEqual(identity);
    expect(await everythingOf(again, row.id)).toEqual(before);
    await again.close();
  });

  it("keeps every acknowledged write of a process that was killed, and goes to the next one", async () => {
    const folder = newFolder();
    const { child, acknowledged } = await writer(folder);
    const failure = await openPgliteStore({ folder }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-3023", detail: { pid: child.pid } });
    child.kill("SIGKILL");
    await once(child, "close");
    const store = await openPgliteStore({ folder });
    for (const id of acknowledged) {
      expect((await everythingOf(store, id)).entries).toHaveLength(1);
      expect((await store.blobs(id, ["h"])).size).toBe(1);
    }
    await store.close();
    expect(acknowledged.length).toBeGreaterThanOrEqual(20);
  }, 60_000);

  it("that is damaged is refused, and is free for the next try", async () => {
    const folder = newFolder();
    const control = path.join(folder, "data", "global", "pg_control");
    writeFileSync(control, Buffer.alloc(8192));
    for (let i = 0; i < 2; i++)
      await expect(openPgliteStore({ folder })).rejects.toMatchObject({ code: "HF-3014" });
  });

  it("that cannot be made is named", async () => {
    const file = path.join(root, "file");
    writeFileSync(file, "");
    await expect(openPgliteStore({ folder: path.join(file, "x") })).rejects.toMatchObject({
      code: "HF-3004",
    });
    expect(existsSync(path.join(file, "x"))).toBe(false);
  });
});
