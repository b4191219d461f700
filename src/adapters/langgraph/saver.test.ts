import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { workflow } from "../../core/workflow.ts";
import { createEngine } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { HoldfastSaver } from "./index.ts";

const State = Annotation.Root({ ...MessagesAnnotation.spec, n: Annotation<number>() });
const meta = { source: "loop", step: 0, parents: {} } as const;

/** An agent of so many turns, each with one message. */
const agentOf = (saver: HoldfastSaver, turns: number, onTurn: (n: number) => unknown = () => undefined) =>
  new StateGraph(State)
    .addNode("say", async ({ n }) => {
      await onTurn(n);
      return { messages: [new AIMessage(`turn ${n}`)], n: n + 1 };
    })
    .addEdge(START, "say")
    .addConditionalEdges("say", ({ n }) => (n < turns ? "say" : END), ["say", END])
    .compile({ checkpointer: saver });

const of = (thread_id: string) => ({ configurable: { thread_id }, recursionLimit: 1_000 });

const setup = (options: object = {}) => {
  const store = createMemoryStore();
  const engine = createEngine({ store, execute: false, retention: "forever", ...options });
  return { store, engine, saver: new HoldfastSaver(engine) };
};

const put = (saver: HoldfastSaver, thread: string, values: Record<string, unknown>, parent?: string) => {
  const versions = Object.fromEntries(Object.keys(values).map((name) => [name, 1]));
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(1),
    channel_values: values,
    channel_versions: versions,
  };
  const config = {
    configurable: { thread_id: thread, checkpoint_ns: "", ...(parent ? { checkpoint_id: parent } : {}) },
  };
  return saver.put(config, checkpoint, meta, versions);
};

