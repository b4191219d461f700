// The common workload: runs of ten steps, each step with a result of 2 KiB, at 1, 16 and 100 runs at once.
import { mkdirSync, rmSync, statSync } from "node:fs";

export const STEPS = 10;
export const settings = JSON.parse(process.env.PEERS_SETTINGS);
export const now = () => performance.now();

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
let state = 0x9e3779b9;
const pool = Buffer.from(
  Array.from({ length: 1 << 20 }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return LETTERS.charCodeAt((state >>> 0) & 63);
  }),
);
let cursor = 0;

/** 2 KiB of text that no compressor makes much of, different each time, and never a part of another string. */
export function payload(bytes = 2048) {
  cursor = (cursor + 7919) % (pool.length - bytes);
  return pool.toString("latin1", cursor, cursor + bytes);
}

export function folder(name) {
  const made = `${settings.folder}/${name}`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  return made;
}

export const fileBytes = (file) =>
  ["", "-wal"].reduce((sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0), 0);

/** A fresh database, its address, and what the server counts about it. */
export async function database(name) {
  const { default: pg } = await import("pg");
  const ask = async (at, ...texts) => {
    const client = new pg.Client({ connectionString: `${settings.server}/${at}` });
    await client.connect();
    let rows = [];
    // A text of several statements gives several results.
    for (const text of texts) rows = (await client.query(text)).rows ?? [];
    await client.end();
    return rows[0];
  };
  await ask("postgres", `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `CREATE DATABASE ${name}`);
  return {
    url: `${settings.server}/${name}`,
    ask: (...texts) => ask(name, ...texts),
    bytes: async () => Number((await ask("postgres", `SELECT pg_database_size('${name}') AS n`)).n),
  };
}

/** Does `work(n, worker)` `count` times, at most `width` at once. */
export async function pooled(count, width, work) {
  let next = 0;
  const worker = async (index) => {
    while (next < count) await work(next++, index);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, (_, index) => worker(index)));
}

const rounded = (value) => Number(value.toPrecision(4));

export function figures(steps, ms, latencies) {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (q) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0);
  return { perSec: rounded((steps / ms) * 1000), p50: at(0.5), p95: at(0.95) };
}

/** Measures `runOne(id, latencies)` at each level, and tells the parent. */
export async function measure(runOne, counts) {
  let runs = 0;
  const level = (count, width, latencies) =>
    pooled(count, width, () => runOne(`${process.pid}-${Date.now().toString(36)}-${runs++}`, latencies));
  return drained(async (count, width) => {
    const latencies = [];
    const start = now();
    await level(count, width, latencies);
    return figures(count * STEPS, now() - start, latencies);
  }, counts);
}

/** The same for what measures a level itself: `drain(runs, width)`. */
export async function drained(drain, { bytes } = {}) {
  await drain(settings.warm, 4);
  const levels = {};
  const before = settings.counts && (await bytes?.());
  let runs = 0;
  for (const [width, count] of settings.levels) {
    levels[width] = await drain(count, width);
    runs += count;
  }
  if (before === undefined || !settings.counts) return tell({ levels });
  tell({ levels, bytes: Math.round(((await bytes()) - before) / (runs * STEPS)) });
}

export function tell(result) {
  process.stdout.write(`\nRESULT ${JSON.stringify(result)}\n`, () => process.exit(0));
}
