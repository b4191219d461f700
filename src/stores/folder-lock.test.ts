import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type FolderLock, lockFolder } from "./folder-lock.ts";

const root = mkdtempSync(path.join(tmpdir(), "holdfast-lock-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newFolder = (): string => path.join(root, String(++count), "deep");

const refused = (folder: string): Promise<unknown> =>
  lockFolder(folder).then(
    () => expect.fail("the lock was given away twice"),
    (error: unknown) => error,
  );

/** The lock of another process, which differs from this one in what is said. */
async function foreignLock(folder: string, change: object): Promise<void> {
  const lock = await lockFolder(folder);
  const [name = ""] = readdirSync(folder).filter((one) => one.endsWith(".json"));
  const owner = JSON.parse(readFileSync(path.join(folder, name), "utf8")) as object;
  await lock.release();
  const file = path.join(folder, `lock-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify({ ...owner, ...change }));
  writeFileSync(`${file}.held`, "");
}

/** A pid that was a process a moment ago. */
const deadPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

describe("a folder's lock", () => {
  it("goes to one, and to the next after it was given back", async () => {
    const folder = newFolder();
    const lock = await lockFolder(folder);
    expect(await refused(folder)).toMatchObject({ code: "HF-3009", detail: { pid: process.pid } });
    await lock.release();
    await lock.release();
    expect(readdirSync(folder)).toEqual([]);
    const second = await lockFolder(folder);
    expect(await refused(folder)).toMatchObject({ code: "HF-3009" });
    await second.release();
  });

  it("goes to one at most of many that ask at once, and to one of them in the end", async () => {
    for (let round = 0; round < 10; round++) {
      const folder = newFolder();
      const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));
      const locks = asked.flatMap((one): FolderLock[] => (one.status === "fulfilled" ? [one.value] : []));
      expect(locks.length).toBeLessThanOrEqual(1);
      for (const lock of locks) await lock.release();
      await (await lockFolder(folder)).release();
      expect(readdirSync(folder)).toEqual([]);
    }
  });

  it("is taken over from a process that has ended", async () => {
    const folder = newFolder();
    await foreignLock(folder, { pid: deadPid() });
    await (await lockFolder(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "is taken over when the pid or the machine is another one by now",
    async () => {
      for (const change of [{ started: "1" }, { boot: "before" }]) {
        const folder = newFolder();
        await foreignLock(folder, change);
        await (await lockFolder(folder)).release();
      }
    },
  );

  it("is left to a process of which nothing can be known", async () => {
    for (const change of [
      { host: "elsewhere", pid: deadPid() },
      { pids: "pid:[1]", pid: deadPid() },
      { pid: "?" },
    ]) {
      const folder = newFolder();
      await foreignLock(folder, change);
      expect(await refused(folder)).toMatchObject({ code: "HF-3009" });
    }
  });

  it("names the file to remove when nobody else can know that its owner is gone", async () => {
    const folder = newFolder();
    await foreignLock(folder, { host: "elsewhere" });
    const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".json"));
    const { message } = (await refused(folder)) as Error;
    expect(message).toContain("on elsewhere since ");
    expect(message).toContain(file);
    rmSync(path.join(folder, file));
    await (await lockFolder(folder)).release();
  });
});
