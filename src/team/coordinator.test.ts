import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../test/support/lab.ts";
import { servedBy } from "../core/worker/registry.ts";
import type { Workflow } from "../index.ts";
import {
  type Agent,
  type AgentMigration,
  Coordinator,
  defineAgent,
  defineTeam,
  type SubtaskCall,
} from "./index.ts";

const ID = "550e8400-e29b-41d4-a716-446655440000";
const asWorkflow = (team: unknown) => team as Workflow<never, unknown>;

interface More {
  readonly version?: string;
  readonly migrations?: readonly AgentMigration[];
}

const agent = (
  type: string,
  names: readonly string[],
  run: (call: SubtaskCall, name: string) => unknown,
  { version = "1.0", migrations = [] }: More = {},
): Agent =>
  defineAgent({
    type,
    version,
    migrations,
    subtasks: names.map((name) => ({
      name,
      deliverable: "table",
      target: "PostgreSQL",
      retry: false as const,
      run: (call: SubtaskCall) => run(call, name),
    })),
  });

describe("a coordinator", () => {
  it.each([1, 3])(
    "restores agents that failed at the same time by analysis and type, %i at a time (S0-11, S0-42, S0-51)",
    async (concurrency) => {
      const calls: string[] = [];
      const down = new Set(["a", "b", "c"]);
      const work = ({ agent: { type } }: SubtaskCall, name: string): unknown => {
        calls.push(`${type} ${name}`);
        if (name === "second" && down.has(type)) throw new Error("down");
        return { name };
      };
      const team = defineTeam({
        name: "team",
        agents: ["a", "b", "c", "d"].map((type) => agent(type, ["first", "second"], work)),
      });
      const lab = createLab();
      const engine = lab.engine([asWorkflow(team)]);
      const coordinator = new Coordinator(engine, team);
      await lab.drive(coordinator.start(ID, { stock_ticker: "AAPL" }));
      await lab.drive(engine.settled(ID));
      expect(await coordinator.agents(ID)).toMatchObject([
        { agent_type: "a", status: "failed", progress: { text: "1 of 2 subtasks", percent: 50 } },
        { agent_type: "b", status: "failed" },
        { agent_type: "c", status: "failed", error: expect.stringContaining("stopped at second") as string },
        { agent_type: "d", status: "completed", progress: { text: "2 of 2 subtasks", percent: 100 } },
      ]);
      down.clear();
      expect(await lab.drive(coordinator.restoreAll(ID, { concurrency }))).toEqual(["a", "b", "c"]);
      expect(await lab.drive(engine.result(ID))).toMatchObject({ progress: { text: "8 of 8 subtasks" } });
      expect(calls.filter((call) => call.endsWith("first"))).toHaveLength(4);
    },
  );

  it("restores one agent and leaves the others alone (S0-29, S0-51)", async () => {
    const down = new Set(["a", "b"]);
    const work = ({ agent: { type } }: SubtaskCall): unknown => {
      if (down.has(type)) throw new Error("down");
      return { type };
    };
    const team = defineTeam({ name: "team", agents: [agent("a", ["x"], work), agent("b", ["x"], work)] });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    const coordinator = new Coordinator(engine, team);
    await lab.drive(coordinator.start(ID, { stock_ticker: "AAPL" }));
    await lab.drive(engine.settled(ID));
    down.clear();
    const { id } = await lab.drive(coordinator.restore(ID, "a"));
    await lab.drive(engine.result(id));
    expect((await coordinator.agents(ID)).map(({ status }) => status)).toEqual(["completed", "failed"]);
    expect(await coordinator.restore(ID, "a")).toMatchObject({ status: "completed" });
    await lab.drive(engine.resume(ID));
    expect(await lab.drive(engine.result(ID))).toMatchObject({ status: "completed", failed: {} });
  });

  it("refuses to restore an agent that another process works on, or that it does not know", async () => {
    const team = defineTeam({ name: "team", agents: [agent("a", ["x"], hangs)] });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)], { owner: "desk 7" });
    await lab.drive(new Coordinator(engine, team).start(ID, { stock_ticker: "AAPL" }));
    await lab.clock.advance(1_000);
    const other = new Coordinator(lab.engine([asWorkflow(team)], { execute: false }), team);
    await expect(other.restore(ID, "a")).rejects.toThrow(
      expect.objectContaining({ code: "HF-4528", detail: expect.objectContaining({ owner: "desk 7" }) }),
    );
    await expect(other.restore(ID, "nobody")).rejects.toMatchObject({ code: "HF-4523" });
    const unknown = "650e8400-e29b-41d4-a716-446655440000";
    await expect(other.restore(unknown, "a")).rejects.toMatchObject({ code: "HF-4527" });
    expect(() => other.start("AAPL-1", { stock_ticker: "AAPL" })).toThrow(
      expect.objectContaining({ code: "HF-4526" }),
    );
  });
});

