import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine, type Store, workflow } from "../../src/index.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { onLines } from "../../src/testing/witness/wire.ts";
import { createDesk } from "../support/alert-desk.ts";
import { type PostgresServer, startPostgres } from "../support/services/postgres.ts";

const CHILD = childScript("test/crash/alerts-child");
const root = mkdtempSync(path.join(tmpdir(), "holdfast-alerts-"));
let files = 0;
const newFile = (): string => path.join(root, `${++files}.db`);

/** Counts what arrives, from outside of all processes that may be killed. */
interface Delivery {
  readonly id: string;
  readonly what: string;
  readonly answer: () => void;
}
const deliveries: Delivery[] = [];
const waiting = new Set<() => void>();
let isHolding = false;
const witness = createServer((request, response: ServerResponse) => {
  let body = "";
  request.on("data", (part: Buffer) => (body += part.toString()));
  request.on("end", () => {
    const { id, news, kind } = JSON.parse(body) as { id: string; news: string; kind: string };
    const answer = (): void => void response.end();
    deliveries.push({ id, what: `${news} ${kind}`, answer });
    if (!isHolding) answer();
    for (const look of waiting) look();
  });
});

const arrived = (isThere: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!isThere()) return;
      waiting.delete(look);
      resolve();
    };
    waiting.add(look);
    look();
  });
const whats = (): string[] => deliveries.map(({ what }) => what);

const children: ChildProcess[] = [];
/** Starts a child; resolves when it has printed the line. */
async function child(line: string, ...args: readonly string[]): Promise<ChildProcess> {
  const started = spawn(process.execPath, [CHILD, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(started);
  await new Promise<void>((resolve) => {
    onLines(started.stdout, (text) => {
      if (text === line) resolve();
    });
  });
  return started;
}
const gone = (one: ChildProcess, signal: NodeJS.Signals): Promise<unknown> => {
  const closed = new Promise((resolve) => one.once("close", resolve));
  one.kill(signal);
  return closed;
};

let port = "";
let postgres: PostgresServer | null = null;
beforeAll(async () => {
  await new Promise<void>((resolve) => witness.listen(0, "127.0.0.1", resolve));
  port = String((witness.address() as AddressInfo).port);
  postgres = await startPostgres();
});
afterEach(() => {
  for (const one of children.splice(0)) one.kill("SIGKILL");
  deliveries.splice(0);
  isHolding = false;
});
afterAll(async () => {
  witness.close();
  await postgres?.remove();
  rmSync(root, { recursive: true, force: true });
});

const broken = workflow("broken", async (ctx) => {
  await ctx.step("fail", () => Promise.reject(new Error("no")), { retry: false });
});

async function failedRun(store: Store): Promise<void> {
  const engine = createEngine({ store, workflows: [broken] });
  await engine.start(broken, undefined, { id: "f" });
  await engine.settled("f");
  await engine.slo.setTarget("completion", { goal: null, alarm: null });
  await engine.close();
}

describe("alerts over real processes", () => {
  it("are told once by two processes, and once more, under the same id, after kill -9 between send and record", async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    await failedRun(store);
    isHolding = true;
    const first = await child("watching", "watch", file, port);
    await arrived(() => deliveries.length === 1);
    // It was sent, and that it was is not on record.
    await gone(first, "SIGKILL");
    isHolding = false;
    await Promise.all([child("watching", "watch", file, port), child("watching", "watch", file, port)]);
    await arrived(() => deliveries.length === 2);
    expect(whats()).toEqual(["opened run-failed", "opened run-failed"]);
    expect(deliveries[0]?.id).toBe(deliveries[1]?.id);
    const engine = createEngine({ store });
    await engine.delete("f");
    await arrived(() => deliveries.length === 3);
    expect(whats().at(-1)).toBe("cleared run-failed");
    await engine.close();
    await store.close();
  });

  it("tell once that PostgreSQL is away, and that it is back (S1-60)", async ({ skip }) => {
    if (!postgres) return skip("PostgreSQL is not installed");
    const store = await openPostgresStore({ connectionString: postgres.url });
    await store.now();
    await store.close();
    const watching = [
      child("watching", "watch", postgres.url, port),
      child("watching", "watch", postgres.url, port),
    ];
    await Promise.all(watching);
    // One of them looks after alerts by now: a failed run is told.
    const before = await openPostgresStore({ connectionString: postgres.url });
    await failedRun(before);
    await arrived(() => whats().includes("opened run-failed"));
    await before.close();
    await postgres.stop("immediate");
    await arrived(() => whats().includes("opened store-away"));
    await postgres.start();
    await arrived(() => whats().includes("cleared store-away"));
    expect(whats().filter((one) => one.endsWith("store-away"))).toEqual([
      "opened store-away",
      "cleared store-away",
    ]);
  });

  it("call for a run whose worker is stopped, and clear when it goes on", async () => {
    const file = newFile();
    const worker = await child("hanging", "work", file);
    await child("watching", "watch", file, port);
    worker.kill("SIGSTOP");
    await arrived(() => whats().includes("opened run-stalled"));
    worker.kill("SIGCONT");
    await arrived(() => whats().includes("cleared run-stalled"));
    expect(whats()).toEqual(["opened run-stalled", "cleared run-stalled"]);
  });

  it("call for a journal that somebody has edited, and clear when it is as it was", async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    await failedRun(store);
    const desk = createDesk();
    const engineOf = () =>
      createEngine({ store, execute: false, alerts: { notify: [desk], everyMs: 1_000 } });
    const database = new DatabaseSync(file);
    const row = database.prepare("SELECT id, head FROM journal ORDER BY id DESC").get() as {
      id: number;
      head: string;
    };
    const write = (text: string): void =>
      void database.prepare("UPDATE journal SET head = ? WHERE id = ?").run(text, row.id);
    const check = async (): Promise<string[]> => {
      const engine = engineOf();
      await engine.alerts.check();
      await engine.close();
      return desk.news().filter((one) => one.includes("chain"));
    };
    expect(await check()).toEqual([]);
    write(row.head.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)));
    expect(await check()).toEqual(["opened chain-broken P1 f"]);
    expect(await check()).toEqual([]);
    write(row.head);
    expect(await check()).toEqual(["cleared chain-broken P1 f"]);
    database.close();
    await store.close();
  });
});
