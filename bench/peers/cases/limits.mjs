// What no engine can beat: one row a commit, and a bare group commit with fencing, on SQLite and PostgreSQL.
import Database from "better-sqlite3";
import pg from "pg";
import { database, figures, folder, now, payload, pooled, STEPS, settings, tell } from "./work.mjs";

const limits = {};

/** `write(worker, position, text)`, at each of the widths. */
async function drive(name, write, widths) {
  limits[name] = { levels: {} };
  for (const [width, runs] of settings.levels.filter(([one]) => widths.includes(one))) {
    const count = runs * STEPS * 2;
    const position = new Map();
    const latencies = [];
    const one = async (_, worker) => {
      const at = (position.get(worker) ?? 0) + 1;
      position.set(worker, at);
      const start = now();
      await write(`${width}-${worker}`, worker, at, payload());
      latencies.push(now() - start);
    };
    await pooled(Math.max(600, width * 10), width, one);
    latencies.length = 0;
    const start = now();
    await pooled(count, width, one);
    limits[name].levels[width] = figures(count, now() - start, latencies);
  }
}

/** A queue before one writer: all that waits goes out in one commit. */
function grouped(commit) {
  let waiting = [];
  let isBusy = false;
  const flush = async () => {
    if (isBusy) return;
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await commit(batch);
      for (const { done } of batch) done();
      await Promise.resolve();
    }
    isBusy = false;
  };
  return (run, worker, at, text) =>
    new Promise((done) => {
      waiting.push({ run, worker, at, text, done });
      if (!isBusy && waiting.length === 1) setImmediate(() => void flush());
    });
}

const counts = await database("peers_limits");
await counts.ask(
  "CREATE TABLE raw (run text, seq int, name text, out text, PRIMARY KEY (run, seq))",
  "CREATE TABLE steps (run text, seq int, name text, out text, PRIMARY KEY (run, seq))",
  "CREATE TABLE runs (id text PRIMARY KEY, owner int NOT NULL)",
  `INSERT INTO runs SELECT w || '-' || n, 7 FROM unnest(ARRAY[1, 16, 100]) w, generate_series(0, 99) n`,
);
const clients = await Promise.all(
  Array.from({ length: 16 }, async () => {
    const client = new pg.Client({ connectionString: counts.url });
    await client.connect();
    return client;
  }),
);
const insert = "INSERT INTO raw VALUES ($1, $2, 'step', $3)";
await drive(
  "raw `pg`, one row a commit",
  (run, worker, at, text) => clients[worker].query({ name: "raw", text: insert, values: [run, at, text] }),
  [1, 16],
);
const group = grouped(async (batch) => {
  const rows = batch
    .map((_, n) => `($${n * 3 + 1}::text, $${n * 3 + 2}::int, $${n * 3 + 3}::text)`)
    .join(",");
  const text = `INSERT INTO steps SELECT runs.id, t.seq, 'step', t.out FROM (VALUES ${rows}) t(run, seq, out)
    JOIN runs ON runs.id = t.run AND runs.owner = 7`;
  const values = batch.flatMap(({ run, at, text: out }) => [run, at, out]);
  const { rowCount } = await clients[0].query({ name: `group ${batch.length}`, text, values });
  if (rowCount !== batch.length) throw new Error("fenced");
});
await drive("group-commit prototype, PostgreSQL", group, [1, 16, 100]);
for (const client of clients) await client.end();

const at = folder("limits");
function opened(name) {
  const db = new Database(`${at}/${name}.db`);
  for (const pragma of ["page_size = 8192", "journal_mode = WAL", "synchronous = FULL"]) db.pragma(pragma);
  db.exec("CREATE TABLE steps (id INTEGER PRIMARY KEY, run TEXT, seq INTEGER, name TEXT, out TEXT)");
  db.exec("CREATE UNIQUE INDEX places ON steps (run, seq)");
  return db;
}
const add = "INSERT INTO steps (run, seq, name, out) VALUES (?, ?, 'step', ?)";
const raw = opened("raw").prepare(add);
await drive("raw SQLite, one row a commit", (run, _, seq, text) => void raw.run(run, seq, text), [1]);
const db = opened("group");
const [begin, one, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare(add), db.prepare("COMMIT")];
const sqlite = grouped(async (batch) => {
  begin.run();
  for (const { run, at: seq, text } of batch) one.run(run, seq, text);
  commit.run();
});
await drive("group-commit prototype, SQLite", sqlite, [1, 16, 100]);
tell({ limits });
