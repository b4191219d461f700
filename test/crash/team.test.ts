import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { STOCK_AGENTS } from "../../examples/stock-team/subtasks.ts";
import { childScript } from "../../lab/child-script.ts";
import { seededIds } from "../../src/core/ids.ts";
import type { TeamResult } from "../../src/team/index.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { startServers } from "./servers.ts";
import type { TeamConfig } from "./team-child.ts";

const CHILD = childScript("test/crash/team-child");
/** `HOLDFAST_KILLS=100 npx vitest run --project crash test/crash/team.test.ts` kills a hundred times on each store. */
const KILLS = Number(process.env["HOLDFAST_KILLS"] ?? (isExhaustive ? 100 : 3));
/** With more kills than subtasks, several analyses are worked on together. */
const ANALYSES = Math.ceil(KILLS / 18);
/** They share the analyses, and are killed at the same moment. */
const PROCESSES = 2;
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-team-"));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

interface Deed {
  readonly analysis_id: string;
  readonly type: string;
  readonly subtask: string;
  readonly key: string;
  /** The subtasks that the agent had completed. */
  readonly before: readonly string[];
}

/** The outside world: it outlives the processes, does what a key asks for once, and can kill them. */
async function openWitness() {
  const calls: Deed[] = [];
  const done = new Map<string, Deed>();
  let after = Number.POSITIVE_INFINITY;
  let strike = (): void => undefined;
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const deed = JSON.parse(body) as Deed;
      calls.push(deed);
      if (!done.has(deed.key)) done.set(deed.key, deed);
      if (--after <= 0) {
        strike();
        // Half of the time the answer still leaves; the process is gone either way.
        if (calls.length % 2 === 0) return;
      }
      response.end(JSON.stringify({ n: [...done.keys()].indexOf(deed.key) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => (server.closeAllConnections(), server.close()));
  return {
    calls,
    done,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    killAfter(count: number, kill: () => void) {
      [after, strike] = [count, kill];
    },
  };
}

const analysisIds = Array.from(
  { length: ANALYSES },
  (_, n) => `550e8400-e29b-41d4-a716-44665544${String(n).padStart(4, "0")}`,
);
const EXPECTED = analysisIds.flatMap((id) =>
  STOCK_AGENTS.flatMap(({ type, subtasks }) => subtasks.map(({ name }) => `${id} ${type} ${name}`)),
);

/** Works until all analyses are done, with processes that are all killed at random. */
async function survive(store: string) {
  const witness = await openWitness();
  const random = seededIds(7);
  const config: TeamConfig = { store, witness: witness.url, analyses: analysisIds };
  const most = Math.max(2, Math.floor((2 * EXPECTED.length) / (KILLS + 1)));
  let kills = 0;
  for (;;) {
    const children = Array.from({ length: PROCESSES }, () =>
      spawn(process.execPath, [CHILD, JSON.stringify(config)], { stdio: ["ignore", "pipe", "inherit"] }),
    );
    const count = kills < KILLS ? 1 + Math.floor(random.random() * (most - 1)) : Number.POSITIVE_INFINITY;
    witness.killAfter(count, () => children.forEach((child) => void child.kill("SIGKILL")));
    const ended = await Promise.all(
      children.map(async (child) => {
        const close = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
        const printed = await readText(child.stdout);
        return { printed, signal: (await close)[1] };
      }),
    );
    const [done] = ended.filter(({ signal }) => signal !== "SIGKILL");
    if (done) return { witness, kills, results: JSON.parse(done.printed) as TeamResult[] };
    kills++;
  }
}

/** Every subtask of every agent was done once, under one key, and never asked for again once it was completed. */
function checkOnce({ witness, kills, results }: Awaited<ReturnType<typeof survive>>): void {
  const name = ({ analysis_id, type, subtask }: Deed): string => `${analysis_id} ${type} ${subtask}`;
  expect([...witness.done.values()].map(name).sort()).toEqual([...EXPECTED].sort());
  expect(witness.calls.filter(({ before, subtask }) => before.includes(subtask))).toEqual([]);
  for (const [index, deed] of witness.calls.entries()) {
    const isLate = witness.calls
      .slice(0, index)
      .some(
        (earlier) =>
          earlier.analysis_id === deed.analysis_id &&
          earlier.type === deed.type &&
          earlier.before.includes(deed.subtask),
      );
    expect(isLate, name(deed)).toBe(false);
  }
  // A kill can interrupt each agent that is at work.
  expect(witness.calls.length).toBeLessThanOrEqual(EXPECTED.length + kills * 13 * ANALYSES);
  expect(kills).toBeGreaterThan(0);
  for (const result of results)
    expect(result).toMatchObject({ status: "completed", progress: { percent: 100 } });
  console.log(`${kills} kills, ${witness.calls.length} calls for ${EXPECTED.length} subtasks`);
}

describe("the stock team, killed at random", () => {
  it("runs each subtask of the 13 agents once on SQLite (S0-11, S0-18, S0-19, S0-51)", {
    timeout: 1_800_000,
  }, async () => {
    checkOnce(await survive(`sqlite:${path.join(folder, "team.db")}`));
  });

  it("runs each subtask of the 13 agents once on PostgreSQL with Redis (S0-05, S0-27, S0-51)", {
    timeout: 1_800_000,
  }, async ({ skip }) => {
    const servers = await startServers();
    if (!servers) return skip();
    closing.push(() => servers.close());
    const cache = encodeURIComponent(servers.redis.url);
    checkOnce(
      await survive(
        `tiered:${servers.postgres.url}${servers.postgres.url.includes("?") ? "&" : "?"}cache=${cache}`,
      ),
    );
  });
});
