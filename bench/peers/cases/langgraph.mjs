// LangGraph.js: a graph of one node that loops, and appends a message of 2 KiB each time, with its checkpointer in sync.
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { database, fileBytes, folder, measure, now, payload, STEPS } from "./work.mjs";

let saver;
let counts;
if (process.argv[2] === "postgres") {
  counts = await database("peers_langgraph");
  saver = PostgresSaver.fromConnString(counts.url);
  await saver.setup();
} else {
  const file = `${folder("langgraph")}/graph.db`;
  saver = SqliteSaver.fromConnString(file);
  counts = { bytes: () => fileBytes(file) };
}
const runs = new Map();
const state = Annotation.Root({ ...MessagesAnnotation.spec, n: Annotation(), key: Annotation() });
const graph = new StateGraph(state)
  .addNode("step", async ({ key, n }) => {
    const run = runs.get(key);
    const time = now();
    if (run.before !== undefined) run.into.push(time - run.before);
    run.before = time;
    return { messages: [new AIMessage({ content: payload(), id: `m${String(n)}` })], n: n + 1 };
  })
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < STEPS ? "step" : END), ["step", END])
  .compile({ checkpointer: saver });
await measure(async (id, into) => {
  runs.set(id, { into });
  const options = { configurable: { thread_id: id }, recursionLimit: 1_000, durability: "sync" };
  await graph.invoke({ messages: [], n: 0, key: id }, options);
  runs.delete(id);
}, counts);
