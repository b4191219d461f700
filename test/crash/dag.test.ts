import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import type { DagConfig } from "./dag-child.ts";

/** A process of PGlite takes seconds to start, and each moment needs two. */
const EXHAUSTIVE_MS = 3_600_000;
const CHILD = childScript("test/crash/dag-child");
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-dag-"));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

interface Deed {
  readonly task: string;
  readonly key: string;
}

interface Ended {
  readonly moments: readonly string[];
  readonly done: readonly string[];
  readonly [key: string]: unknown;
}

/** The outside world: it sees every call of a task, and outlives the processes. */
async function world() {
  const deeds: Deed[] = [];
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const given = JSON.parse(body) as Deed;
      const known = deeds.find(({ key }) => key === given.key);
      if (request.url === "/do") deeds.push(given);
      const text = request.url === "/do" ? `did ${given.task}` : known ? `did ${known.task}` : null;
      response.end(JSON.stringify({ text }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => (server.closeAllConnections(), server.close()));
  return { deeds, witness: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Runs a process on the workflow until it is done or killed. */
async function work(config: DagConfig): Promise<Ended | "killed"> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("close", (_, signal) => resolve(signal)),
  );
  const printed = await readText(child.stdout);
  return (await ended) === "SIGKILL" ? "killed" : (JSON.parse(printed) as Ended);
}

let places = 0;
const placeOf = (store: DagConfig["store"]): string => path.join(folder, `${store}-${++places}`);

/** Kills the process at each of these moments, one after another, and checks what came of it. */
async function strike(store: DagConfig["store"], expected: Ended, kills: readonly string[]): Promise<void> {
  const { deeds, witness } = await world();
  const config: DagConfig = { store, path: placeOf(store), witness };
  for (const killAt of kills) expect(await work({ ...config, killAt }), killAt).toBe("killed");
  const { moments: _, ...result } = (await work(config)) as Ended;
  const { moments: __, ...calm } = expected;
  expect(result, kills.join(", ")).toEqual(calm);
  const count = (task: string) => deeds.filter((deed) => deed.task === task).length;
  // A call whose outcome was lost is verified, not repeated.
  for (const task of ["notify", "publish"]) expect(count(task), `${task} ${kills.join()}`).toBe(1);
  expect(new Set(deeds.filter(({ task }) => task === "pay").map(({ key }) => key)).size).toBe(1);
  for (const task of ["plan", "search", "guess", "write", "pay"]) {
    expect(count(task), `${task} ${kills.join()}`).toBeGreaterThanOrEqual(1);
    expect(count(task), `${task} ${kills.join()}`).toBeLessThanOrEqual(1 + kills.length);
  }
}

async function calm(store: DagConfig["store"]): Promise<Ended> {
  const { deeds, witness } = await world();
  const ended = (await work({ store, path: placeOf(store), witness })) as Ended;
  expect(deeds.map(({ task }) => task).sort()).toEqual([
    "guess",
    "notify",
    "pay",
    "plan",
    "publish",
    "search",
    "write",
  ]);
  return ended;
}

const KILLS = [
  "task_started 0 plan",
  "checkpoint_saved 1",
  "task_completed 1 notify",
  "speculation_started 1 guess",
  "decision_made 1",
  "layer_started 2",
  "task_completed 3 publish",
];

describe("a DAG whose process is killed", () => {
  it("again and again at layers, tasks and decisions ends as if nothing had happened, and repeats no effect (S2-01, S2-03)", async () => {
    const expected = await calm("sqlite");
    expect(expected).toMatchObject({ layers: 4, decisions: ["AIL"], context: { checked: true } });
    expect(KILLS.filter((kill) => !expected.moments.includes(kill))).toEqual([]);
    await strike("sqlite", expected, KILLS);
    // The same on PGlite, whose processes take longer to start.
    await strike("pglite", expected, ["task_completed 1 notify"]);
  });

  it.runIf(isExhaustive).each(["sqlite", "pglite"] as const)(
    "at any of its moments ends as if nothing had happened, on %s",
    async (store) => {
      const expected = await calm(store);
      for (const moment of expected.moments) await strike(store, expected, [moment]);
    },
    EXHAUSTIVE_MS,
  );
});
