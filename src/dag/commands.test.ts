import { describe, expect, it } from "vitest";
import { dagOf, RESEARCH, stage, task } from "../../test/support/dag-stage.ts";
import { signalled } from "../../test/support/lab.ts";
import { createMemoryStore } from "../stores/memory.ts";
import type { DAGTools } from "./tools.ts";
import type { DAGCommand } from "./types.ts";

/** A workflow whose second layer waits until the test says so. */
function held() {
  const [reached, go] = [signalled(), signalled()];
  const calls: string[] = [];
  const tools: DAGTools = {
    work: async (_, { taskId, context, update }) => {
      calls.push(taskId);
      update({ messages: [taskId], context: { [taskId]: Object.keys(context).length } });
      if (taskId === "search") {
        reached.resolve();
        await go.promise;
      }
      return taskId;
    },
  };
  return { ...stage({ store: createMemoryStore(), tools }), calls, reached: reached.promise, go: go.resolve };
}

describe("commands for a workflow that is running", () => {
  it("add, change and skip tasks, inject context and replan, between two layers", async () => {
    const { executor, calls, reached, go, events } = held();
    const { id } = await executor.start(RESEARCH);
    await reached;
    const commands: DAGCommand[] = [
      { type: "add_task", task: task("translation", "write") },
      { type: "change_task", taskId: "translation", change: { arguments: { to: "de" } } },
      { type: "skip_task", taskId: "translation" },
      { type: "add_task", task: task("translate", "write") },
      { type: "change_task", taskId: "publish", change: { dependsOn: ["translate"] } },
      { type: "inject_context", context: { language: "de" } },
      { type: "add_messages", messages: ["by command"] },
    ];
    for (const command of commands) await executor.enqueueCommand(command, { actor: "ada" });
    await executor.engine.inject(id, { note: "for everyone" });
    await executor.engine.inject(id, "a word");
    go();
    const { state } = await executor.result(id);
    expect(calls).toEqual(["plan", "search", "read", "write", "translate", "publish"]);
    expect(state.context).toMatchObject({ language: "de", note: "for everyone", plan: 0, publish: 7 });
    expect(state.messages).toEqual([
      "plan",
      "search",
      "read",
      "by command",
      "a word",
      "write",
      "translate",
      "publish",
    ]);
    expect(state.decisions.map(({ type, layer_index }) => `${type} ${layer_index}`)).toEqual(
      Array(9).fill("command 2"),
    );
    expect(events.filter(({ type }) => type === "command_applied")).toHaveLength(9);
    await executor.close();
  });

  it("are not lost when they arrive during the last layer", async () => {
    const { executor, calls, reached, go } = held();
    const { id } = await executor.start(dagOf(task("search")));
    await reached;
    await executor.enqueueCommand({ type: "add_task", task: task("after", "search") });
    go();
    expect((await executor.result(id)).layers).toBe(2);
    expect(calls).toEqual(["search", "after"]);
    await executor.close();
  });

  it("place a task that depends on a later layer after it", async () => {
    const { executor, calls, reached, go } = held();
    const { id } = await executor.start(RESEARCH);
    await reached;
    await executor.enqueueCommand({ type: "add_task", task: task("archive", "publish", "plan") });
    go();
    expect((await executor.result(id)).layers).toBe(5);
    expect(calls.at(-1)).toBe("archive");
    await executor.close();
  });

  it("skip what depends on a task with cascade, and abort between two layers", async () => {
    const { executor, calls, reached, go } = held();
    const { id } = await executor.start(RESEARCH);
    await reached;
    await executor.enqueueCommand({ type: "skip_task", taskId: "write", cascade: true });
    await executor.enqueueCommand({ type: "add_task", task: task("extra", "search") });
    go();
    const { skipped, state } = await executor.result(id);
    expect(skipped.map(({ taskId }) => taskId)).toEqual(["write", "publish"]);
    expect([calls.at(-1), state.tasks.length]).toEqual(["extra", 4]);
    const other = held();
    const run = await other.executor.start(RESEARCH);
    await other.reached;
    await other.executor.enqueueCommand({ type: "abort", reason: "enough" });
    other.go();
    const aborted = await other.executor.result(run.id);
    expect([aborted.status, aborted.layers, other.calls]).toEqual(["aborted", 2, ["plan", "search", "read"]]);
    expect(aborted.skipped.map(({ taskId }) => taskId)).toEqual(["write", "publish"]);
    expect(other.events.map(({ type }) => type)).toContain("workflow_aborted");
    await executor.close();
    await other.executor.close();
  });

  it("are refused at once when something is wrong with them, and the workflow goes on", async () => {
    const { executor, calls, reached, go } = held();
    await expect(executor.enqueueCommand({ type: "abort" })).rejects.toMatchObject({ code: "HF-1003" });
    const { id } = await executor.start(RESEARCH);
    await reached;
    const wrong: [unknown, string][] = [
      ["stop", "HF-4557"],
      [{ type: "stop" }, "HF-4557"],
      [{ type: "abort", now: true }, "HF-4557"],
      [{ type: "skip_task" }, "HF-4557"],
      [{ type: "skip_task", taskId: "plan" }, "HF-4558"],
      [{ type: "change_task", taskId: "plan", change: { tool: "work" } }, "HF-4558"],
      [{ type: "confirm_task", taskId: "write" }, "HF-4558"],
      [{ type: "skip_task", taskId: "wriet" }, "HF-4559"],
      [{ type: "add_task", task: task("plan") }, "HF-4551"],
      [{ type: "add_task", task: { ...task("x"), tool: "none" } }, "HF-4555"],
      [{ type: "add_task", task: { id: "x" } }, "HF-4550"],
      [{ type: "change_task", taskId: "write", change: { id: "x" } }, "HF-4550"],
      [{ type: "replan_dag", dag: dagOf(task("a", "b"), task("b", "a")) }, "HF-4554"],
    ];
    for (const [command, code] of wrong)
      await expect(
        executor.enqueueCommand(command as DAGCommand),
        JSON.stringify(command),
      ).rejects.toMatchObject({ code });
    go();
    expect((await executor.result(id)).status).toBe("completed");
    expect(calls).toHaveLength(5);
    await expect(executor.enqueueCommand({ type: "abort" })).rejects.toMatchObject({
      code: expect.stringMatching(/^HF-/) as string,
    });
    await executor.close();
  });

  it("that turn out to be wrong when their turn comes are rejected with a decision, and change nothing", async () => {
    const { executor, calls, reached, go, events } = held();
    const { id } = await executor.start(RESEARCH);
    await reached;
    // Under way now, finished when the command is read.
    await executor.enqueueCommand({ type: "skip_task", taskId: "search" });
    await executor.enqueueCommand({ type: "add_task", task: task("x", "nowhere") });
    await executor.enqueueCommand({
      type: "change_task",
      taskId: "write",
      change: { dependsOn: ["publish"] },
    });
    await executor.engine.inject(id, { type: "nonsense" }, { to: "dag" });
    go();
    const { state, status } = await executor.result(id);
    expect([status, calls.length]).toEqual(["completed", 5]);
    expect(state.decisions.flatMap(({ commands }) => commands)).toMatchObject([
      { outcome: "rejected", code: "HF-4558" },
      { outcome: "rejected", code: "HF-4553" },
      {
        outcome: "rejected",
        code: "HF-4554",
        problem: expect.stringContaining("write → publish → write") as string,
      },
      { outcome: "rejected", code: "HF-4557", command: { type: "nonsense" } },
    ]);
    expect(events.filter(({ type }) => type === "command_rejected")).toHaveLength(4);
    await executor.close();
  });

  it("replace the DAG of a workflow that is under way elsewhere or waits", async () => {
    const { executor, calls, reached, go } = held();
    const { id } = await executor.start(RESEARCH);
    await reached;
    await executor.enqueueCommand({
      type: "replan_dag",
      dag: dagOf(...RESEARCH.tasks.slice(0, 3), task("sum", "read")),
    });
    go();
    const { warnings } = await executor.result(id);
    expect(calls).toEqual(["plan", "search", "read", "sum"]);
    expect(warnings.map(({ taskId, kind }) => `${taskId} ${kind}`)).toEqual([
      "write removed",
      "publish removed",
      "sum added",
    ]);
    await executor.close();
  });
});

