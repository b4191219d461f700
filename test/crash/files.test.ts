import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { openFileStore } from "../../src/stores/file/index.ts";

const CHILD = childScript("test/crash/files-child");
const root = mkdtempSync(path.join(tmpdir(), "holdfast-files-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const IDS = ["one", "two", "Two"];

interface End {
  readonly signal: NodeJS.Signals | null;
  readonly acknowledged: readonly number[];
}

/**
 * Runs a child process that writes until it kills itself at a disk change, or is killed after a number of
 * acknowledgements.
 */
function write(folder: string, killAt: number, killAfter = Number.POSITIVE_INFINITY): Promise<End> {
  const args = [CHILD, folder, String(killAt)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (printed.split("\n").length > killAfter) child.kill("SIGKILL");
  });
  return new Promise((resolve) => {
    child.once("close", (_, signal) => {
      const last = printed.slice(0, printed.lastIndexOf("\n")).split("\n").at(-1) ?? "";
      resolve({ signal, acknowledged: last === "" ? [0, 0, 0] : last.split(" ").map(Number) });
    });
  });
}

/** Differences from what was acknowledged. */
async function problems(folder: string, acknowledged: readonly number[]): Promise<string[]> {
  const store = await openFileStore({ folder });
  const found = store.recovered.map(({ file, problem }) => `${file}: ${problem}`);
  for (const [index, id] of IDS.entries()) {
    const [row, least] = [await store.read(id), acknowledged[index] ?? 0];
    const seq = row?.seq ?? 0;
    if (seq < least || seq > least + 1) found.push(`${id} is at ${seq}, and ${least} was acknowledged`);
    const entries = await store.entries(id, { from: 1, limit: 10_000 });
    if (entries.some((entry, i) => entry.seq !== i + 1) || entries.length !== seq)
      found.push(`${id} has gaps`);
    for (const { seq: at, head, data } of entries) {
      const isDropped = at % 5 === 4 && at < seq;
      const [value, blob] = [isDropped ? null : `{"value":${at}}`, isDropped ? undefined : `blob ${at}`];
      if (head !== `{"seq":${at}}` || data !== value) found.push(`${id} has ${head} ${data} at ${at}`);
      if ((await store.blobs(id, [`h${at}`])).get(`h${at}`) !== blob)
        found.push(`${id} has a wrong blob at ${at}`);
    }
  }
  await store.close();
  if (readdirSync(path.join(folder, "tmp")).length > 0) found.push("files are left in tmp");
  return found;
}

describe("a process that is killed while it writes files", () => {
  it("leaves what was acknowledged and nothing by halves, whichever change to the disk it was at", async () => {
    const folder = path.join(root, "changes");
    let acknowledged: readonly number[] = [0, 0, 0];
    for (let killAt = 5; killAt <= 110; killAt += 5) {
      const end = await write(folder, killAt);
      expect(end.signal).toBe("SIGKILL");
      if (end.acknowledged.some((seq) => seq > 0)) acknowledged = end.acknowledged;
      expect(await problems(folder, acknowledged), `killed at change ${killAt}`).toEqual([]);
      const store = await openFileStore({ folder });
      acknowledged = await Promise.all(IDS.map(async (id) => (await store.read(id))?.seq ?? 0));
      await store.close();
    }
  });

  it("leaves the same when it is killed from outside", async () => {
    const folder = path.join(root, "outside");
    for (const after of [1, 4, 15, 40]) {
      const end = await write(folder, 0, after);
      expect(end.signal).toBe("SIGKILL");
      expect(await problems(folder, end.acknowledged), `killed after ${after}`).toEqual([]);
    }
  });
});
