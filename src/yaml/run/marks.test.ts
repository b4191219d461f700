import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedProvider } from "../../agent/index.ts";
import { createEngine } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { chooseDriver } from "../../stores/sqlite/driver.ts";
import { openSqliteStore, SQLiteCheckpointStore } from "../../stores/sqlite/index.ts";
import { checkWorkflow, loadWorkflow } from "../index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-marks-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const FLOW = (checkpoint: string, more = ""): string => `
workflow:
  name: long-analysis
  entry_point: gather
  runtime: { provider: main }
  input: { question: { type: string } }
  checkpoint: ${checkpoint}
agents:
  - { name: gather, type: set, value: facts, checkpoint: true, routes: [{ to: both }] }
  - { name: left, type: set, value: l${more} }
  - { name: right, type: set, value: r }
  - { name: sum, prompt: "Sum {{ gather.output }}", checkpoint: summed up, retry: { max_attempts: 1 } }
parallel:
  - { name: both, agents: [left, right], checkpoint: compared, routes: [{ to: sum }] }
output: { answer: "{{ sum.output.result }}" }
`;

const load = (file: string, replies: object[] = [{ text: "42" }]) =>
  loadWorkflow(file, { providers: { main: scriptedProvider({ agents: { sum: replies } }) } });

describe("checkpoint points of a workflow file", () => {
  it("are marked when their agent or group ends, and can be gone back to (S3-04)", async () => {
    const { workflow, parseInputs } = await load(write("points.yaml", FLOW("{}")));
    const engine = createEngine({ store: createMemoryStore(), workflows: [workflow] });
    await engine.start(workflow, parseInputs({ question: "?" }), { id: "r" });
    await engine.result("r");
    const marks = (await engine.checkpoints.list("r")).filter(({ kind }) => kind === "checkpoint_marked");
    expect(marks.map(({ labels }) => labels)).toEqual([["summed up"], ["compared"], ["gather"]]);
    const fork = await engine.fork("r@compared", { id: "f" });
    expect(await engine.result(fork.id)).toEqual({ answer: 42 });
    await engine.close();
  });

  it("are refused as numbers, and warned about where they would never be reached (S3-04)", async () => {
    const bad = write("bad.yaml", FLOW("{}").replace("checkpoint: compared", 'checkpoint: "12"'));
    expect((await checkWorkflow(bad)).problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("must be a label"),
    ]);
    const warned = write("warned.yaml", FLOW("{}", ", checkpoint: true"));
    expect((await checkWorkflow(warned)).problems).toEqual([
      expect.objectContaining({
        severity: "warning",
        message: expect.stringContaining("give the group one"),
      }),
    ]);
  });
});

describe("the table checkpoints", () => {
  const query = async (file: string, sql: string): Promise<Readonly<Record<string, unknown>>[]> => {
    const db = (await chooseDriver("auto")).connect(file);
    const found = db.query(sql, []);
    db.close();
    return found;
  };
  const rows = (file: string) => query(file, "SELECT * FROM checkpoints");

  it("shows a run as it stands: done, under way, outputs and context (S3-06, S3-22, S3-25)", async () => {
    const file = join(folder, "runs.db");
    const { workflow, parseInputs } = await load(write("rows.yaml", FLOW("{ table: true }")), [
      { error: { status: 400, message: "rate limit" } },
      { text: "42" },
    ]);
    const store = await openSqliteStore({ file });
    const engine = createEngine({ store, workflows: [workflow] });
    await engine.start(workflow, parseInputs({ question: "?" }), { id: "r" });
    await expect(engine.result("r")).rejects.toThrow("rate limit");
    const [failed = {}, ...others] = await rows(file);
    expect(others).toEqual([]);
    expect(failed).toMatchObject({
      id: "r",
      workflow_name: "long-analysis",
      current_agent: "sum",
      in_progress: "sum",
      iteration: 3,
    });
    expect(Object.keys(failed)).toEqual([
      "id",
      "workflow_name",
      "workflow_inputs",
      "current_agent",
      "in_progress",
      "completed_agents",
      "agent_outputs",
      "context_snapshot",
      "iteration",
      "created_at",
      "updated_at",
    ]);
    const json = (key: string): unknown => JSON.parse(String(failed[key]));
    expect(json("workflow_inputs")).toEqual({ question: "?" });
    expect(json("completed_agents")).toEqual(["gather", "both"]);
    expect(json("agent_outputs")).toMatchObject({ gather: "facts" });
    expect(json("context_snapshot")).toMatchObject({ workflow: { input: { question: "?" } } });
    await engine.resume("r");
    expect(await engine.result("r")).toEqual({ answer: 42 });
    const [done = {}] = await rows(file);
    expect(done).toMatchObject({ current_agent: "sum", in_progress: null, created_at: failed["created_at"] });
    expect(String(done["updated_at"]) > String(failed["updated_at"])).toBe(true);
    await engine.close();
    await store.close();
  });

  it("has the columns and indexes that the document defines (S3-25)", async () => {
    const file = join(folder, "empty.db");
    await (await openSqliteStore({ file })).close();
    const columns = await query(
      file,
      "SELECT name, type, [notnull] AS needed, pk FROM pragma_table_info('checkpoints')",
    );
    expect(columns.map((one) => [one["name"], one["type"], one["needed"], one["pk"]])).toEqual([
      ["id", "TEXT", 0, 1],
      ["workflow_name", "TEXT", 1, 0],
      ["workflow_inputs", "TEXT", 1, 0],
      ["current_agent", "TEXT", 1, 0],
      ["in_progress", "TEXT", 0, 0],
      ["completed_agents", "TEXT", 1, 0],
      ["agent_outputs", "TEXT", 1, 0],
      ["context_snapshot", "TEXT", 1, 0],
      ["iteration", "INTEGER", 1, 0],
      ["created_at", "TEXT", 1, 0],
      ["updated_at", "TEXT", 1, 0],
    ]);
    const indexes = await query(file, "SELECT name FROM pragma_index_list('checkpoints')");
    expect(indexes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["idx_workflow_name", "idx_updated_at"]),
    );
  });

  it("is read by SQLiteCheckpointStore under the names of the document (S3-22, S3-23)", async () => {
    const checkpoints = new SQLiteCheckpointStore(join(folder, "runs.db"));
    const [found, ...others] = await checkpoints.listCheckpoints("long-analysis");
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      checkpoint_id: "r",
      workflow_name: "long-analysis",
      workflow_inputs: { question: "?" },
      current_agent: "sum",
      in_progress: null,
      completed_agents: ["gather", "both", "sum"],
      agent_outputs: { gather: "facts", sum: { result: "42" } },
      context_snapshot: { context: { history: ["gather", "both", "sum"] } },
      iteration: 4,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await checkpoints.load("r")).toEqual(found);
    await checkpoints.close();
  });
});

describe("SQLiteCheckpointStore", () => {
  const data = (id: string, more: object = {}) => ({
    checkpoint_id: id,
    workflow_name: "own",
    workflow_inputs: { a: 1 },
    current_agent: "x",
    in_progress: "x",
    completed_agents: ["w"],
    agent_outputs: { w: [1, 2] },
    context_snapshot: {},
    iteration: 1,
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-02T00:00:00.000Z",
    ...more,
  });

  it("saves, loads, lists, deletes and prunes checkpoints (S3-23)", async () => {
    const checkpoints = new SQLiteCheckpointStore(join(folder, "own", "own.db"));
    expect(await checkpoints.load("c1")).toBeNull();
    await checkpoints.save(data("c1"));
    expect(await checkpoints.load("c1")).toEqual(data("c1"));
    await checkpoints.save(data("c1", { in_progress: null, completed_agents: ["w", "x"] }));
    expect((await checkpoints.load("c1"))?.completed_agents).toEqual(["w", "x"]);
    const now = new Date().toISOString();
    for (const id of ["n1", "n2", "n3"]) await checkpoints.save(data(id, { updated_at: now }));
    await checkpoints.save(data("other", { workflow_name: "second", updated_at: now }));
    const ids = async (name?: string) =>
      (await checkpoints.listCheckpoints(name)).map(({ checkpoint_id }) => checkpoint_id);
    expect(await ids("second")).toEqual(["other"]);
    // The first is too old, and of three one is too many.
    expect(await checkpoints.prune(7, 2)).toBe(2);
    expect((await ids()).sort()).toEqual(["n2", "n3", "other"]);
    await checkpoints.delete("n2");
    await checkpoints.delete("never");
    expect(await ids("own")).toEqual(["n3"]);
    const time = new Date(1_800_000_000_000);
    await checkpoints.save(data("dated", { workflow_name: "dates", created_at: time, updated_at: time }));
    const text = time.toISOString();
    expect(await checkpoints.load("dated")).toMatchObject({ created_at: text, updated_at: text });
    const never = checkpoints.save(data("never", { created_at: new Date(Number.NaN) }));
    await expect(never).rejects.toMatchObject({ code: "HF-3070" });
    await checkpoints.close();
    const again = new SQLiteCheckpointStore(join(folder, "own", "own.db"));
    expect(await again.load("n3")).toMatchObject({ workflow_name: "own" });
    await again.close();
  });

  it("refuses what is no checkpoint, and a file of another program", async () => {
    const checkpoints = new SQLiteCheckpointStore(join(folder, "own", "own.db"));
    await expect(checkpoints.save(data("c", { iteration: -1 }))).rejects.toMatchObject({ code: "HF-3070" });
    await expect(checkpoints.prune(-1, 1)).rejects.toMatchObject({ code: "HF-1003" });
    await checkpoints.close();
    const foreign = new SQLiteCheckpointStore(
      write("foreign.db", "not a database, but long enough to look at"),
    );
    await expect(foreign.listCheckpoints()).rejects.toMatchObject({ code: expect.stringMatching(/^HF-300/) });
  });
});
