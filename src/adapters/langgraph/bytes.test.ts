import { createHash } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  DeltaChannel,
  END,
  MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { HoldfastSaver } from "./index.ts";

/** A text of this length that begins with its own name. */
const textOf = (name: string, length = 2_048): string => {
  let text = `<${name}>`;
  while (text.length < length) text += createHash("sha256").update(text).digest("base64url");
  return text.slice(0, length);
};

/** A saver, and everything that its store was given. */
function stage() {
  const store = createMemoryStore();
  const written: string[] = [];
  const append: typeof store.append = async (batch) => {
    const known = await Promise.all(
      batch.map(
        async ({ run, blobs }) =>
          new Set(
            (
              await store.blobs(
                run.id,
                blobs.map(({ hash }) => hash),
              )
            ).keys(),
          ),
      ),
    );
    for (const [index, { entries, blobs }] of batch.entries()) {
      for (const { head, data } of entries) written.push(head, data ?? "");
      // A store keeps a blob of a run once.
      for (const { hash, data } of blobs) if (!known[index]?.has(hash)) written.push(data);
    }
    return store.append(batch);
  };
  const saver = new HoldfastSaver({ ...store, append });
  const times = (name: string): number => written.filter((text) => text.includes(`<${name}>`)).length;
  const bytes = (): number => written.reduce((sum, text) => sum + text.length, 0);
  return { saver, times, bytes, written };
}

const config = { configurable: { thread_id: "t" }, recursionLimit: 1_000, durability: "sync" as const };
const meta = { source: "loop", step: 0, parents: {} } as const;

describe("a long text of a thread", () => {
  it("is stored once, whether it came as input, from one of several tasks, or in a reply (S1-11)", async () => {
    const { saver, times } = stage();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const agent = new StateGraph(MessagesAnnotation)
      .addNode("quick", () => ({ messages: [new AIMessage({ content: textOf("quick"), id: "q" })] }))
      .addNode("slow", async () => {
        for (let n = 0; n < 20; n++) await turn();
        return { messages: [new AIMessage({ content: textOf("slow"), id: "s" })] };
      })
      .addNode("reply", () => ({ messages: [new AIMessage({ content: textOf("reply"), id: "r" })] }))
      .addEdge(START, "quick")
      .addEdge(START, "slow")
      .addEdge(["quick", "slow"], "reply")
      .addEdge("reply", END)
      .compile({ checkpointer: saver });
    const input = { messages: [new HumanMessage({ content: textOf("input"), id: "i" })] };
    const { messages } = await agent.invoke(input, config);
    expect(messages).toHaveLength(4);
    for (const name of ["input", "quick", "slow", "reply"]) expect([name, times(name)]).toEqual([name, 1]);
    await saver.close();
  });

  it("of a delta channel is stored once, however often the channel is written whole", async () => {
    const { saver, times } = stage();
    const State = Annotation.Root({
      messages: () =>
        new DeltaChannel(messagesDeltaReducer, { initialValueFactory: () => [], snapshotFrequency: 3 }),
      n: Annotation<number>(),
    });
    const agent = new StateGraph(State)
      .addNode("say", ({ n }) => ({
        messages: [new AIMessage({ content: textOf(`m${n}`), id: `m${n}` })],
        n: n + 1,
      }))
      .addEdge(START, "say")
      .addConditionalEdges("say", ({ n }) => (n < 12 ? "say" : END), ["say", END])
      .compile({ checkpointer: saver });
    const { messages } = await agent.invoke({ messages: [], n: 0 }, config);
    expect(messages).toHaveLength(12);
    expect(Array.from({ length: 12 }, (_, n) => times(`m${n}`))).toEqual(Array(12).fill(1));
    await saver.close();
  });

  it("is stored twice at most when the thread goes back and forth between branches", async () => {
    const { saver, times } = stage();
    const put = (names: readonly string[], version: number, parent?: string) => {
      const messages = names.map((name) => new AIMessage({ content: textOf(name), id: name }));
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(version),
        channel_values: { messages },
        channel_versions: { messages: version },
      };
      const at = { thread_id: "t", checkpoint_ns: "", ...(parent ? { checkpoint_id: parent } : {}) };
      return saver.put({ configurable: at }, checkpoint, meta, { messages: version });
    };
    const idOf = ({ configurable }: Awaited<ReturnType<typeof put>>): string =>
      String(configurable?.["checkpoint_id"]);
    const first = idOf(await put(["a"], 1));
    for (let n = 0; n < 4; n++) {
      const left = idOf(await put(["a", "left"], 2 + 3 * n, first));
      await put(["a", "left", `more${n}`], 3 + 3 * n, left);
      await put(["a", "right"], 4 + 3 * n, first);
    }
    expect([times("a"), times("left") <= 2, times("right") <= 2]).toEqual([1, true, true]);
    await saver.close();
  });

  it("is not stored again by a snapshot of a conversation that only grows", async () => {
    const { saver, bytes, written } = stage();
    const messages: AIMessage[] = [];
    let parent: string | undefined;
    for (let n = 1; n <= 1_100; n++) {
      messages.push(new AIMessage({ content: textOf(`m${n}`, 4_000), id: `m${n}` }));
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(n),
        channel_values: { messages: [...messages] },
        channel_versions: { messages: n },
      };
      const at = { thread_id: "t", checkpoint_ns: "", ...(parent ? { checkpoint_id: parent } : {}) };
      const put = await saver.put({ configurable: at }, checkpoint, meta, { messages: n });
      parent = String(put.configurable?.["checkpoint_id"]);
    }
    expect(written.some((text) => text.includes("snapshot_taken"))).toBe(false);
    expect(bytes() / (1_100 * 4_000)).toBeLessThan(1.2);
    await saver.close();
  });
});
