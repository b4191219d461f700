import { createHash } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  DeltaChannel,
  END,
  MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { HoldfastSaver } from "holdfast/adapters/langgraph";
import { openPostgresStore } from "holdfast/stores/postgres";
import { openSqliteStore } from "holdfast/stores/sqlite";
import pg from "pg";
import { startPostgres } from "../../lab/services/postgres.ts";
import type { CaseReport } from "../run.ts";
import { inFolder, median } from "../workbench.ts";

type Channels = "default" | "delta";

/** A saver that is open, and how many bytes it has stored. */
interface Opened {
  readonly saver: BaseCheckpointSaver;
  close(): Promise<void>;
}

interface Kind {
  readonly name: string;
  open(folder: string): Promise<Opened>;
  bytes(folder: string): Promise<number>;
  remove(folder: string): Promise<void>;
}

/** 2 KiB of text that no store can compress much, the same in every run. */
const text = (n: number): string =>
  Array.from({ length: 48 }, (_, part) => createHash("sha256").update(`${n} ${part}`).digest("base64url"))
    .join("")
    .slice(0, 2048);

/** One node that appends a message of 2 KiB in each iteration. */
function graphOf(saver: BaseCheckpointSaver, channels: Channels, turns: number, began: number[]) {
  const messages =
    channels === "delta"
      ? { messages: () => new DeltaChannel(messagesDeltaReducer, { initialValueFactory: () => [] }) }
      : MessagesAnnotation.spec;
  const State = Annotation.Root({ ...messages, n: Annotation<number>() });
  return new StateGraph(State)
    .addNode("step", ({ n }) => {
      began.push(performance.now());
      return { messages: [new AIMessage({ content: text(n), id: `m${n}` })], n: n + 1 };
    })
    .addEdge(START, "step")
    .addConditionalEdges("step", ({ n }) => (n < turns ? "step" : END), ["step", END])
    .compile({ checkpointer: saver });
}

const config = { configurable: { thread_id: "t" }, recursionLimit: 100_000, durability: "sync" as const };

interface Measured {
  readonly bytes: number;
  readonly at: ReadonlyMap<number, number>;
  readonly total: number;
  /** Of the processor, in this process. */
  readonly cpu: number;
  readonly resume: number;
}

async function measure(kind: Kind, channels: Channels, turns: number, folder: string): Promise<Measured> {
  await kind.remove(folder);
  const began: number[] = [];
  const first = await kind.open(folder);
  const [start, before] = [performance.now(), process.cpuUsage()];
  await graphOf(first.saver, channels, turns, began).invoke({ messages: [], n: 0 }, config);
  const total = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  await first.close();
  const bytes = await kind.bytes(folder);
  const again = await kind.open(folder);
  const resumed = performance.now();
  const { values } = await graphOf(again.saver, channels, turns, []).getState(config);
  const resume = performance.now() - resumed;
  if (values.messages.length !== turns) throw new Error(`${kind.name} has lost messages`);
  await again.close();
  const gaps = began.slice(1).map((time, index) => time - (began[index] ?? time));
  const around = [10, 100, 1_000].filter((n) => n <= turns);
  return {
    bytes,
    total,
    cpu: (user + system) / 1e3,
    resume,
    at: new Map(around.map((n) => [n, median(gaps.slice(Math.max(0, n - 20), n))])),
  };
}

/** LangGraph's own savers, from a folder where they are installed; their SQLite driver needs a compiler. */
function theirs(url: string | undefined): Kind[] {
  const from = process.env["HOLDFAST_LANGGRAPH_SAVERS"];
  if (from === undefined) return [];
  const load = createRequire(path.join(path.resolve(from), "package.json"));
  const { SqliteSaver } = load("@langchain/langgraph-checkpoint-sqlite");
  const { PostgresSaver } = load("@langchain/langgraph-checkpoint-postgres");
  const sqlite = files("LangGraph SQLite", async (file) => {
    const saver = SqliteSaver.fromConnString(file);
    return { saver, close: async () => void saver.db.close() };
  });
  const synced = files("LangGraph SQLite, each commit synced", async (file) => {
    const saver = SqliteSaver.fromConnString(file);
    saver.db.pragma("synchronous = FULL");
    return { saver, close: async () => void saver.db.close() };
  });
  if (url === undefined) return [sqlite, synced];
  const postgres = tables("LangGraph PostgreSQL", url, "public", async () => {
    const saver = PostgresSaver.fromConnString(url);
    await saver.setup();
    return { saver, close: () => saver.end() };
  });
  return [sqlite, synced, postgres];
}

