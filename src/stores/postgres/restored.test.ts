import { execFileSync } from "node:child_process";
import path from "node:path";
import { afterAll, describe } from "vitest";
import { postgresPrograms } from "../../../lab/services/postgres.ts";
import { useFolders } from "../../../test/support/folders.ts";
import { regressedStore, restoredBackups, strangeStore } from "../../../test/support/restored.ts";
import { type PostgresServer, startPostgres } from "../../../test/support/services/postgres.ts";
import { missing } from "../../../test/support/services/service.ts";
import { openPostgresStore } from "./index.ts";

const server = (await startPostgres()) as PostgresServer;
if (!server) missing("PostgreSQL", "it is not installed");
afterAll(() => server?.remove());

const newFile = useFolders("postgres-restored");
let count = 0;

function placeOf() {
  const schema = `t${++count}`;
  const program = (name: string, ...args: string[]) =>
    void execFileSync(path.join(postgresPrograms() ?? "", name), args, { stdio: "pipe" });
  return {
    schema,
    program,
    online: true,
    open: () => openPostgresStore({ connectionString: server.url, schema }),
    async backUp() {
      const file = newFile();
      program("pg_dump", "--format=custom", `--schema=${schema}`, `--file=${file}`, server.url);
      return async () =>
        program(
          "pg_restore",
          "--clean",
          "--if-exists",
          "--single-transaction",
          `--dbname=${server.url}`,
          file,
        );
    },
  };
}

describe.skipIf(!server)("on a server", () => {
  restoredBackups("PostgreSQL", placeOf);
  regressedStore("PostgreSQL", () => {
    const { open, backUp } = placeOf();
    return { open, disturb: backUp };
  });
  strangeStore("PostgreSQL", () => {
    const { open, schema, program } = placeOf();
    const replace = async () => {
      program("psql", "--quiet", "--command", `DROP SCHEMA ${schema} CASCADE`, server.url);
      await (await open()).close();
    };
    return { open, replace };
  });
});
