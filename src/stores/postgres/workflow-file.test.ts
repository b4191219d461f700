import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";

const FLOW = `
workflow:
  name: long-analysis
  entry_point: first
  checkpoint: { enabled: true, storage: postgres, path: "\${PG}" }
agents:
  - { name: first, type: set, value: one, routes: [{ to: decide }] }
  - name: decide
    type: human_gate
    prompt: Go on?
    options: [{ label: "Yes", value: go, route: last }]
  - { name: last, type: set, value: done }
output: { answer: "{{ last.output }}" }
`;

const { url } = await sharedPostgres();
const database = `workflow_file_${process.pid}`;
const folder = cliFolder();
const admin = new pg.Client({ connectionString: url });
if (url !== undefined) {
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database}`);
}
afterAll(async () => {
  folder.remove();
  if (url === undefined) return;
  await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  await admin.end();
});

it.skipIf(url === undefined)(
  "a workflow file that says postgres runs there, and later commands find it there without being told (S3-09, S3-31)",
  async () => {
    folder.write("long.yaml", FLOW);
    const at = Object.assign(new URL(url ?? ""), { pathname: database }).href;
    expect((await folder.run("run long.yaml --id r", { env: { PG: at } })).code).toBe(75);
    // An address with a password in it isn't written down.
    const place = new URL(at).password === "" ? [] : ["--store", at];
    const later = (words: readonly string[]) => folder.run([...words, ...place], { env: { PG: at } });
    expect((await later(["checkpoints", "list", "r"])).stdout).toContain("first");
    expect((await later(["gate", "answer", "r:decide", "--choice", "go"])).code).toBe(0);
    const { code, stdout } = await later(["resume", "long-analysis"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('"answer": "done"')]);
  },
);