describe("a new version of an agent", () => {
  /** Runs an agent until its second subtask fails, then resumes it with other code. */
  async function changed(before: Agent, after: Agent) {
    const lab = createLab();
    const old = defineTeam({ name: "team", agents: [before] });
    const engine = lab.engine([asWorkflow(old)]);
    await lab.drive(engine.start(old, { stock_ticker: "AAPL" }, { id: ID }));
    await lab.drive(engine.settled(ID));
    await lab.drive(engine.close());
    const team = defineTeam({ name: "team", agents: [after] });
    const next = lab.engine([asWorkflow(team)]);
    await lab.drive(next.resume(ID));
    return { lab, engine: next, run: await lab.drive(next.settled(ID)), team };
  }

  const failing = (_: SubtaskCall, name: string): unknown => {
    if (name === "second") throw new Error("down");
    return { name };
  };

  it("migrates an old checkpoint with a function of checkpoints (S0-35, S0-36, S0-44)", async () => {
    const migrate_v1_0_to_v1_1: AgentMigration = {
      from: "1.0",
      to: "1.1",
      rename: { second: "review" },
      checkpoint: (checkpoint) => ({
        ...checkpoint,
        working_memory: { ...checkpoint.working_memory, seen: true },
        subtask_progress: Object.fromEntries(checkpoint.completed_subtasks.map((task) => [task, 1])),
      }),
    };
    const seen: unknown[] = [];
    const after = agent(
      "a",
      ["first", "review"],
      ({ memory, results }) => {
        seen.push(memory.dump(), results);
        return "done";
      },
      { version: "1.1", migrations: [migrate_v1_0_to_v1_1] },
    );
    const { lab, run, engine } = await changed(agent("a", ["first", "second"], failing), after);
    expect(run.error ?? "").toBe("");
    expect(run.status).toBe("completed");
    expect(seen).toEqual([{ seen: true }, { first: { name: "first" } }]);
    const { run: child } = await new Coordinator(engine, defineTeam({ name: "team", agents: [after] })).agent(
      ID,
      "a",
    );
    const rows = await lab.store.records?.(child);
    expect(rows?.at(-1)?.row).toMatchObject({
      agent_version: "1.1",
      completed_subtasks: ["first", "review"],
      working_memory: { seen: true },
      interim_results: { subtask_progress: { first: 1 } },
    });
  });

  it.each<[string, More]>([
    ["the same version", {}],
    ["a migration that says nothing about it", { version: "1.1", migrations: [{ from: "1.0", to: "1.1" }] }],
  ])("waits when the list of subtasks has changed with %s, and loses nothing (S0-35)", async (_, more) => {
    const calls: string[] = [];
    const work = (_call: SubtaskCall, name: string) => (calls.push(name), { name });
    const { lab, engine } = await changed(
      agent("a", ["first", "second", "third"], failing),
      agent("a", ["first", "third"], work, more),
    );
    const [child] = (await engine.list({ parent: ID })).runs;
    const detail = expect.stringContaining(
      "subtasks of agent a have changed since this run began: second removed",
    );
    expect(child).toMatchObject({ status: "waiting", waiting: [{ kind: "migration", detail }] });
    await lab.drive(engine.close());
    const back = defineTeam({ name: "team", agents: [agent("a", ["first", "second", "third"], work, more)] });
    const next = lab.engine([asWorkflow(back)]);
    await lab.drive(next.resume(child?.id ?? ""));
    expect(await lab.drive(next.result(ID))).toMatchObject({ progress: { text: "3 of 3 subtasks" } });
    expect(calls).toEqual(["second", "third"]);
  });
});