describe("a thread of LangGraph", () => {
  it("is a run in lists and reports, with its checkpoints in a verified journal (S1-12, S1-24, S1-34)", async () => {
    const { engine, saver } = setup();
    await agentOf(saver, 3).invoke({ messages: [new HumanMessage("hi")], n: 0 }, of("ada-1"));
    const { runs } = await engine.list({ workflow: "langgraph" });
    expect(runs).toMatchObject([{ id: "ada-1", status: "waiting", turns: 5 }]);
    expect(await engine.checkpoints.validate("ada-1")).toMatchObject({ ok: true });
    const state = await engine.checkpoints.state("ada-1");
    expect(state).toMatchObject({
      input: { thread_id: "ada-1" },
      loops: { thread: { values: { n: ["json", 3] } } },
    });
    expect((await engine.checkpoints.list("ada-1")).length).toBeGreaterThanOrEqual(5);
  });

  it("goes on in another process, also after many turns, with everything it had (S1-04, S1-19)", async () => {
    const { store, saver } = setup();
    await agentOf(saver, 4).invoke({ messages: [new HumanMessage("hi")], n: 0 }, of("t"));
    const other = new HoldfastSaver(store);
    const next = await agentOf(other, 6).invoke({ messages: [new HumanMessage("more")] }, of("t"));
    expect(next.messages.map(({ content }) => content)).toEqual([
      "hi",
      "turn 0",
      "turn 1",
      "turn 2",
      "turn 3",
      "more",
      "turn 4",
      "turn 5",
    ]);
    expect(next.messages[0]).toBeInstanceOf(HumanMessage);
    const last = await agentOf(saver, 6).getState(of("t"));
    expect(last.values.messages).toHaveLength(8);
    await other.close();
  });

  it("keeps an element that a node changed in place", async () => {
    const { saver } = setup();
    const message = new AIMessage("first");
    const first = await put(saver, "t", { messages: [message, new AIMessage("second")] });
    message.content = "changed";
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(2),
      channel_values: { messages: [message] },
      channel_versions: { messages: 2 },
    };
    await saver.put(first, checkpoint, meta, { messages: 2 });
    const read = await saver.getTuple(of("t"));
    expect(read?.checkpoint.channel_values["messages"]).toMatchObject([{ content: "changed" }]);
    expect((await saver.getTuple(first))?.checkpoint.channel_values["messages"]).toMatchObject([
      { content: "first" },
      { content: "second" },
    ]);
  });

  it("costs what changes: the bytes of many turns grow with their number, not its square (S1-11)", async () => {
    const { store } = setup();
    let bytes = 0;
    const append: typeof store.append = (batch) => {
      for (const { entries, blobs } of batch) {
        for (const { head, data } of entries) bytes += head.length + (data?.length ?? 0);
        for (const { data } of blobs) bytes += data.length;
      }
      return store.append(batch);
    };
    const saver = new HoldfastSaver({ ...store, append });
    const long = new Map<number, number>();
    const agent = agentOf(saver, 300, (n) => long.set(n, bytes));
    await agent.invoke({ messages: [], n: 0 }, { ...of("t"), durability: "sync" });
    const between = (from: number, to: number) => (long.get(to) ?? 0) - (long.get(from) ?? 0);
    expect(between(200, 300 - 1) / between(1, 100)).toBeLessThan(1.3);
    await saver.close();
  });

  it("waits when it was interrupted, and goes on with the answer, without repeating what was done (S1-21, S1-22)", async () => {
    const { engine, saver } = setup();
    const done: string[] = [];
    const graph = new StateGraph(
      Annotation.Root({ answer: Annotation<string>(), paid: Annotation<boolean>() }),
    )
      .addNode("pay", () => (done.push("pay"), { paid: true }))
      .addNode("ask", () => ({ answer: String(interrupt("May I?")) }))
      .addEdge(START, "pay")
      .addEdge(START, "ask")
      .addEdge("pay", END)
      .addEdge("ask", END)
      .compile({ checkpointer: saver });
    await graph.invoke({}, of("t"));
    expect((await engine.get("t"))?.waiting).toMatchObject([
      { step: "resume", detail: "The graph was interrupted." },
    ]);
    const result = await graph.invoke(new Command({ resume: "yes" }), of("t"));
    expect(result).toMatchObject({ answer: "yes", paid: true });
    expect(done).toEqual(["pay"]);
    expect((await engine.get("t"))?.waiting).toMatchObject([{ step: "invoke" }]);
  });

  it("has failed when a task has, and can go on (S1-05)", async () => {
    const { engine, saver } = setup();
    let isBroken = true;
    const agent = agentOf(saver, 2, (n) => {
      if (n === 1 && isBroken) throw new Error("model is down");
    });
    await expect(agent.invoke({ messages: [], n: 0 }, of("t"))).rejects.toThrow("model is down");
    expect(await engine.get("t")).toMatchObject({ status: "failed" });
    isBroken = false;
    expect(await agent.invoke(null, of("t"))).toMatchObject({ n: 2 });
    expect(await engine.get("t")).toMatchObject({ status: "waiting", error: null });
  });

  it("stops at its next checkpoint when a person pauses it, and can be cancelled for good (S1-21, S1-31)", async () => {
    const { engine, saver } = setup();
    const agent = agentOf(
      saver,
      10,
      async (n) => void (n === 2 && (await engine.pause("t", { actor: "Ada" }))),
    );
    const running = agent.invoke({ messages: [], n: 0 }, { ...of("t"), durability: "sync" });
    await expect(running).rejects.toMatchObject({ code: "HF-6184" });
    const { values } = await agent.getState(of("t"));
    expect(values.n).toBe(3);
    await engine.resume("t");
    expect(await agentOf(saver, 5).invoke(null, of("t"))).toMatchObject({ n: 5 });
    await engine.cancel("t");
    await expect(agent.invoke({ messages: [] }, of("t"))).rejects.toMatchObject({ code: "HF-6185" });
  });

  it("can be forked from any checkpoint into another thread, and in itself (S1-22)", async () => {
    const { engine, saver } = setup();
    const agent = agentOf(saver, 4);
    await agent.invoke({ messages: [], n: 0 }, of("t"));
    const past = [];
    for await (const one of agent.getStateHistory(of("t"))) past.push(one);
    expect(past.map(({ values }) => values.n)).toEqual([4, 3, 2, 1, 0, undefined]);
    const second = past.find(({ values }) => values.n === 2);
    const branch = await agent.updateState(second?.config ?? {}, { n: 9 });
    expect((await agent.getState(branch)).values).toMatchObject({ n: 9 });
    expect((await agent.getState(of("t"))).values.messages).toHaveLength(2);
    expect((await agent.getState(past[0]?.config ?? {})).values.messages).toHaveLength(4);
    await saver.copyThread("t", "copy of t");
    expect((await agent.getState(of("copy of t"))).values).toMatchObject({ n: 9 });
    expect((await agent.invoke(null, of("copy of t"))).n).toBe(9);
    expect(await engine.checkpoints.validate("t")).toMatchObject({ ok: true });
  });

  it("keeps the checkpoints of two programs that go on with it at once (S1-14, S1-42)", async () => {
    const { store, saver } = setup();
    const other = new HoldfastSaver(store);
    const root = await put(saver, "t", { a: 0 });
    const id = String(root.configurable?.["checkpoint_id"]);
    await other.getTuple(of("t"));
    await Promise.all([saver, other].flatMap((one) => [1, 2, 3].map((n) => put(one, "t", { a: n }, id))));
    const found = [];
    for await (const { checkpoint } of saver.list(of("t")))
      found.push(String(checkpoint.channel_values["a"]));
    expect(found.sort()).toEqual(["0", "1", "1", "2", "2", "3", "3"]);
    await other.close();
  });

  it("is deleted with everything, and a late write doesn't bring a part of it back", async () => {
    const { store, engine, saver } = setup();
    const other = new HoldfastSaver(store);
    const { configurable } = await put(other, "t", { a: 1 });
    await saver.deleteThread("t");
    expect(await engine.get("t")).toBeNull();
    const late = put(other, "t", { a: 2 }, String(configurable?.["checkpoint_id"]));
    await expect(late).rejects.toMatchObject({ code: "HF-6187" });
    expect(await saver.getTuple(of("t"))).toBeUndefined();
    await put(other, "t", { a: 3 });
    expect((await saver.getTuple(of("t")))?.checkpoint.channel_values).toEqual({ a: 3 });
    await other.close();
  });
});

