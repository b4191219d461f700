import { describe, expect, it } from "vitest";
import { dagOf, RESEARCH, stage, task } from "../../test/support/dag-stage.ts";
import { signalled } from "../../test/support/lab.ts";
import { createMemoryStore } from "../stores/memory.ts";
import type { AIL, HIL } from "./decide.ts";
import type { DAGCommand, DAGTask } from "./types.ts";

const ids = (tasks: readonly { taskId: string }[]): string[] => tasks.map(({ taskId }) => taskId);
const speculative = (id: string, ...dependsOn: string[]): DAGTask => ({
  ...task(id, ...dependsOn),
  speculative: true,
});

describe("decisions while a DAG runs", () => {
  it("let the AI add, change and skip tasks, and are part of every checkpoint after them (S2-32)", async () => {
    const ail: AIL = ({ layer_index }) => {
      if (layer_index !== 2) return undefined;
      const commands: DAGCommand[] = [
        { type: "add_task", task: task("verify", "read") },
        { type: "change_task", taskId: "publish", change: { dependsOn: ["verify"] } },
        { type: "skip_task", taskId: "write", reason: "nothing to write about" },
        { type: "inject_context", context: { tone: "dry" } },
        { type: "add_messages", messages: ["checked"] },
      ];
      return {
        description: "verify first",
        rationale: "two sources differ",
        alternatives: ["go on"],
        confidence: 0.7,
        commands,
        messages: ["I would verify."],
      };
    };
    const { executor, calls, saved, failing } = stage({ store: createMemoryStore(), ail });
    failing.add("publish");
    await expect(executor.execute(RESEARCH)).rejects.toThrow();
    expect(calls).toEqual(["plan", "search", "read", "verify", "publish"]);
    const { state } = await executor.checkpointManager.load(saved.at(-1) ?? "");
    expect(state).toMatchObject({
      context: { tone: "dry" },
      messages: ["checked", "I would verify."],
      decisions: [
        {
          type: "AIL",
          layer_index: 1,
          description: "verify first",
          rationale: "two sources differ",
          alternatives: ["go on"],
          confidence: 0.7,
        },
      ],
    });
    expect(state.decisions[0]?.commands.map(({ outcome }) => outcome)).toEqual(Array(5).fill("applied"));
    failing.clear();
    const result = await executor.resumeFromCheckpoint(saved.at(-1) ?? "");
    expect(result.skipped).toEqual([{ taskId: "write", problem: "nothing to write about" }]);
    expect(result.results["publish"]).toBe("did publish after verify");
    await executor.close();
  });

  it("ask the AI once for each layer, also when the workflow is resumed (S2-32)", async () => {
    const asked: number[] = [];
    const ail: AIL = ({ layer_index }) => {
      asked.push(layer_index);
      return { confidence: 1 };
    };
    const { executor, saved, failing } = stage({ store: createMemoryStore(), ail });
    failing.add("write");
    await expect(executor.execute(RESEARCH)).rejects.toThrow();
    failing.clear();
    const { state } = await executor.resumeFromCheckpoint(saved.at(-1) ?? "");
    expect(asked).toEqual([1, 2, 3, 4]);
    expect(state.decisions.map(({ layer_index, description }) => `${layer_index} ${description}`)).toEqual([
      "0 AIL decision after layer 1",
      "1 AIL decision after layer 2",
      "2 AIL decision after layer 3",
      "3 AIL decision after layer 4",
    ]);
    await executor.close();
  });

  it("wait for a person, whose choice changes the plan (S2-32)", async () => {
    const hil: HIL = ({ layer_index, next }) =>
      layer_index === 3
        ? {
            show: next,
            text: true,
            choices: { publish: [], hold: [{ type: "skip_task", taskId: "publish" }] },
          }
        : undefined;
    const { executor, calls, events } = stage({ store: createMemoryStore(), hil });
    const { id } = await executor.start(RESEARCH);
    const waiting = await executor.engine.settled(id);
    const [gate] = await executor.engine.gates(id);
    expect([waiting.status, gate?.gate]).toEqual(["waiting", "layer[2]/human-decision"]);
    await executor.engine.answer(id, gate?.gate ?? "", { choice: "hold", text: "not today", actor: "ada" });
    const { state, skipped } = await executor.result(id);
    expect(calls).not.toContain("publish");
    expect(ids(skipped)).toEqual(["publish"]);
    expect(state.decisions).toMatchObject([
      { type: "HIL", actor: "ada", description: "hold", rationale: "not today", alternatives: ["publish"] },
    ]);
    expect(events.map(({ type }) => type)).toContain("decision_required");
    await executor.close();
  });

  it("fail the run when the AI's answer can't be used, and nothing is lost", async () => {
    const answers: unknown[] = [
      "yes",
      { commands: "none" },
      { confidence: 2 },
      { messages: 1 },
      { context: [] },
    ];
    const ail = (() => answers.shift()) as AIL;
    const { executor, calls, saved } = stage({ store: createMemoryStore(), ail });
    const { id } = await executor.start(dagOf(task("a")), { id: "w" });
    await expect(executor.result(id)).rejects.toMatchObject({ cause: { code: "HF-4563" } });
    while (answers.length > 0) {
      await executor.engine.resume(id);
      await expect(executor.result(id)).rejects.toMatchObject({ cause: { code: "HF-4563" } });
    }
    await executor.engine.resume(id);
    expect((await executor.result(id)).status).toBe("completed");
    expect([calls, saved.length]).toEqual([["a"], 1]);
    await executor.close();
  });
});