describe("a definition that makes no sense is refused", () => {
  const one = agent("a", ["x"], () => 1);
  const subtask = { name: "x", deliverable: "d", target: "t", run: () => 1 };
  const specialists = [one];

  it.each([
    ["a duplicate subtask", () => agent("a", ["x", "x"], () => 1), "HF-4520", "subtask x is there twice"],
    ["no subtask", () => agent("a", [], () => 1), "HF-4520", "at least one subtask"],
    [
      "a subtask without a target",
      () => defineAgent({ type: "a", version: "1", subtasks: [{ ...subtask, target: "" }] }),
      "HF-4520",
      "target of subtask x",
    ],
    ["a type that no column holds", () => agent("a".repeat(51), ["x"], () => 1), "HF-4520", "50 characters"],
    [
      "a duplicate agent",
      () => defineTeam({ name: "t", agents: [one, one] }),
      "HF-4521",
      "agent a is there twice",
    ],
    ["no agents", () => defineTeam({ name: "t", agents: [] }), "HF-4521", "at least one agent"],
    [
      "an unknown agent in a stage",
      () => defineTeam({ name: "t", agents: [one], stages: [{ name: "s", agents: ["b"] }] }),
      "HF-4523",
      "no agent of type b",
    ],
    [
      "a stage without a name",
      () => defineTeam({ name: "t", agents: [one], stages: [{ agents: ["a"] } as never] }),
      "HF-4521",
      "its stage 1 has no name",
    ],
    [
      "an agent in no stage",
      () =>
        defineTeam({
          name: "t",
          agents: [one, agent("b", ["x"], () => 1)],
          stages: [{ name: "s", agents: ["a"] }],
        }),
      "HF-4521",
      "b is in no stage",
    ],
    [
      "a need that comes later",
      () =>
        defineTeam({
          name: "t",
          agents: [defineAgent({ type: "n", version: "1", needs: ["a"], subtasks: [subtask] }), one],
        }),
      "HF-4521",
      "not in an earlier stage",
    ],
    ["no phases", () => defineTeam({ name: "t", phases: [] }), "HF-4521", "at least one phase"],
    [
      "a phase without specialists",
      () => defineTeam({ name: "t", phases: [{ name: "p", specialists: [] }] }),
      "HF-4521",
      "has no specialists",
    ],
    [
      "a duplicate specialist",
      () => defineTeam({ name: "t", phases: [{ name: "p", specialists: [one, one] }] }),
      "HF-4521",
      "two agents called a",
    ],
    [
      "a threshold out of range",
      () => defineTeam({ name: "t", confidenceThreshold: 1.2, phases: [{ name: "p", specialists }] }),
      "HF-4529",
      "1.2",
    ],
    [
      "an unknown trigger",
      () =>
        defineTeam({
          name: "t",
          triggers: { phase_done: false } as never,
          phases: [{ name: "p", specialists }],
        }),
      "HF-1003",
      "phase_done",
    ],
    [
      "an unknown key of a configuration block",
      () =>
        defineTeam({
          name: "t",
          phases: [{ name: "p", specialists }],
          checkpoint_config: { retention: 3 } as never,
        }),
      "HF-1003",
      "checkpoint_config.retention",
    ],
  ] as const)("%s", (_, define, code, text) => {
    expect(define).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(text) as string }),
    );
  });

  it.each([Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY])("a confidence of %s", async (confidence) => {
    const team = defineTeam({
      name: "team",
      agents: [agent("a", ["x"], ({ report }) => (report({ confidence }), 1))],
    });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
    expect((await lab.drive(engine.settled(ID))).error).toContain(
      `The confidence of a is not valid: ${confidence}`,
    );
  });

  it("a subtask without a deliverable, which makes no checkpoint (S0-12)", async () => {
    const team = defineTeam({ name: "team", agents: [agent("a", ["x"], () => undefined)] });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
    const { error } = await lab.drive(engine.settled(ID));
    expect(error).toContain("Subtask x of agent a did not produce a complete table");
    const { run } = await new Coordinator(engine, team).agent(ID, "a");
    const rows = (await lab.store.records?.(run)) ?? [];
    expect(rows.map(({ row }) => [row["completed_subtasks"], row["failure_reason"] !== null])).toEqual([
      [[], true],
    ]);
  });

  it.each([
    [{}, "stock_ticker: It must be a text of at least one character."],
    [{ stock_ticker: "FAR-TOO-LONG-A-TICKER" }, "stock_ticker: It may have 10 characters, and has 21."],
    [{ stock_ticker: "AAPL", analysis_id: "seven" }, "analysis_id: It must be a UUID."],
    [null, "it must be an object with a stock_ticker"],
  ])("an analysis of %o, and its id stays free", async (input, problem) => {
    const team = defineTeam({ name: "team", agents: [one] });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    const refused = lab.drive(engine.start(asWorkflow(team), input as never, { id: ID }));
    await expect(refused).rejects.toThrow(expect.objectContaining({ code: "HF-1042" }));
    await expect(refused).rejects.toThrow(problem);
    await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
    expect((await lab.drive(engine.result(ID))) as object).toMatchObject({ status: "completed" });
  });

  it("an analysis that was started by its team's name alone, where the code isn't", async () => {
    const team = asWorkflow(defineTeam({ name: "team", agents: [one] }));
    const lab = createLab();
    const worker = lab.engine([team]);
    const server = lab.engine([], { execute: false });
    const there = {
      owner: "w",
      host: "box",
      pid: 7,
      concurrency: 10,
      running: 0,
      isStopping: false,
      since: 0,
    };
    await server.workers.beat({ ...there, workflows: [servedBy(team)] });
    const start = (stock_ticker: string, id: string) =>
      lab.drive(server.startNamed("team", { stock_ticker }, { id }));
    await start("AAPL", ID);
    await start("FAR-TOO-LONG-A-TICKER", "other");
    await worker.work();
    expect(await lab.drive(worker.result(ID))).toMatchObject({ status: "completed" });
    await expect(lab.drive(worker.result("other"))).rejects.toThrow("stock_ticker: It may have 10");
  });
});
