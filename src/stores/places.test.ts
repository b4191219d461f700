import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { openFileStore } from "./file/index.ts";
import { openPgliteStore } from "./pglite/index.ts";
import { openPostgresStore } from "./postgres/index.ts";
import { openRedisStore } from "./redis/index.ts";
import { openSqliteStore } from "./sqlite/index.ts";

const newFolder = useFolders("places");
const OPENERS: Readonly<Record<string, (options: never) => Promise<unknown>>> = {
  openSqliteStore,
  openFileStore,
  openPgliteStore,
  openPostgresStore,
  openRedisStore,
};

describe("what is no option of a store (D6)", () => {
  it.each(Object.keys(OPENERS))("is refused by %s, and nothing is made", async (name) => {
    const open = OPENERS[name] as (options: unknown) => Promise<unknown>;
    const place = newFolder();
    for (const given of [place, { path: place }, { file: place, folder: place, flie: place }, null, 7])
      await expect(open(given)).rejects.toMatchObject({ code: "HF-1003" });
    expect(existsSync(place)).toBe(false);
    expect(existsSync("./.holdfast")).toBe(false);
  });
});

/** A read-only file system, where this process may mount one. */
const mount = newFolder();
mkdirSync(mount);
const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;
const isMounted = run("mount", "-t", "tmpfs", "-o", "size=1m,ro", "tmpfs", mount);
afterAll(() => void (isMounted && run("umount", "--lazy", mount)));
const whyNot = isMounted ? "" : " (skipped: this process may not mount a file system)";

describe.skipIf(!isMounted)(`a read-only file system (D6)${whyNot}`, () => {
  it("is said to be one", async () => {
    const said = { code: "HF-3004", why: "Its file system is mounted read-only." };
    for (const folder of [mount, path.join(mount, "new"), path.join(mount, "new", "deep")]) {
      await expect(openFileStore({ folder })).rejects.toMatchObject(said);
      await expect(openPgliteStore({ folder })).rejects.toMatchObject(said);
      await expect(openSqliteStore({ file: path.join(folder, "deeper", "x.db") })).rejects.toMatchObject(
        said,
      );
    }
  });
});
