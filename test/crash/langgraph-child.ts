import { appendFileSync, writeSync } from "node:fs";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { HoldfastSaver } from "../../src/adapters/langgraph/index.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * An agent of LangGraph with 45 iterations: in each a payment and a model call at the same time. Each is written to a
 * witness when it happens. The process kills itself at the given moment: `during` the model call of an iteration, when
 * the payment beside it is saved; or `before` or `after` the append of that number in this process.
 */
const [file = "", witness = "", at = "", moment = ""] = process.argv.slice(2);
const LAST = 45;
const kill = (): void => void process.kill(process.pid, "SIGKILL");

let appends = 0;
const told: (() => void)[] = [];
const paid = new Set<number>();
const inner = await openSqliteStore({ file });
const append: Store["append"] = async (batch) => {
  appends++;
  if (moment === "before" && appends === Number(at)) kill();
  const results = await inner.append(batch);
  if (moment === "after" && appends === Number(at)) kill();
  for (const tell of told.splice(0)) tell();
  return results;
};
const store: Store = new Proxy(inner, {
  get: (target, name) => {
    const value: unknown = name === "append" ? append : Reflect.get(target, name);
    return typeof value === "function" && name !== "append" ? value.bind(target) : value;
  },
});

const State = Annotation.Root({
  n: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});
const graph = new StateGraph(State)
  .addNode("pay", ({ n }) => {
    appendFileSync(witness, `pay ${n}\n`);
    paid.add(n);
    return { log: [`paid ${n}`] };
  })
  .addNode("think", async ({ n }) => {
    appendFileSync(witness, `think ${n}\n`);
    // The payment beside it is saved while the model thinks.
    if (moment === "during" && paid.has(n)) await new Promise<void>((resolve) => told.push(resolve));
    if (moment === "during" && n === Number(at)) kill();
    return { log: [`thought ${n}`] };
  })
  .addNode("next", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "pay")
  .addEdge(START, "think")
  .addEdge(["pay", "think"], "next")
  .addConditionalEdges("next", ({ n }) => (n < LAST ? ["pay", "think"] : END), ["pay", "think", END]);

const saver = new HoldfastSaver(store);
const config = { configurable: { thread_id: "agent" }, recursionLimit: 1_000, durability: "sync" as const };
const compiled = graph.compile({ checkpointer: saver });
const isNew = (await saver.getTuple(config)) === undefined;
const result = await compiled.invoke(isNew ? { n: 0 } : null, config);
writeSync(1, JSON.stringify(result));
await saver.close();
await inner.close();
