import { mkdirSync } from "node:fs";
import { cpus, release } from "node:os";
import { join, resolve } from "node:path";
import { startPostgres } from "../../lab/services/postgres.ts";
import { sqliteVersion } from "../workbench.ts";
import { absurdSchema, defaultCache, installPeers } from "./cache.ts";
import { measureAll } from "./rounds.ts";
import { table } from "./table.ts";

export interface PeerOptions {
  readonly rounds: number;
  readonly cache?: string | undefined;
  readonly absurd?: string | undefined;
  /** Parts of names: only these are measured. */
  readonly only: readonly string[];
}

/** Peers, limits and Holdfast in turn on this machine; returns one table as Markdown. */
export async function comparePeers({ rounds, cache: given, absurd, only }: PeerOptions): Promise<string> {
  const cache = resolve(given ?? defaultCache());
  mkdirSync(join(cache, "run"), { recursive: true });
  const missing = await installPeers(cache);
  const server = await startPostgres();
  if (!server) throw new Error("PostgreSQL must be on this machine.");
  try {
    const lines = await measureAll({
      cache,
      server: server.url.replace(/\/postgres$/, ""),
      dist: resolve("dist"),
      absurd: await absurdSchema(cache, absurd),
      missing,
      rounds,
      only: only.map((one) => one.toLowerCase()),
    });
    return `${await heading(rounds)}\n\n${table(lines)}\n`;
  } finally {
    await server.remove();
  }
}

async function heading(rounds: number): Promise<string> {
  const date = new Date().toISOString().slice(0, 10);
  const { length: cores, 0: cpu } = cpus();
  return `## Beside the peers, ${date}: ${cores} cores (${cpu?.model.trim() ?? "unknown"}), Linux ${release()}, Node ${process.versions.node}, SQLite ${await sqliteVersion()}

\`npm run bench -- --peers --rounds ${rounds}\`: runs of ten steps with results of 2 KiB, everything in turn, medians of ${rounds}. SQLite syncs at each commit except in LangGraph.js, whose saver doesn't; PostgreSQL syncs. Peers that need it run on Node 24.`;
}
