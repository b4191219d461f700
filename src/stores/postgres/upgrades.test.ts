import { execFileSync } from "node:child_process";
import path from "node:path";
import { afterAll, describe } from "vitest";
import { postgresPrograms } from "../../../lab/services/postgres.ts";
import { goesOn, ofEveryVersion, oldStores } from "../../../test/support/old-stores.ts";
import { type PostgresServer, startPostgres } from "../../../test/support/services/postgres.ts";
import { missing } from "../../../test/support/services/service.ts";
import { openPostgresStore } from "./index.ts";
import { MIGRATIONS } from "./schema.ts";

const server = (await startPostgres()) as PostgresServer;
if (!server) missing("PostgreSQL", "it is not installed");
afterAll(() => server?.remove());

const dumps = oldStores("postgres.sql");

describe.skipIf(!server)("a PostgreSQL schema", () => {
  ofEveryVersion(
    dumps.map(([, content]) => /meta VALUES \('schema', '(\d+)'\)/.exec(content.toString("utf8"))?.[1]),
    MIGRATIONS.length,
  );
  for (const [commit, content] of dumps)
    goesOn(commit, async () => {
      const schema = `v_${commit}`;
      const sql = content
        .toString("utf8")
        .replaceAll(/\bold\.|"old"\./g, `${schema}.`)
        .replace("SCHEMA old;", `SCHEMA ${schema};`);
      const psql = path.join(postgresPrograms() ?? "", "psql");
      execFileSync(psql, ["--quiet", "--set=ON_ERROR_STOP=1", server.url], {
        input: sql,
        stdio: ["pipe", "ignore", "inherit"],
      });
      return openPostgresStore({ connectionString: server.url, schema });
    });
});