describe("what a thread can't be, or hold", () => {
  it("maps an id that no run can have, and finds the way back (HF-6180 for none at all)", async () => {
    const { engine, saver } = setup();
    const odd = ["a b", "ä/ö", "x".repeat(900), `thread-${"a".repeat(43)}`, "__proto__"];
    for (const thread of odd) await put(saver, thread, { a: thread });
    const found: string[] = [];
    for await (const { config } of saver.list({})) found.push(String(config.configurable?.["thread_id"]));
    expect(found.sort()).toEqual([...odd].sort());
    expect((await engine.list({ limit: 10 })).runs).toHaveLength(odd.length);
    for (const thread of ["", {}, "x".repeat(1_001)])
      await expect(put(saver, thread as string, {})).rejects.toMatchObject({ code: "HF-6180" });
    await expect(saver.putWrites(of("t"), [], "task")).rejects.toMatchObject({ code: "HF-6182" });
  });

  it("leaves a run of other work alone", async () => {
    const { store, saver } = setup();
    const engine = createEngine({ store });
    await engine.result(
      (
        await engine.start(
          workflow("other", async () => 1),
          undefined,
          { id: "mine" },
        )
      ).id,
    );
    for (const act of [
      () => put(saver, "mine", {}),
      () => saver.getTuple(of("mine")),
      () => saver.deleteThread("mine"),
    ])
      await expect(act()).rejects.toMatchObject({ code: "HF-6181" });
    await engine.close();
  });

  it("keeps every value that LangGraph's serializer takes, and refuses the others by name", async () => {
    const { saver } = setup();
    const values = {
      map: new Map([["a", new Set([1])]]),
      bytes: new Uint8Array([0, 255]),
      odd: { constructor: 1, prototype: { x: 1 }, "~a": 2, $: ["Blob", "x"] },
      text: "\u0000 \ud800 lone",
      list: [undefined, null, new Uint8Array([1]), "$", { prototype: 1 }],
      none: undefined,
      long: "ä".repeat(50_000),
      constructor: "a channel",
    };
    await put(saver, "t", values);
    const read = await saver.getTuple(of("t"));
    expect(read?.checkpoint.channel_values).toEqual(values);
    await expect(put(saver, "t", { big: 1n })).rejects.toMatchObject({ code: "HF-6186" });
    await expect(put(saver, "t", { call: () => 1 })).rejects.toMatchObject({ code: "HF-6186" });
    expect((await saver.getTuple(of("t")))?.checkpoint.channel_values).toEqual(values);
  });

  it("refuses a value over the limit, and keeps the checkpoint before", async () => {
    const { saver } = setup({ limits: { valueBytes: 10_000 } });
    await put(saver, "t", { a: 1 });
    await expect(put(saver, "t", { a: "x".repeat(20_000) })).rejects.toMatchObject({ code: "HF-2002" });
    expect((await saver.getTuple(of("t")))?.checkpoint.channel_values).toEqual({ a: 1 });
  });

  it("knows no checkpoint by an unknown id, and keeps one of another version of LangGraph as it is", async () => {
    const { saver } = setup();
    const future = { ...emptyCheckpoint(), v: 9, updated_channels: ["a"], constructor: 1 };
    const config = await saver.put(of("t"), future, meta, {});
    expect((await saver.getTuple(config))?.checkpoint).toEqual(future);
    expect(
      await saver.getTuple({ configurable: { thread_id: "t", checkpoint_id: "unknown" } }),
    ).toBeUndefined();
    const not = { ...emptyCheckpoint(), v: undefined } as never;
    await expect(saver.put(of("t"), not, meta, {})).rejects.toMatchObject({ code: "HF-6188" });
  });

  it("reports a damaged journal instead of an older or an empty state (S1-13, S1-45)", async () => {
    const { store, saver } = setup();
    await agentOf(saver, 3).invoke({ messages: [], n: 0 }, of("t"));
    const entries: typeof store.entries = async (id, range) =>
      (await store.entries(id, range)).map((entry) =>
        entry.seq > 5 && entry.data ? { ...entry, data: entry.data.replace("turn", "torn") } : entry,
      );
    const reader = new HoldfastSaver({ ...store, entries });
    await expect(reader.getTuple(of("t"))).rejects.toMatchObject({ code: "HF-3010" });
    await reader.close();
  });
});
