import {
  type PostgresServer,
  postgresPrograms,
  startPostgres as startInstalled,
} from "../../../lab/services/postgres.ts";
import { installed, missing, shared } from "./service.ts";

export type { PostgresServer } from "../../../lab/services/postgres.ts";

const isThere = (): Promise<boolean> => installed(postgresPrograms, "postgresql");

/** Starts a server for one test file; returns `null` when PostgreSQL isn't available. */
export async function startPostgres(): Promise<PostgresServer | null> {
  return (await isThere()) ? startInstalled() : null;
}

/**
 * The URL of a PostgreSQL server shared by all test files of this run, as a superuser: the one named by
 * HOLDFAST_TEST_POSTGRES_URL, or one that is started now. Without either, `missing` says why.
 */
export async function sharedPostgres(): Promise<{
  readonly url?: string;
  readonly missing?: string;
}> {
  const given = process.env["HOLDFAST_TEST_POSTGRES_URL"];
  if (given) return { url: given };
  if (!(await isThere()))
    return { missing: missing("PostgreSQL", "it is not installed, and no URL was given") };
  return shared("postgres", async () => {
    const server = await startPostgres();
    if (!server) throw new Error("PostgreSQL has gone");
    const { url, pid, folder } = server;
    return { url, pid, folder };
  });
}
