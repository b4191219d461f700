import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { StoredRecord } from "../../core/records.ts";
import type { Store } from "../../core/store/contract.ts";
import { createEngine, workflow } from "../../index.ts";
import { accepted, creation, outsideAct, step } from "../../testing/conformance/index.ts";
import { openPostgresStore } from "./index.ts";

const server = await sharedPostgres();
const admin = new pg.Pool({ connectionString: server.url, max: 4 });
const schemas: string[] = [];

const newSchema = (): string => {
  const schema = `records-${process.pid}-${schemas.length}`;
  schemas.push(schema);
  return schema;
};

const open = (schema: string): Promise<Store> =>
  openPostgresStore({ connectionString: server.url as string, schema });

afterAll(async () => {
  if (server.url !== undefined)
    for (const schema of schemas) await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await admin.end();
});

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";

const aRecord = (seq: number, parts: object = {}): StoredRecord => ({
  table: "agent_checkpoints",
  seq,
  row: {
    stock_ticker: "AAPL",
    agent_type: "strategy_analyst",
    analysis_id: ANALYSIS,
    checkpoint_time: "2026-01-02T14:35:22.123Z",
    retry_count: 0,
    ...parts,
  },
});

/** The columns of a table as its owner wrote them. */
async function columnsOf(schema: string, table: string): Promise<string[]> {
  const { rows } = await admin.query(
    `SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') AS said
      FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [`"${schema}".${table}`],
  );
  return rows.map(({ said }) => String(said).replaceAll(`"${schema}".`, ""));
}

async function indexesOf(schema: string, table: string): Promise<string[]> {
  const { rows } = await admin.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1 AND tablename = $2 ORDER BY indexname",
    [schema, table],
  );
  return rows.map(
    ({ indexname, indexdef }) => `${indexname}${String(indexdef).replace(/^.* USING btree/, "")}`,
  );
}

describe.skipIf(server.url === undefined)("the tables of records", () => {
  it("have exactly the columns, types, defaults, indexes and constraints asked for (S0-24, S0-25, S2-11, S2-12)", async () => {
    const schema = newSchema();
    const store = await open(schema);
    await store.identity();
    await store.close();
    const agent = [
      "stock_ticker character varying(10) NOT NULL",
      "agent_type character varying(50) NOT NULL",
      "analysis_id uuid NOT NULL",
      "checkpoint_time timestamp without time zone NOT NULL",
      "progress_pct numeric(5,2)",
      "current_subtask character varying(100)",
      "completed_subtasks text[]",
      "pending_subtasks text[]",
      "working_memory jsonb",
      "interim_results jsonb",
      "agent_config jsonb",
      "failure_reason text",
      "error_details jsonb",
      "retry_count integer DEFAULT 0",
      "agent_version character varying(20)",
      "created_at timestamp without time zone DEFAULT now()",
    ];
    for (const table of ["agent_checkpoints", "agent_checkpoints_archive"]) {
      const [id, ...columns] = await columnsOf(schema, table);
      expect(id).toBe(`id integer NOT NULL DEFAULT nextval('${table}_id_seq'::regclass)`);
      expect(columns).toEqual(agent);
    }
    expect(await indexesOf(schema, "agent_checkpoints")).toEqual([
      "agent_checkpoints_analysis_id_agent_type_checkpoint_time_key (analysis_id, agent_type, checkpoint_time)",
      "agent_checkpoints_pkey (id)",
      "idx_analysis (analysis_id)",
      "idx_stock_agent (stock_ticker, agent_type)",
    ]);
    expect(await columnsOf(schema, "workflow_checkpoints")).toEqual([
      "id text NOT NULL",
      "workflow_id text NOT NULL",
      "timestamp timestamp with time zone DEFAULT now()",
      "layer_index integer NOT NULL",
      "state jsonb NOT NULL",
      "dag_structure jsonb NOT NULL",
      "execution_config jsonb NOT NULL",
    ]);
    expect(await indexesOf(schema, "workflow_checkpoints")).toEqual([
      'idx_checkpoints_workflow (workflow_id, "timestamp" DESC)',
      "workflow_checkpoints_pkey (id)",
    ]);
  });

  it("hold real values in every column, and never disagree with the journal (S0-24)", async () => {
    const schema = newSchema();
    const store = await open(schema);
    const row = {
      stock_ticker: "AAPL",
      agent_type: "financial_analyst",
      analysis_id: ANALYSIS,
      progress_pct: 75,
      current_subtask: "red_flag_detection",
      completed_subtasks: ["10k_parsing", "ratio_calculation", "peer_comparison"],
      pending_subtasks: ["red_flag_detection"],
      working_memory: { note: "nul \0 and half \ud800 of a pair, a \\u0000 that is none, and a whole 🦊" },
      interim_results: { pe: 31.2 },
      agent_config: { model: "large" },
      failure_reason: "429 \0",
      error_details: { status: 429 },
      retry_count: 3,
      agent_version: "1.0",
    };
    const flow = workflow("flow", (ctx) =>
      ctx.checkpoint("peer_comparison", { record: { table: "agent_checkpoints", row } }),
    );
    const engine = createEngine({ store, workflows: [flow] });
    await engine.start(flow, undefined, { id: "a" });
    await engine.result("a");
    const { rows } = await admin.query(`SELECT * FROM "${schema}".agent_checkpoints`);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      ...row,
      id: 1,
      progress_pct: "75.00",
      working_memory: {
        note: "nul \ufffd and half \ufffd of a pair, a \\u0000 that is none, and a whole 🦊",
      },
      failure_reason: "429 \ufffd",
    });
    expect(rows[0].checkpoint_time).toBeInstanceOf(Date);
    expect(rows[0].created_at).toBeInstanceOf(Date);
    await engine.close();
    await store.close();
  });

  it("give each checkpoint of one agent a later time, also when processes write at once (S0-25)", async () => {
    const schema = newSchema();
    const stores = await Promise.all([open(schema), open(schema)]);
    for (const store of stores) await store.identity();
    const many = Array.from({ length: 24 }, (_, i) => i);
    await Promise.all(
      many.map((i) =>
        (stores[i % 2] as Store).append([creation({ run: { id: `run-${i}` }, records: [aRecord(1)] })]),
      ),
    );
    const { rows } = await admin.query(
      `SELECT count(DISTINCT checkpoint_time)::integer AS times FROM "${schema}".agent_checkpoints`,
    );
    expect(rows).toEqual([{ times: many.length }]);
    for (const store of stores) await store.close();
  });

  it("move to the archive in the append that drops them (S0-38)", async () => {
    const schema = newSchema();
    const store = await open(schema);
    await store.identity();
    const row = await accepted(store, creation({ records: [aRecord(1)] }));
    const after = await accepted(
      store,
      step(row, { records: [aRecord(2, { current_subtask: "ma_review" })] }),
    );
    const drop = { entries: [], blobs: [], records: [1, 2], archive: true };
    await accepted(store, outsideAct(after, { drop }));
    const count = async (table: string) =>
      (await admin.query(`SELECT current_subtask FROM "${schema}".${table} ORDER BY checkpoint_time`)).rows;
    expect(await count("agent_checkpoints")).toEqual([]);
    expect(await count("agent_checkpoints_archive")).toEqual([
      { current_subtask: null },
      { current_subtask: "ma_review" },
    ]);
    await store.close();
  });

  it("are refused by name where another program has such a table, which stays as it is", async () => {
    for (const [sql, name] of [
      ["CREATE TABLE s.agent_checkpoints (mine text)", "agent_checkpoints"],
      ["CREATE VIEW s.workflow_checkpoints AS SELECT 1 AS mine", "workflow_checkpoints"],
      ["CREATE TABLE s.other (mine text); CREATE INDEX idx_analysis ON s.other (mine)", "idx_analysis"],
    ] as const) {
      const schema = newSchema();
      await admin.query(`CREATE SCHEMA "${schema}"`);
      await admin.query(sql.replaceAll("s.", `"${schema}".`));
      const opening = open(schema).then((store) => store.identity());
      await expect(opening).rejects.toMatchObject({ code: "HF-3071", detail: { name } });
      const { rows } = await admin.query(
        "SELECT count(*)::integer AS left FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta'",
        [schema],
      );
      expect(rows).toEqual([{ left: 0 }]);
    }
  });
});