function ours(url: string | undefined): Kind[] {
  const sqlite = files("Holdfast SQLite", async (file) => {
    const store = await openSqliteStore({ file });
    const saver = new HoldfastSaver(store);
    return { saver, close: async () => (await saver.close(), store.close()) };
  });
  if (url === undefined) return [sqlite];
  const postgres = tables("Holdfast PostgreSQL", url, "holdfast", async () => {
    const store = await openPostgresStore({ connectionString: url, schema: "holdfast" });
    const saver = new HoldfastSaver(store);
    return { saver, close: async () => (await saver.close(), store.close()) };
  });
  return [sqlite, postgres];
}

const files = (name: string, open: (file: string) => Promise<Opened>): Kind => ({
  name,
  open: (folder) => open(path.join(folder, "bench.db")),
  bytes: async (folder) =>
    ["", "-wal"].reduce((sum, end) => {
      const found = statSync(path.join(folder, `bench.db${end}`), { throwIfNoEntry: false });
      return sum + (found?.size ?? 0);
    }, 0),
  remove: async (folder) => {
    for (const end of ["", "-wal", "-shm"]) rmSync(path.join(folder, `bench.db${end}`), { force: true });
  },
});

const tables = (name: string, url: string, schema: string, open: () => Promise<Opened>): Kind => ({
  name,
  open,
  bytes: async () => {
    const text = `SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)) AS bytes
      FROM pg_tables WHERE schemaname = $1`;
    const [row] = await query(url, text, [schema]);
    return Number(row?.["bytes"]);
  },
  remove: async () =>
    void (await query(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA IF NOT EXISTS public`)),
});

async function query(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows ?? [];
  } finally {
    await client.end();
  }
}

/** A growing conversation in LangGraph, on its own savers and on Holdfast's, in turn. */
export async function langgraph({ quick }: { quick: boolean }): Promise<CaseReport> {
  const turns = quick ? 100 : 1_000;
  const server = await startPostgres();
  const kinds = [...theirs(server?.url), ...ours(server?.url)];
  const figures: Record<string, number> = {};
  const seen = new Map<string, Measured>();
  try {
    for (const channels of ["default", "delta"] as const)
      for (const kind of kinds) {
        const measured = await inFolder((folder) => measure(kind, channels, turns, folder));
        const name = `${kind.name}, ${channels} channels`;
        seen.set(name, measured);
        figures[`${name}: MB`] = measured.bytes / 1e6;
        figures[`${name}: seconds in all`] = measured.total / 1e3;
        figures[`${name}: seconds of the processor, without a server`] = measured.cpu / 1e3;
        for (const [n, ms] of measured.at) figures[`${name}: ms per iteration around ${n}`] = ms;
        figures[`${name}: ms to resume`] = measured.resume;
      }
  } finally {
    await server?.remove();
  }
  return { figures, goals: goalsOf(seen) };
}

function goalsOf(seen: ReadonlyMap<string, Measured>): CaseReport["goals"] {
  return ["SQLite", "PostgreSQL"].flatMap((store) => {
    const of = (who: string, channels: Channels) => seen.get(`${who} ${store}, ${channels} channels`);
    const [full, delta, own] = [
      of("LangGraph", "default"),
      of("LangGraph", "delta"),
      of("Holdfast", "default"),
    ];
    if (!full || !delta || !own) return [];
    const bytes = own.bytes / Math.min(full.bytes, delta.bytes);
    const speed = full.total / own.total;
    return [
      { goal: `${store}: bytes ≤ 0.5 of their best`, measured: bytes, met: bytes <= 0.5 },
      { goal: `${store}: ≥ 3 × as fast, default channels`, measured: speed, met: speed >= 3 },
    ];
  });
}
