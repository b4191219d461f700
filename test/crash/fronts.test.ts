import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { useFolders } from "../support/folders.ts";

const CHILD = childScript("test/crash/fronts-child");
const newFolder = useFolders("fronts");
const TURNS = 45;
/** The turns at whose boundaries processes die. */
const DEADLY = isExhaustive ? "" : "22,23";
/** More than there are boundaries. */
const MOST = 2_000;

async function start(...args: string[]) {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("close", (_, signal) => resolve(signal)),
  );
  const [stdout, stderr, signal] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, signal };
}

/** Starts process after process until one lives to the end. */
async function live(front: string) {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  for (let deaths = 0; deaths < MOST; deaths++) {
    const { signal, stdout, stderr } = await start(folder, front, DEADLY);
    if (signal === "SIGKILL") continue;
    expect(stderr).toBe("");
    const lines = (name: string) => readFileSync(path.join(folder, name), "utf8").trim().split("\n");
    return {
      answer: stdout,
      deaths,
      seen: lines("witness"),
      places: lines("deaths"),
      file: path.join(folder, "runs.db"),
    };
  }
  throw new Error("no process lived to the end");
}

const turns = (isWanted: (turn: number) => boolean): number[] =>
  Array.from({ length: TURNS }, (_, turn) => turn).filter(isWanted);

describe.concurrent.each(["runAgent", "aiSdk", "openAi"])(
  "an agent of 45 turns by %s that dies at every boundary",
  (front) => {
    it("moves money once, sends each mail once, parks what is in doubt, and asks the model once more at most for each death (S1-01, S1-10, S1-20)", async () => {
      const { answer, deaths, seen, places, file } = await live(front);
      expect(answer).toBe("done");
      expect(deaths).toBe(places.length);
      const all = (what: string) => seen.filter((line) => line.startsWith(`${what} `));
      const numbers = (what: string) => all(what).map((line) => Number(line.split(" ")[1]));
      expect(numbers("charge"), "money").toEqual(turns((turn) => turn % 2 === 0));
      expect(new Set(all("charge").map((line) => line.split(" ")[2])).size).toBe(numbers("charge").length);
      expect(numbers("mail"), "mails").toEqual(turns((turn) => turn % 2 === 1));
      expect([...new Set(numbers("look"))]).toEqual(turns((turn) => turn % 2 === 0));
      // Only a death between the question and the durable answer costs a call.
      const extra = all("model").length - (TURNS + 1);
      const inCalls = places.filter((place) => /^model \d+ asked|^append before .*model/.test(place)).length;
      expect(extra).toBeLessThanOrEqual(deaths);
      expect(extra).toBeLessThanOrEqual(inCalls);
      expect(all("parked").length).toBeGreaterThanOrEqual(
        places.filter((place) => /^mail \d+ /.test(place)).length,
      );
      const store = await openSqliteStore({ file });
      const engine = createEngine({ store, execute: false });
      expect(await engine.checkpoints.validate("r")).toMatchObject({ ok: true });
      await engine.close();
      await store.close();
    }, 3_600_000);
  },
);
