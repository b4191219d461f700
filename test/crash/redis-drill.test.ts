import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Evidence } from "../../src/manage.ts";
import { ROOT } from "../source-tree.ts";
import { type RedisServer, startRedis } from "../support/services/redis.ts";
import { missing } from "../support/services/service.ts";

const MAIN = path.join(ROOT, "dist/cli/main.js");
const ITERATIONS = 12;
const FATAL = 7;

/** Each iteration is written down outside; in one of them, the first process to get there hangs. */
const FLOW = `
import { appendFileSync, readFileSync } from "node:fs";
import { workflow } from "holdfast";
export const drill = workflow("drill", (ctx) =>
  ctx.loop("work", { done: 0 }, async (state, turn) => {
    await ctx.step("call", async () => {
      const isFirst = !readFileSync("calls.txt", "utf8").split("\\n").includes(String(turn.index));
      appendFileSync("calls.txt", turn.index + "\\n");
      if (turn.index === ${FATAL} && isFirst) await new Promise((resolve) => setTimeout(resolve, 600_000));
    });
    state.done++;
    if (state.done === ${ITERATIONS}) return turn.done();
  }),
);
`;

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-drill-"));
let redis: RedisServer | null = null;

const calls = (): number[] =>
  readFileSync(path.join(folder, "calls.txt"), "utf8").split("\n").filter(Boolean).map(Number);

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args, "--store", redis?.url ?? ""], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function output(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.on("data", (part: Buffer) => (text += part.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
  return text;
}

beforeAll(async () => {
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"));
  writeFileSync(path.join(folder, "drill.mjs"), FLOW);
  writeFileSync(path.join(folder, "calls.txt"), "");
  redis = await startRedis();
  if (!redis) missing("Redis", "it is not installed");
});
afterAll(async () => {
  await redis?.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe("a disaster with Redis and its append-only file", () => {
  it("costs at most five minutes and one iteration, as the evidence says (S1-62)", async ({ skip }) => {
    if (!redis) return skip();
    const worker = start("run", "drill.mjs", "--id", "drill", "-q");
    await expect.poll(calls, { timeout: 120_000, interval: 20 }).toContain(FATAL);
    worker.kill("SIGKILL");
    await redis.stop("SIGKILL");
    await redis.start();
    await output(start("resume", "drill", "-q", "--reason", "the drill"));
    const { evidence } = JSON.parse(
      await output(start("report", "evidence", "drill", "--format", "json", "--json")),
    ) as { evidence: Evidence };
    const { incidents = [] } = evidence.recoveries ?? {};
    const outageMs = (incidents[0]?.silentMs ?? 0) + (incidents[0]?.resumedAfterMs ?? Infinity);
    expect(evidence).toMatchObject({
      store: { kind: "redis", durability: "power-loss" },
      trail: { damaged: 0, trail: { status: "completed", verified: true } },
      effects: { violations: 0 },
    });
    expect(incidents).toMatchObject([{ interrupted: [{ step: `work[${FATAL}]/call` }], result: "went on" }]);
    expect(outageMs, "from the last write to the next").toBeLessThanOrEqual(5 * 60_000);
    const again = calls().filter((one, at, all) => all.indexOf(one) !== at);
    expect(again, "iterations that were called again").toEqual([FATAL]);
    expect(new Set(calls()).size).toBe(ITERATIONS);
    process.stderr.write(`recovered from the append-only file in ${outageMs} ms, 1 iteration again\n`);
  });
});
