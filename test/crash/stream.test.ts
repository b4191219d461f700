import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import type { StreamPiece } from "../../src/core/streams.ts";
import { createEngine, type Engine, workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";
import { sharedPostgres } from "../support/services/postgres.ts";

const CHILD = childScript("test/crash/stream-child");
const TOKENS = 40;
/** The model kills the process that asks for the next of these tokens. */
const DEADLY = [9, 17, 18, 31];

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-stream-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { url: postgres = "" } = await sharedPostgres();

/** Reads the stream by cursor, a few pieces at a time, as somebody does whose connection keeps breaking. */
class Reader {
  readonly pieces: StreamPiece<string>[] = [];
  /** The message as a page shows it. */
  readonly message: string[] = [];
  #waiters: (() => void)[] = [];

  async follow(engine: Engine): Promise<void> {
    for (let calls = 1; this.pieces.at(-1)?.kind !== "closed"; calls++) {
      const from = this.pieces.at(-1)?.cursor;
      let left = 1 + (calls % 3);
      for await (const piece of engine.streams.read<string>("chat-1", "answer", from ? { from } : {})) {
        this.#take(piece);
        if (--left === 0) break;
      }
    }
  }

  #take(piece: StreamPiece<string>): void {
    this.pieces.push(piece);
    if (piece.kind === "restarted") this.message.length = piece.to;
    if (piece.kind === "item") this.message[piece.index] = piece.value;
    for (const look of this.#waiters.splice(0)) look();
  }

  async until(length: number): Promise<void> {
    while (this.message.length < length) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }
}

/** The model outlives the processes that ask it: it remembers what it said to each of them, and kills some. */
async function openModel(reader: Reader, say: (life: number, at: number) => string) {
  /** The tokens that each process was given. */
  const lives: string[][] = [];
  let child: ChildProcess | undefined;
  const answer = async (at: number): Promise<string | undefined> => {
    const life = lives.length - 1;
    if (at === DEADLY[life]) {
      // Everything is durable at every other death. At the others, what was collected last may be lost.
      if (life % 2 === 0) await reader.until(at);
      child?.kill("SIGKILL");
    } else if (at < TOKENS) {
      const token = say(life, at);
      lives[life]?.push(token);
      return token;
    }
    return undefined;
  };
  const server = createServer((request, response) => {
    void answer(Number(request.url?.slice(1))).then((token) => {
      response.writeHead(token === undefined ? 204 : 200).end(token);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    lives,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gives(next: ChildProcess) {
      lives.push([]);
      child = next;
    },
    close: () => (server.closeAllConnections(), server.close()),
  };
}

/** Works on the run with one process after another, until one isn't killed. */
async function survive(address: string, say: (life: number, at: number) => string) {
  const store = await openStore(address);
  const chat = workflow("chat", () => undefined);
  const engine = createEngine({ store, workflows: [chat], execute: false });
  const reader = new Reader();
  const model = await openModel(reader, say);
  try {
    await engine.start(chat, undefined, { id: "chat-1" });
    const read = reader.follow(engine);
    for (let signal: unknown = "SIGKILL"; signal === "SIGKILL"; ) {
      const child = spawn(process.execPath, [CHILD, address, model.url], { stdio: "inherit" });
      model.gives(child);
      [, signal] = await once(child, "exit");
    }
    await read;
    const { message, pieces } = reader;
    return { message, pieces, lives: model.lives };
  } finally {
    model.close();
    await engine.close();
    await store.close();
  }
}

type Survived = Awaited<ReturnType<typeof survive>>;

function checkLives({ lives, pieces }: Survived): void {
  expect(lives.map((said) => said.length)).toEqual([...DEADLY, TOKENS]);
  const cursors = pieces.map(({ cursor }) => cursor);
  expect(cursors).toEqual([...new Set(cursors)].sort());
}

/** A reader of a model that says the same again sees every token once, and nothing else. */
async function checkSame(address: string): Promise<void> {
  const survived = await survive(address, (_, at) => `token ${at}`);
  checkLives(survived);
  const expected = Array.from({ length: TOKENS }, (_, index) => ({
    kind: "item",
    index,
    value: `token ${index}`,
  }));
  expect(survived.pieces.map(({ cursor: _, ...piece }) => piece)).toEqual([...expected, { kind: "closed" }]);
}

/** A reader of a model that says something else is told what is void, and has the last answer in the end. */
async function checkOther(address: string): Promise<void> {
  const survived = await survive(address, (life, at) => (at < 5 ? `token ${at}` : `token ${at} of ${life}`));
  checkLives(survived);
  const { message, pieces, lives } = survived;
  expect(message).toEqual(lives.at(-1));
  const restarts = pieces.flatMap((piece) => (piece.kind === "restarted" ? [piece] : []));
  expect(restarts.length).toBeGreaterThan(1);
  expect(restarts.every(({ to }) => to === 5)).toBe(true);
  const attempts = restarts.map(({ attempt }) => attempt);
  expect(attempts).toEqual([...new Set(attempts)].sort((one, other) => one - other));
  // No token of any process was shown twice.
  const shown = pieces.flatMap((piece) => (piece.kind === "item" ? [piece.value] : []));
  expect(shown).toEqual([...new Set(shown)]);
}

describe("a stream whose writer is killed with kill -9 in the middle", () => {
  const sqlite = (name: string): string => `sqlite:${path.join(folder, `${name}.db`)}`;

  it("shows every token once when the model says the same again, on SQLite", () => checkSame(sqlite("same")));

  it("tells what is void and shows the whole answer when the model says something else, on SQLite", () =>
    checkOther(sqlite("other")));

  it("does both on PostgreSQL", async ({ skip }) => {
    if (postgres === "") return skip();
    const admin = new pg.Pool({ connectionString: postgres });
    const address = async (name: string): Promise<string> => {
      const database = `stream_${name}_${process.pid}`;
      await admin.query(`CREATE DATABASE ${database}`);
      return Object.assign(new URL(postgres), { pathname: `/${database}` }).href;
    };
    try {
      await checkSame(await address("same"));
      await checkOther(await address("other"));
    } finally {
      await admin.end();
    }
  });
});