describe("a task that fails", () => {
  it("fails the run after the tasks beside it have ended, or with continue skips what depends on it", async () => {
    const { executor, calls, failing } = stage({ store: createMemoryStore() });
    failing.add("search");
    await expect(executor.execute(RESEARCH, { config: { concurrency: 1 } })).rejects.toMatchObject({
      code: "HF-2101",
    });
    expect(calls).toEqual(["plan", "search"]);
    const { errors, skipped, results } = await executor.execute(
      dagOf(...RESEARCH.tasks, task("aside", "read")),
      {
        config: { onTaskFailure: "continue" },
      },
    );
    expect(errors).toEqual([{ taskId: "search", problem: "search fails" }]);
    expect(skipped.map(({ taskId }) => taskId)).toEqual(["write", "publish"]);
    expect(Object.keys(results)).toEqual(["plan", "read", "aside"]);
    await executor.close();
  });

  it("is retried, verified and limited in time as its tool says", async () => {
    const keys = new Set<string>();
    let tries = 0;
    const tools: DAGTools = {
      flaky: {
        retry: { attempts: 3, baseMs: 1 },
        run: (_, { attempt }) => {
          tries = attempt;
          if (attempt < 3) throw new Error("not yet");
          return "at last";
        },
      },
      pay: { effect: "keyed", run: (_, { key }) => keys.add(key).size },
      slow: (_, { signal }) =>
        new Promise((_, no) => signal.addEventListener("abort", () => no(new Error("too slow")))),
    };
    const { executor } = stage({ store: createMemoryStore(), tools });
    const { results } = await executor.execute(dagOf({ id: "a", tool: "flaky" }, { id: "b", tool: "pay" }));
    expect([results, tries, keys.size]).toEqual([{ a: "at last", b: 1 }, 3, 1]);
    const late = dagOf({ id: "c", tool: "slow", timeout: 5 });
    const { errors } = await executor.execute(late, { config: { onTaskFailure: "continue" } });
    expect(errors).toHaveLength(1);
    await executor.close();
  });
});
