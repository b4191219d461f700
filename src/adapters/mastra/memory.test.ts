import type { MastraDBMessage } from "@mastra/core/memory";
import { describe, expect, it } from "vitest";
import { createEngine } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { mastraStorage } from "./index.ts";

const at = (second: number): Date => new Date(1_800_000_000_000 + second * 1_000);
const message = (n: number, threadId = "chat-1", resourceId = "ada"): MastraDBMessage => ({
  id: `m-${n}`,
  threadId,
  resourceId,
  role: n % 2 ? "assistant" : "user",
  createdAt: at(n),
  content: { format: 2, parts: [{ type: "text", text: `words ${n}` }] },
});
const thread = (id: string, resourceId = "ada") => ({
  id,
  resourceId,
  title: `About ${id}`,
  metadata: { constructor: "a word" },
  createdAt: at(0),
  updatedAt: at(0),
});

async function memoryOn(store = createMemoryStore()) {
  const memory = await (await mastraStorage(store)).getStore("memory");
  if (!memory) throw new Error("no memory");
  return { store, memory };
}

const idsIn = ({ messages }: { messages: readonly { id: string }[] }): string[] =>
  messages.map(({ id }) => id);

describe("the memory of Mastra agents", () => {
  it("is there for the next process: threads, messages, resources and working memory (S1-76)", async () => {
    const { store, memory } = await memoryOn();
    await memory.saveThread({ thread: thread("chat-1") });
    await memory.saveMessages({ messages: [message(1), message(2)] });
    await memory.updateResource({ resourceId: "ada", workingMemory: "likes tea" });

    const { memory: again } = await memoryOn(store);
    expect(await again.getThreadById({ threadId: "chat-1" })).toMatchObject({
      title: "About chat-1",
      metadata: { constructor: "a word" },
    });
    expect(idsIn(await again.listMessages({ threadId: "chat-1" }))).toEqual(["m-1", "m-2"]);
    expect(idsIn(await again.listMessagesById({ messageIds: ["m-2", "unknown"] }))).toEqual(["m-2"]);
    expect(await again.getResourceById({ resourceId: "ada" })).toMatchObject({ workingMemory: "likes tea" });
    const engine = createEngine({ store, execute: false });
    const { runs } = await engine.list();
    expect(runs.map(({ workflow, status }) => `${workflow} ${status}`).sort()).toEqual([
      "mastra-resource waiting",
      "mastra-thread waiting",
    ]);
    expect(await engine.get("chat-1")).toMatchObject({ workflow: "mastra-thread" });
    expect(await engine.checkpoints.validate("chat-1")).toMatchObject({ ok: true });
  });

  it("keeps every message when two processes save to one thread at once", async () => {
    const { store, memory } = await memoryOn();
    const { memory: other } = await memoryOn(store);
    await memory.saveThread({ thread: thread("chat-1") });
    const saves = Array.from({ length: 20 }, (_, n) =>
      (n % 2 ? memory : other).saveMessages({ messages: [message(n)] }),
    );
    await Promise.all(saves);
    const { messages, total } = await memory.listMessages({ threadId: "chat-1", perPage: false });
    expect([total, new Set(messages.map(({ id }) => id)).size]).toEqual([20, 20]);
  });

  it("finds a message after it has moved to another thread, and once only", async () => {
    const { store, memory } = await memoryOn();
    for (const id of ["chat-1", "chat-2"]) await memory.saveThread({ thread: thread(id) });
    await memory.saveMessages({ messages: [message(1), message(2)] });
    await memory.updateMessages({ messages: [{ id: "m-1", threadId: "chat-2" }] as never });
    await memory.saveMessages({ messages: [message(2, "chat-2")] });
    const { memory: again } = await memoryOn(store);
    expect(idsIn(await again.listMessages({ threadId: "chat-1" }))).toEqual([]);
    expect(idsIn(await again.listMessages({ threadId: "chat-2" }))).toEqual(["m-1", "m-2"]);
    await again.deleteMessages(["m-1"]);
    expect(idsIn(await memory.listMessagesById({ messageIds: ["m-1", "m-2"] }))).toEqual(["m-2"]);
  });

  it("lists a person's threads by who they belong to now", async () => {
    const { memory } = await memoryOn();
    for (const id of ["chat-1", "a thread with spaces/and more"])
      await memory.saveThread({ thread: thread(id) });
    await memory.saveThread({ thread: thread("chat-3", "bob") });
    await memory.saveMessages({ messages: [message(1)] });
    await memory.updateThreadResourceId({ threadId: "chat-1", resourceId: "bob" });
    const of = async (resourceId: string) => {
      const { threads } = await memory.listThreads({ filter: { resourceId } });
      return threads.map(({ id }) => id).sort();
    };
    expect([await of("ada"), await of("bob"), await of("nobody")]).toEqual([
      ["a thread with spaces/and more"],
      ["chat-1", "chat-3"],
      [],
    ]);
    expect(idsIn(await memory.listMessagesByResourceId({ resourceId: "bob" }))).toEqual(["m-1"]);
    expect((await memory.listThreads({ perPage: false })).total).toBe(3);
  });

  it("deletes a thread with its messages, and what led to them", async () => {
    const { store, memory } = await memoryOn();
    await memory.saveThread({ thread: thread("chat-1") });
    await memory.saveMessages({ messages: [message(1)] });
    await memory.deleteThread({ threadId: "chat-1" });
    await memory.deleteThread({ threadId: "chat-1" });
    expect(await memory.getThreadById({ threadId: "chat-1" })).toBeNull();
    expect(idsIn(await memory.listMessagesById({ messageIds: ["m-1"] }))).toEqual([]);
    expect(await createEngine({ store, execute: false }).get("chat-1")).toBeNull();
    expect(await store.documents?.list("mastra-message", { limit: 10 })).toEqual([]);
  });

  it("copies a thread, and the copy goes its own way", async () => {
    const { memory } = await memoryOn();
    await memory.saveThread({ thread: thread("chat-1") });
    await memory.saveMessages({ messages: [message(1), message(2)] });
    const { thread: copy, clonedMessages } = await memory.cloneThread({
      sourceThreadId: "chat-1",
      newThreadId: "copy",
    });
    expect([copy.id, clonedMessages.length]).toEqual(["copy", 2]);
    await memory.deleteMessages(["m-1"]);
    expect((await memory.listMessages({ threadId: "copy" })).total).toBe(2);
    await expect(memory.copyThread({ sourceThreadId: "chat-1", newThreadId: "copy" })).rejects.toThrow(
      "already exists",
    );
  });

  it("keeps observations of a thread and of a resource, found by their ids alone", async () => {
    const { store, memory } = await memoryOn();
    const input = { resourceId: "ada", scope: "thread", config: { constructor: 1 } } as const;
    const record = await memory.initializeObservationalMemory({ ...input, threadId: "chat-1" });
    await memory.initializeObservationalMemory({ ...input, threadId: null, scope: "resource" });
    await memory.setPendingMessageTokens(record.id, 120);
    const { memory: again } = await memoryOn(store);
    expect(await again.getObservationalMemory("chat-1", "ada")).toMatchObject({
      id: record.id,
      pendingMessageTokens: 120,
      config: { constructor: 1 },
    });
    expect(await again.getObservationalMemory(null, "ada")).toMatchObject({ pendingMessageTokens: 0 });
    await again.clearObservationalMemory("chat-1", "ada");
    await expect(memory.setPendingMessageTokens(record.id, 1)).rejects.toThrow("not found");
  });

  it("leaves a run of other work with the id of a thread alone", async () => {
    const { store, memory } = await memoryOn();
    const engine = createEngine({ store, execute: false });
    await engine.outside.thread("taken", { workflow: "other", version: "1", input: null }).write([]);
    await expect(memory.saveThread({ thread: thread("taken") })).rejects.toMatchObject({ code: "HF-4620" });
    await expect(memory.saveMessages({ messages: [{ ...message(1), threadId: "" }] })).rejects.toMatchObject({
      code: "HF-4620",
    });
  });
});
