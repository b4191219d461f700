import { spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { thisProcess as markOf, standingOf } from "../core/process-proof.ts";
import { accepted, creation, step } from "../testing/conformance/index.ts";
import { nodeDisk } from "./disk.ts";
import { openFileStore } from "./file/index.ts";
import { FolderLock } from "./folder-lock.ts";
import { listenIn } from "./life-line.ts";

const newFolder = useFolders("file-lock");
const SINCE = "2026-01-02T03:04:05.678Z";
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

function emptyFolder(): string {
  const folder = newFolder();
  mkdirSync(folder);
  return folder;
}

const thisProcess = (since: string) => ({ ...markOf(), since, nonce: crypto.randomUUID(), socket: null });
type Owner = Omit<ReturnType<typeof thisProcess>, "socket"> & { readonly socket: string | null };
const isGone = (owner: Owner, isLocal = false): boolean => standingOf(owner, isLocal) === "dead";

/** The names in the folder, without the owner's socket. */
const namesIn = (folder: string): string[] => readdirSync(folder).filter((name) => !name.endsWith(".sock"));

/** A process that has just ended. */
async function deadOwner(): Promise<Owner> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const owner = { ...thisProcess(SINCE), pid: child.pid ?? 0, started: startOf(child.pid ?? 0) };
  expect(isGone(owner)).toBe(false);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
  return owner;
}

function startOf(pid: number): string | null {
  try {
    return (
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")[19] ?? null
    );
  } catch {
    return null;
  }
}

const leave = (folder: string, owner: object, name = "lock.json"): void =>
  writeFileSync(path.join(folder, name), JSON.stringify(owner));

const take = (folder: string): Promise<FolderLock> => FolderLock.take(nodeDisk, folder, SINCE);

