import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../stores/memory.ts";
import { ControlledExecutor } from "./controlled-executor.ts";
import type { DAGEvent } from "./events.ts";
import type { DAGStructure } from "./types.ts";

const DAG: DAGStructure = {
  tasks: [
    { id: "a", tool: "say", arguments: { text: "A" } },
    { id: "b", tool: "say", arguments: { text: "B" }, dependsOn: ["a"] },
    { id: "c", tool: "say", arguments: { text: "C" }, dependsOn: ["a"] },
    { id: "d", tool: "join", dependsOn: ["b", "c"] },
  ],
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("an executor", () => {
  it("executes layer after layer and saves a checkpoint after each (S2-03, S2-06, S2-18)", async () => {
    const store = createMemoryStore();
    const tools = {
      say: ({ text }: Readonly<Record<string, unknown>>) => text,
      join: (_: unknown, { results }: { results: Readonly<Record<string, unknown>> }) =>
        Object.values(results).join("+"),
    };
    const executor = new ControlledExecutor({ store, tools });
    const events: DAGEvent[] = [];
    executor.on("checkpoint_saved", (event) => events.push(event));
    const result = await executor.execute(DAG);
    expect(result).toMatchObject({
      status: "completed",
      layers: 3,
      results: { a: "A", b: "B", c: "C", d: "B+C" },
    });
    expect(events).toHaveLength(3);
    for (const event of events)
      expect(event).toMatchObject({
        checkpoint_id: expect.stringMatching(UUID) as string,
        timestamp: expect.any(Number) as number,
      });
    const again = await executor.resumeFromCheckpoint((events[1] as { checkpoint_id: string }).checkpoint_id);
    expect(again.results).toEqual(result.results);
    expect(again.workflow_id).not.toBe(result.workflow_id);
    await executor.close();
  });
});
