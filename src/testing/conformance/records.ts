import assert from "node:assert/strict";
import type { StoredRecord } from "../../core/records.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, outsideAct, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";
const AT = "2026-01-02T14:35:22.123Z";

/** A record for the event at `seq` in the first table that the store has; `null` when it has none. */
function aRecord(
  store: Store,
  seq: number,
  parts: Readonly<Record<string, unknown>> = {},
): StoredRecord | null {
  const [table] = store.capabilities.records ?? [];
  switch (table) {
    case "agent_checkpoints":
      return { table, seq, row: { ...AGENT, ...parts } };
    case "workflow_checkpoints":
      return { table, seq, row: { ...WORKFLOW, id: `c${seq}`, ...parts } };
    case "phase_checkpoints":
      return { table, seq, row: { ...PHASE, ...parts } };
    default:
      return null;
  }
}

const AGENT = {
  stock_ticker: "AAPL",
  agent_type: "valuation_agent",
  analysis_id: ANALYSIS,
  checkpoint_time: AT,
  progress_pct: 33.33,
  current_subtask: "wacc_calculation",
  completed_subtasks: ["dcf_assumptions", 'odd "name", with {all} \\ of it'],
  pending_subtasks: [],
  working_memory: { text: "a\u0001 🦊 ' \" \\", list: [1, null, { deep: true }] },
  interim_results: [1.5, "two"],
  agent_config: null,
  failure_reason: "It's late:\n429",
  error_details: { status: 429 },
  retry_count: 2,
  agent_version: "1.0",
};

const WORKFLOW = {
  id: "c1",
  workflow_id: "w1",
  timestamp: AT,
  layer_index: 2,
  state: { tasks: [] },
  dag_structure: { tasks: ["a"] },
  execution_config: {},
};

const PHASE = {
  version: "1.0",
  checkpoint_id: ANALYSIS,
  workflow_id: "task_20240102_143022",
  timestamp: AT,
  phase: 2,
  status: "in_progress",
  trigger: null,
  resumable: null,
  agents: { atlas: { status: "active", confidence: 0.92 } },
  decisions: [],
  outputs: null,
  metrics: { api_calls: 42 },
  confidence: null,
  state: null,
  error: null,
};

const kept = async (store: Store, id = "run-1"): Promise<readonly StoredRecord[]> =>
  (await store.records?.(id)) ?? [];

const seqsOf = async (store: Store, id = "run-1"): Promise<number[]> =>
  (await kept(store, id)).map(({ seq }) => seq);

const timesOf = async (store: Store): Promise<string[]> =>
  (await kept(store)).map(({ row }) => String(row["checkpoint_time"] ?? row["timestamp"]));

export const records: Behaviour = {
  name: "records",
  cases: {
    "are written with the append that carries them, value for value": async ({ store }) => {
      const record = aRecord(store, 1);
      if (!record) return;
      await accepted(store, creation({ records: [record] }));
      const [found, ...others] = await kept(store);
      assert.deepEqual(others, []);
      const column = record.table === "agent_checkpoints" ? "checkpoint_time" : "timestamp";
      assert.equal(Date.parse(String(found?.row[column])), Date.parse(AT));
      assert.deepEqual({ ...found, row: { ...found?.row, [column]: AT } }, record);
    },

    "are not written with a refused append": async ({ store }) => {
      const record = aRecord(store, 1);
      if (!record) return;
      const row = await accepted(store, creation());
      await refused(store, creation({ records: [record] }), "exists");
      await refused(
        store,
        outsideAct(row, { expect: { seq: 9 }, records: [{ ...record, seq: 10 }] }),
        "conflict",
      );
      await refused(
        store,
        step(row, { expect: { token: "stolen" }, records: [{ ...record, seq: 2 }] }),
        "fenced",
      );
      assert.deepEqual(await kept(store), []);
    },

    "belong to one run, and go when it drops them": async ({ store }) => {
      const first = aRecord(store, 1);
      const second = aRecord(store, 2);
      if (!first || !second) return;
      const row = await accepted(store, creation({ records: [first] }));
      const other = aRecord(store, 1, first.table === "workflow_checkpoints" ? { id: "other" } : {});
      await accepted(store, creation({ run: { id: "run-2" }, records: other ? [other] : [] }));
      const after = await accepted(store, step(row, { records: [second] }));
      assert.deepEqual(await seqsOf(store), [1, 2]);
      const drop = { entries: [], blobs: [], records: [1, 7] };
      const rest = await accepted(store, outsideAct(after, { drop }));
      assert.deepEqual(await seqsOf(store), [2]);
      assert.deepEqual(await seqsOf(store, "run-2"), [1]);
      await accepted(store, outsideAct(rest, { drop: { ...drop, records: [2], archive: true } }));
      assert.deepEqual(await kept(store), []);
    },

    "go when their run is erased": async ({ store }) => {
      const record = aRecord(store, 1);
      if (!record) return;
      const row = await accepted(store, creation({ records: [record] }));
      const erase = { ...outsideAct(row, { claim: { kind: "erase" }, entries: [] }), head: "" };
      assert.deepEqual(await store.append([erase]), [{ ok: true }]);
      assert.deepEqual(await kept(store), []);
      await accepted(store, creation());
      assert.deepEqual(await kept(store), []);
    },

    "of one agent or workflow have times that rise, also in one batch": async ({ store }) => {
      const record = aRecord(store, 1);
      if (!record) return;
      const row = await accepted(store, creation({ records: [record] }));
      const second = aRecord(store, 2) as StoredRecord;
      const after = await accepted(store, step(row, { records: [second] }));
      const [third, fourth] = [aRecord(store, 3), aRecord(store, 4)] as StoredRecord[];
      const entries = [3, 4].map((seq) => ({ seq, count: 1, head: `{"seq":${seq}}`, data: null }));
      await accepted(
        store,
        step(after, { entries, records: [third as StoredRecord, fourth as StoredRecord] }),
      );
      const times = await timesOf(store);
      assert.equal(times.length, 4);
      if (record.table !== "phase_checkpoints") assert.deepEqual([...new Set(times)].sort(), times);
    },
  },
};
