import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { afterAll, describe, expect, it } from "vitest";
import { rawRow } from "../../core/journal/door.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import { HoldfastSaver } from "./index.ts";

/**
 * A thread that was saved before messages and states were written briefly: tasks side by side, an answered interrupt, a
 * delta channel, texts that are stored once. The history is what the saver of that time has read.
 */
const data = path.join(import.meta.dirname, "../../../test/data/langgraph");
const unpacked = (name: string) => gunzipSync(readFileSync(path.join(data, name)));
const history: CheckpointTuple[] = JSON.parse(unpacked("older.json.gz").toString());

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-older-"));
const file = path.join(folder, "older.db");
writeFileSync(file, unpacked("older.sqlite.gz"));
const store = await openSqliteStore({ file });
const saver = new HoldfastSaver(store);
afterAll(async () => {
  await saver.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const thread = { configurable: { thread_id: "older" } };
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function listed(by: HoldfastSaver = saver) {
  const found: CheckpointTuple[] = [];
  for await (const tuple of by.list({ configurable: { thread_id: "older", checkpoint_ns: "" } }))
    found.push(tuple);
  return found;
}

describe("a thread that an earlier version has saved", () => {
  it("is read as that version has read it, at every checkpoint", async () => {
    expect(plain(await listed())).toEqual(history);
    for (const tuple of history) {
      const read = await saver.getTuple(tuple.config);
      expect(plain(read?.checkpoint)).toEqual(tuple.checkpoint);
      expect(plain(read?.metadata)).toEqual(tuple.metadata);
    }
    const { checkpoint } = (await saver.getTuple(thread)) ?? {};
    expect(checkpoint?.channel_values["messages"]).toEqual(
      expect.arrayContaining([expect.any(AIMessage), expect.any(HumanMessage)]),
    );
  });

  it("goes on without being written again, and keeps its past", async () => {
    const seq = (await rawRow(store, "older"))?.seq ?? 0;
    const other = new HoldfastSaver(store);
    const graph = new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec, n: Annotation<number>() }))
      .addNode("say", ({ n }) => ({ messages: [new AIMessage({ content: "further", id: "f" })], n: n + 1 }))
      .addEdge(START, "say")
      .addEdge("say", END)
      .compile({ checkpointer: other });
    const { messages } = await graph.invoke({ messages: [new HumanMessage("on")] }, thread);
    const before = history[0]?.checkpoint.channel_values["messages"] as readonly unknown[];
    expect(messages).toHaveLength(before.length + 2);
    expect(plain(messages.slice(0, before.length))).toEqual(before);
    const added = await store.entries("older", { from: seq + 1, limit: 100 });
    expect(Math.max(...added.map(({ data: text }) => text?.length ?? 0))).toBeLessThan(2_500);
    await other.close();
    const reread = new HoldfastSaver(store);
    expect(plain((await listed(reread)).slice(-history.length))).toEqual(history);
    const last = await reread.getTuple(thread);
    expect(last?.checkpoint.channel_values["messages"]).toHaveLength(before.length + 2);
    await reread.close();
  });
});