describe("speculative tasks", () => {
  const DAG = dagOf(
    task("ask"),
    speculative("guess", "ask"),
    speculative("other", "ask"),
    task("end", "guess"),
  );

  it("start ahead while the AI decides, and are in no checkpoint before they are confirmed (S2-15, S2-32)", async () => {
    const running = signalled();
    let layers = 0;
    const ail: AIL = async ({ speculative: ahead }) => {
      if (ahead.length === 0) return undefined;
      expect(ahead).toEqual(["guess", "other"]);
      await running.promise;
      layers++;
      return { commands: [{ type: "confirm_task", taskId: "guess" }] };
    };
    const { executor, calls, events, saved } = stage({ store: createMemoryStore(), ail });
    executor.on("speculation_started", ({ task_id }) => {
      if (task_id === "other") running.resolve();
    });
    const { state, skipped } = await executor.execute(DAG);
    expect([calls, layers]).toEqual([["ask", "guess", "other", "end"], 1]);
    expect(ids(state.tasks)).toEqual(["ask", "guess", "end"]);
    expect(skipped.map(({ taskId }) => taskId)).toEqual([]);
    const [first] = await Promise.all(saved.map((id) => executor.checkpointManager.load(id)));
    expect(ids(first?.state.tasks ?? [])).toEqual(["ask", "guess"]);
    const of = (type: string) =>
      events.flatMap((event) => (event.type === type && "task_id" in event ? [event.task_id] : []));
    expect([of("speculation_confirmed"), of("speculation_discarded")]).toEqual([["guess"], ["other"]]);
    await executor.close();
  });

  it("leave nothing in a checkpoint when they aren't confirmed, and run again when they are confirmed later", async () => {
    const { executor, calls, saved } = stage({
      store: createMemoryStore(),
      ail: ({ layer_index }) =>
        layer_index === 2 ? { commands: [{ type: "confirm_task", taskId: "guess" }] } : undefined,
    });
    const { state, skipped } = await executor.execute(dagOf(...DAG.tasks, task("more", "ask")));
    expect(calls).toEqual(["ask", "guess", "other", "more", "guess", "end"]);
    const [first] = await Promise.all(saved.map((id) => executor.checkpointManager.load(id)));
    expect(ids(first?.state.tasks ?? [])).toEqual(["ask"]);
    expect(ids(state.tasks)).toEqual(["ask", "more", "guess", "end"]);
    expect(skipped).toEqual([]);
    await executor.close();
  });

  it("must be repeatable, and don't start ahead with speculation: false", async () => {
    const tools = { work: () => 1, send: { run: () => 1, effect: "once" } } as const;
    const { executor } = stage({ store: createMemoryStore(), tools });
    const bad = { id: "mail", tool: "send", speculative: true };
    await expect(executor.execute(dagOf(bad))).rejects.toMatchObject({ code: "HF-4556" });
    await expect(
      executor.execute(dagOf({ id: "mail", tool: "send", effect: "keyed" })),
    ).rejects.toMatchObject({ code: "HF-4556" });
    await executor.close();
    const careful = stage({ store: createMemoryStore(), config: { speculation: false } });
    const { skipped } = await careful.executor.execute(DAG);
    expect([careful.calls, ids(skipped)]).toEqual([["ask"], ["guess", "other", "end"]]);
    await careful.executor.close();
  });
});
