import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { fanIns, inProportion } from "../../../test/support/fan-in.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { openPostgresStore } from "./index.ts";

const { url = "" } = await sharedPostgres();
const schema = `children${process.pid}`;
afterAll(async () => {
  if (url === "") return;
  const admin = new pg.Pool({ connectionString: url });
  await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await admin.end();
});

describe.skipIf(url === "")("many children of one run on PostgreSQL", () => {
  it("ends 200 children, and reads in proportion to their number (E1, E8)", async () => {
    const open = () => openPostgresStore({ connectionString: url, schema });
    expect(await fanIns(open)).toSatisfy(inProportion);
  });
});
