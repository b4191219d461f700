import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { HoldfastSaver, HoldfastStore } from "./index.ts";

/** Vectors that count three letters. */
const embeddings = {
  embedQuery: async (text: string) => ["a", "b", "c"].map((letter) => text.split(letter).length - 1),
  embedDocuments: (texts: string[]) => Promise.all(texts.map((text) => embeddings.embedQuery(text))),
};

const people = async (memory: InMemoryStore | HoldfastStore) => {
  await memory.put(["users", "ada"], "diet", { eats: "plants", since: 2021, tags: ["x"] });
  await memory.put(["users", "ada"], "home", { city: "Bath", since: 1999 });
  await memory.put(["users", "bob"], "diet", { eats: "all", since: 2023 });
  await memory.put(["usersX"], "diet", { eats: "none", since: 2025 });
  return memory;
};

describe("the long-term memory (S1-75)", () => {
  it("answers what LangGraph's own store answers", async () => {
    const [theirs, ours] = [
      await people(new InMemoryStore()),
      await people(new HoldfastStore(createMemoryStore())),
    ];
    const asked = [
      (memory: typeof ours) => memory.search(["users"]),
      (memory: typeof ours) => memory.search(["users", "ada"], { limit: 1, offset: 1 }),
      (memory: typeof ours) => memory.search(["users"], { filter: { since: { $gte: 2000, $lt: 2023 } } }),
      (memory: typeof ours) => memory.search(["users"], { filter: { eats: { $in: ["all", "none"] } } }),
      (memory: typeof ours) => memory.search(["users"], { filter: { eats: { $ne: "all" } } }),
      (memory: typeof ours) => memory.search(["nobody"]),
    ];
    const facts = (items: Awaited<ReturnType<HoldfastStore["search"]>>) =>
      items.map(({ namespace, key, value }) => JSON.stringify([namespace, key, value])).sort();
    // Their prefix also matches a longer name.
    for (const ask of asked)
      expect(facts(await ask(ours))).toEqual(
        facts((await ask(theirs)).filter(({ namespace }) => namespace[0] !== "usersX")),
      );
    for (const options of [
      {},
      { prefix: ["users"] },
      { suffix: ["ada"] },
      { prefix: ["*", "bob"] },
      { maxDepth: 1 },
      { limit: 1, offset: 1 },
    ])
      expect(await ours.listNamespaces(options)).toEqual(await theirs.listNamespaces(options));
  });

  it("keeps an item until it is replaced or deleted, with its times", async () => {
    const clock = { time: 1_000, now: () => clock.time };
    const memory = new HoldfastStore(createMemoryStore({ clock }));
    expect(await memory.get(["a"], "k")).toBeNull();
    await memory.put(["a"], "k", { n: 1 });
    clock.time = 2_000;
    await memory.put(["a"], "k", { n: 2 });
    expect(await memory.get(["a"], "k")).toEqual({
      namespace: ["a"],
      key: "k",
      value: { n: 2 },
      createdAt: new Date(1_000),
      updatedAt: new Date(2_000),
    });
    await memory.delete(["a"], "k");
    expect(await memory.search([])).toEqual([]);
  });

  it("finds the most similar first, where it has an index, and refuses a query where it has none", async () => {
    const index = { dims: 3, embeddings: embeddings as never, fields: ["text"] };
    const memory = new HoldfastStore(createMemoryStore(), { index });
    for (const text of ["aaa", "bbb", "ccc", "abc"]) await memory.put(["t"], text, { text });
    const found = await memory.search(["t"], { query: "bb", limit: 2 });
    expect(found.map(({ key }) => key)).toEqual(["bbb", "abc"]);
    expect(found[0]?.score).toBeCloseTo(1);
    const plain = new HoldfastStore(createMemoryStore());
    await expect(plain.search(["t"], { query: "bb" })).rejects.toMatchObject({ code: "HF-6190" });
    await expect(plain.search(["t"], { filter: { a: { $like: "x" } } })).rejects.toMatchObject({
      code: "HF-6190",
    });
  });

  it("keeps odd and long names apart, and refuses what it can't keep", async () => {
    const memory = new HoldfastStore(createMemoryStore());
    const names = ["a/b", "a", "~x", "ä ö", "%2F", "x".repeat(400), `${"x".repeat(400)}y`];
    for (const name of names) await memory.put(["n", name], name, { name });
    for (const name of names) expect((await memory.get(["n", name], name))?.value).toEqual({ name });
    expect(await memory.search(["n"], { limit: 100 })).toHaveLength(names.length);
    expect(await memory.search(["n", "a"])).toHaveLength(1);
    for (const namespace of [[], [""], ["a.b"], ["langgraph"]])
      await expect(memory.put(namespace, "k", {})).rejects.toMatchObject({ code: "HF-6189" });
    await expect(memory.put(["n"], "big", { text: "x".repeat(400_000) })).rejects.toMatchObject({
      code: "HF-6189",
    });
    await expect(memory.put(["n"], "odd", { n: 1n })).rejects.toMatchObject({ code: "HF-6189" });
  });

  it("loses no write when two programs write at once", async () => {
    const store = createMemoryStore();
    const [one, two] = [new HoldfastStore(store), new HoldfastStore(store)];
    await Promise.all(
      [one, two].flatMap((memory, who) => [1, 2, 3].map((n) => memory.put(["a"], `${n}`, { who }))),
    );
    expect(await one.search(["a"])).toHaveLength(3);
  });

  it("is what a graph's nodes get as their store", async () => {
    const store = createMemoryStore();
    const graph = new StateGraph(Annotation.Root({ said: Annotation<string>() }))
      .addNode("remember", async ({ said }, config) => {
        await config.store?.put(["users", "ada"], "said", { said });
        return {};
      })
      .addEdge(START, "remember")
      .addEdge("remember", END)
      .compile({ checkpointer: new HoldfastSaver(store), store: new HoldfastStore(store) });
    await graph.invoke({ said: "hello" }, { configurable: { thread_id: "t" } });
    expect((await new HoldfastStore(store).get(["users", "ada"], "said"))?.value).toEqual({ said: "hello" });
  });
});
