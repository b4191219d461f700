import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import { openFileStore } from "../../src/stores/file/index.ts";
import { seal } from "../../src/stores/file/sealed.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { filesIn } from "../support/folders.ts";
import type { Patient, Random } from "./trial.ts";

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;

/** A different, plausible value for a field of a row, as a person or a bug would write it. */
function another(random: Random, field: string, old: unknown): unknown {
  const words = OTHERS[field];
  if (words)
    return pick(
      random,
      words.filter((word) => word !== old),
    );
  if (typeof old === "number") return pick(random, [old + 1, old - 1, 0, old + 86_400_000, null]);
  if (typeof old === "string") return old.length > 1 ? `${old.slice(1)}${old.slice(0, 1)}` : "x";
  return pick(random, [0, 1, "x"]);
}

const OTHERS: Readonly<Record<string, readonly unknown[]>> = {
  status: ["queued", "running", "waiting", "paused", "completed", "failed", "cancelled", "nope", ""],
  control: ["none", "pausing", "compensating", "nope"],
  workflow: ["plain", "asks", "dies", "above", "nobody"],
  parent_run: [null, "done", "dies"],
  waiting: ["[]", "[{}]", "not json", '[{"kind":"gate","step":"other","since":1}]'],
  budget: [null, '{"turns":1}', "not json"],
  pruned_at: [1],
  // A claim that lasts longer can't be told from that of a living worker.
  claim_until: [0, 1],
};

const ROW =
  `workflow lineage parent_run parent_step version schema control waiting recoveries steps_done tokens turns budget
  open_children pinned error updated_at finished_at snapshot_seq seq head status wake_at pruned_at epoch owner token claim_until`
    .trim()
    .split(/\s+/);

export function sqlitePatient(folder: string): Patient {
  mkdirSync(folder, { recursive: true });
  const [file, kept] = [path.join(folder, "runs.db"), path.join(folder, "kept.db")];
  const open = () => openSqliteStore({ file, busyMs: 2_000 });
  return {
    name: "SQLite",
    make: open,
    async keep() {
      const db = new DatabaseSync(file);
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      db.close();
      cpSync(file, kept);
    },
    async open(damage, random) {
      for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
      cpSync(kept, file);
      return { what: await damage(random), store: open };
    },
    flip: async (random) => flipFile(file, random),
    async edit(random) {
      const db = new DatabaseSync(file);
      const rows = db.prepare("SELECT * FROM runs ORDER BY id").all() as Record<string, unknown>[];
      const row = pick(random, rows);
      const column = pick(random, ROW);
      const value = another(random, column, row[column]);
      try {
        db.prepare(`UPDATE runs SET ${column} = ? WHERE id = ?`).run(value as string, row["id"] as string);
      } catch {
        // The table itself refuses it.
      }
      db.close();
      return `${String(row["id"])}.${column}: ${String(row[column])} → ${String(value)}`;
    },
  };
}

function flipFile(file: string, random: Random): string {
  const bytes = readFileSync(file);
  const [at, bit] = [random(bytes.length), random(8)];
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(file, bytes);
  return `bit ${bit} of byte ${at} of ${path.basename(file)}`;
}

const FIELDS =
  `workflow lineage parent version schema status control waiting wakeAt recoveries stepsDone usage turns budget
  openChildren pinned prunedAt error updatedAt finishedAt snapshotSeq seq head claim`
    .trim()
    .split(/\s+/);

export function filePatient(root: string): Patient {
  const [folder, kept] = [path.join(root, "runs"), path.join(root, "kept")];
  const open = () => openFileStore({ folder });
  const files = (): string[] => filesIn(folder).filter((name) => name !== "lock.json");
  return {
    name: "files",
    make: open,
    async keep() {
      rmSync(path.join(folder, "lock.json"), { force: true });
      cpSync(folder, kept, { recursive: true });
    },
    async open(damage, random) {
      rmSync(folder, { recursive: true, force: true });
      cpSync(kept, folder, { recursive: true });
      return { what: await damage(random), store: open };
    },
    async flip(random) {
      const name = pick(random, files());
      return `${name}: ${flipFile(path.join(folder, name), random)}`;
    },
    /** Keeps the checksum valid, because the editor knows the format. */
    async edit(random) {
      const runs = [...new Set(files().flatMap((name) => /^runs\/([^/]+)\/newest/.exec(name)?.[1] ?? []))];
      const run = pick(random, runs);
      const records = files().filter((name) => name.startsWith(`runs/${run}/checkpoint_`));
      const last = path.join(folder, records.at(-1) ?? "");
      const { checksum: _, ...body } = JSON.parse(readFileSync(last, "utf8"));
      const field = pick(random, FIELDS);
      const old = body.run[field];
      body.run[field] =
        typeof old === "object" && old !== null
          ? pick(random, [null, {}, [], { ...old, until: 9e15 }])
          : another(random, field, old);
      writeFileSync(last, seal(body));
      writeFileSync(path.join(folder, "runs", run, "newest.json"), seal(body));
      return `${run}.${field}: ${JSON.stringify(old)} → ${JSON.stringify(body.run[field])}`;
    },
  };
}