describe("a second opener", () => {
  it("is refused and told who holds the folder, also within one process", async () => {
    const folder = newFolder();
    const store = await openFileStore({ folder });
    const row = await accepted(store, creation());
    await expect(openFileStore({ folder })).rejects.toMatchObject({
      code: "HF-3023",
      message: expect.stringContaining(`is in use by pid ${process.pid} on ${hostname()} since 2`),
      detail: { pid: process.pid, host: hostname() },
    });
    await accepted(store, step(row));
    await store.close();
    const next = await openFileStore({ folder });
    expect((await next.read("run-1"))?.seq).toBe(2);
    await next.close();
    expect(readdirSync(folder).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("is refused by any other process that lives", async () => {
    const folder = emptyFolder();
    leave(folder, { ...thisProcess(SINCE), pid: process.ppid, started: startOf(process.ppid) });
    await expect(take(folder)).rejects.toMatchObject({ code: "HF-3023", detail: { pid: process.ppid } });
  });

  it("is refused where it cannot know whether the owner lives", async () => {
    const elsewhere = [
      { host: "elsewhere", boot: null },
      { pidNamespace: "pid:[1]", pid: 999_999_999 },
    ];
    for (const part of elsewhere.slice(0, process.platform === "linux" ? 2 : 1)) {
      const folder = emptyFolder();
      leave(folder, { ...thisProcess(SINCE), ...part });
      await expect(take(folder)).rejects.toMatchObject({ code: "HF-3023" });
    }
    const folder = emptyFolder();
    writeFileSync(path.join(folder, "lock.json"), "torn");
    await expect(take(folder)).rejects.toMatchObject({ code: "HF-3023" });
    expect(namesIn(folder)).toEqual(["lock.json"]);
  });
});

describe("a dead owner's folder", () => {
  it("is taken over, with everything in it", async () => {
    const folder = newFolder();
    const store = await openFileStore({ folder });
    const row = await accepted(store, creation());
    await store.close();
    leave(folder, await deadOwner());
    const next = await openFileStore({ folder });
    expect(await next.read("run-1")).toEqual(row);
    await next.close();
    expect(readdirSync(folder).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")(
    "is known by a pid that another process has now, and by an earlier start of the machine",
    async () => {
      const own = thisProcess(SINCE);
      expect(isGone(own)).toBe(false);
      expect(isGone({ ...own, started: "1" })).toBe(true);
      expect(isGone({ ...own, boot: "an earlier one" })).toBe(true);
      expect(isGone({ ...own, host: "renamed" })).toBe(false);
      // An owner in another container on this machine, or on another machine that shares the folder.
      const elsewhere = { ...own, boot: "an earlier one", host: "7f3a", pidNamespace: "pid:[1]" };
      expect([isGone(elsewhere, true), isGone(elsewhere, false)]).toEqual([true, false]);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "is known although nobody has taken note of its death",
    async () => {
      // The shell never waits for its child, which stays a zombie.
      const script = "sleep 0 & echo $!; exec sleep 60";
      const shell = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
      ended.push(
        () =>
          new Promise((resolve) => {
            shell.once("exit", () => resolve());
            shell.kill("SIGKILL");
          }),
      );
      const pid = await new Promise<number>((resolve) =>
        shell.stdout.once("data", (text) => resolve(Number(text))),
      );
      const isZombie = () => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
      while (!isZombie()) await new Promise((resolve) => setImmediate(resolve));
      expect(isGone({ ...thisProcess(SINCE), pid, started: startOf(pid) })).toBe(true);
    },
  );

  it("goes to one of many newcomers", async () => {
    for (let round = 0; round < 20; round++) {
      const folder = emptyFolder();
      leave(folder, { ...(await oneDeadOwner()), nonce: crypto.randomUUID() });
      const results = await Promise.allSettled(Array.from({ length: 16 }, () => take(folder)));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(namesIn(folder)).toEqual(["lock.json"]);
    }
  });

  it("is taken over from whoever died while taking it over", async () => {
    const dead = await oneDeadOwner();
    const [first, second, third] = [1, 2, 3].map((n) => ({
      ...dead,
      nonce: `${dead.nonce.slice(0, -1)}${n}`,
    }));
    const folder = emptyFolder();
    leave(folder, first!);
    leave(folder, second!, `.lock-${second!.nonce}`);
    linkSync(path.join(folder, `.lock-${second!.nonce}`), path.join(folder, `.lock-after-${first!.nonce}`));
    leave(folder, third!, `.lock-after-${second!.nonce}`);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => take(folder)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const owner = JSON.parse(readFileSync(path.join(folder, "lock.json"), "utf8"));
    expect(owner.pid).toBe(process.pid);
    expect(namesIn(folder)).toEqual(["lock.json"]);
  });

  let shared: Promise<Owner> | undefined;
  const oneDeadOwner = () => (shared ??= deadOwner());
});

describe.skipIf(process.platform !== "linux")("a folder that another container has used (D7)", () => {
  const CONTAINER = { host: "7f3a", pidNamespace: "pid:[4026530000]" };
  const code = `
    const net = require("node:net");
    net.createServer(() => undefined).listen(process.argv[1], () => console.log("up"));`;

  /** An owner in its own pid namespace: from here, only its socket can be examined. */
  async function container(folder: string) {
    const owner = { ...thisProcess(SINCE), ...CONTAINER, pid: 1 };
    const socket = `.lock-${owner.nonce}.sock`;
    const child = spawn(process.execPath, ["-e", code, path.join(folder, socket)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    leave(folder, { ...owner, socket });
    const kill = () =>
      new Promise<void>((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      });
    return { child, kill };
  }

  it("is refused while its owner lives, also when that does nothing, and taken when it was killed", async () => {
    const folder = emptyFolder();
    const { child, kill } = await container(folder);
    child.kill("SIGSTOP");
    await expect(openFileStore({ folder })).rejects.toMatchObject({ code: "HF-3023" });
    await kill();
    const store = await openFileStore({ folder });
    await accepted(store, creation());
    await store.close();
    expect(readdirSync(folder).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("goes to one of many newcomers", async () => {
    const folder = emptyFolder();
    await (await container(folder)).kill();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => take(folder)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is known by its socket also where the folder has a long name", async () => {
    const folder = path.join(emptyFolder(), "x".repeat(120));
    mkdirSync(folder);
    const lock = await take(folder);
    const owner = JSON.parse(readFileSync(path.join(folder, "lock.json"), "utf8"));
    leave(folder, { ...owner, ...CONTAINER });
    await expect(take(folder)).rejects.toMatchObject({ code: "HF-3023" });
    await lock.release();
    await (await take(folder)).release();
  });

  it("does not listen where it cannot", async () => {
    expect(await listenIn("/proc/self", "x.sock")).toBeNull();
  });
});

describe("a lock", () => {
  it("that was removed or replaced stops every write, and what was there stays", async () => {
    const folder = newFolder();
    const store = await openFileStore({ folder });
    const row = await accepted(store, creation());
    rmSync(path.join(folder, "lock.json"));
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3013" });
    const other = await openFileStore({ folder });
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3013" });
    const renewal = { runId: "run-1", epoch: 1, token: "ada-token", ttlMs: 1 };
    await expect(store.renew([renewal])).rejects.toMatchObject({ code: "HF-3013" });
    await store.close();
    expect(existsSync(path.join(folder, "lock.json"))).toBe(true);
    await accepted(other, step(row));
    await other.close();
  });

  it("is given back when opening fails", async () => {
    const folder = emptyFolder();
    mkdirSync(path.join(folder, "runs", "run-1"), { recursive: true });
    await expect(openFileStore({ folder })).rejects.toMatchObject({ code: "HF-3006" });
    expect(existsSync(path.join(folder, "lock.json"))).toBe(false);
  });
});