const TABLES = ["meta", "runs", "journal", "blobs"];

export function postgresPatient(url: string, schema: string): Patient & { end(): Promise<void> } {
  const client = new pg.Client({ connectionString: url });
  const connected = client.connect();
  const open = () => openPostgresStore({ connectionString: url, schema });
  const rows = async (table: string): Promise<Record<string, unknown>[]> =>
    (await client.query(`SELECT ctid::text AS at, * FROM "${schema}".${table} ORDER BY ctid`)).rows;
  const set = async (table: string, at: unknown, column: string, value: unknown): Promise<void> => {
    try {
      await client.query(`UPDATE "${schema}".${table} SET ${column} = $1 WHERE ctid = $2::tid`, [value, at]);
    } catch {
      // The table itself refuses it.
    }
  };
  return {
    name: "PostgreSQL",
    async make() {
      await connected;
      return open();
    },
    async keep() {
      await client.query(`CREATE SCHEMA "${schema}_kept"`);
      for (const table of TABLES)
        await client.query(`CREATE TABLE "${schema}_kept".${table} AS TABLE "${schema}".${table}`);
    },
    async open(damage, random) {
      for (const table of TABLES) {
        await client.query(`TRUNCATE "${schema}".${table}`);
        await client.query(
          `INSERT INTO "${schema}".${table} OVERRIDING SYSTEM VALUE TABLE "${schema}_kept".${table}`,
        );
      }
      return { what: await damage(random), store: open };
    },
    /** Changes what the server returns: its own checksums protect its disk. */
    async flip(random) {
      const cells: [string, Record<string, unknown>, string][] = [];
      for (const table of TABLES)
        for (const row of await rows(table))
          for (const column of Object.keys(row)) if (column !== "at") cells.push([table, row, column]);
      const weighted = cells.filter(([, row, column]) => row[column] !== null);
      const [table, row, column] = pick(random, weighted);
      const old = row[column];
      const value =
        typeof old === "string" && !/^\d+$/.test(old) ? flipText(old, random) : flipNumber(old, random);
      await set(table, row["at"], column, value);
      return `${table}.${column} of ${String(row["id"] ?? row["run"] ?? row["key"])}: one bit`;
    },
    async edit(random) {
      const row = pick(random, await rows("runs"));
      if (random(2) === 0) {
        const projection = JSON.parse(String(row["projection"]));
        const field = pick(random, Object.keys(projection));
        const old = projection[field];
        projection[field] =
          typeof old === "object" && old !== null
            ? pick(random, [null, {}, []])
            : another(random, field, old);
        await set("runs", row["at"], "projection", JSON.stringify(projection));
        return `${String(row["id"])}.${field}: ${JSON.stringify(old)} → ${JSON.stringify(projection[field])}`;
      }
      const column = pick(random, COLUMNS);
      const number = Number(row[column]);
      const isNumber = row[column] !== null && Number.isFinite(number) && column !== "head";
      const value = another(random, column, isNumber ? number : row[column]);
      await set("runs", row["at"], column, value);
      return `${String(row["id"])}.${column}: ${String(row[column])} → ${String(value)}`;
    },
    async end() {
      await client.query(`DROP SCHEMA IF EXISTS "${schema}_kept" CASCADE`);
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await client.end();
    },
  };
}

const COLUMNS =
  "workflow parent_run created_at identity status wake_at pruned_at epoch owner token claim_until seq head"
    .trim()
    .split(/\s+/);

function flipText(text: string, random: Random): string {
  const bytes = Buffer.from(text);
  const at = random(bytes.length);
  // Text that is no longer valid couldn't be stored.
  for (const bit of [random(7), 0, 1, 2]) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
    if (flipped[at] !== 0 && flipped.toString("utf8").length === text.length) return flipped.toString("utf8");
  }
  return text;
}

const flipNumber = (value: unknown, random: Random): number => {
  const bit = 2 ** random(40);
  const number = Number(value);
  return Math.floor(number / bit) % 2 === 0 ? number + bit : number - bit;
};
