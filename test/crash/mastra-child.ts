import { appendFileSync, writeSync } from "node:fs";
import { Mastra } from "@mastra/core";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";
import { mastraStorage } from "../../src/adapters/mastra/index.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * A Mastra workflow of ten steps, each of which writes to a witness and saves a message in the memory of an agent; in
 * the middle it suspends itself. The process kills itself `before` or `after` the append of that number, and the next
 * one goes on. Without a moment it runs to its end.
 */
const [file = "", witness = "", at = "", moment = ""] = process.argv.slice(2);
const STEPS = 10;
const ASKS = 5;
const RUN = { runId: "the-run" };

let appends = 0;
const inner = await openSqliteStore({ file });
const kill = (now: string): void => {
  if (moment === now && appends === Number(at)) process.kill(process.pid, "SIGKILL");
};
const append: Store["append"] = async (batch) => {
  appends++;
  kill("before");
  const results = await inner.append(batch);
  kill("after");
  return results;
};
const store: Store = new Proxy(inner, {
  get: (target, name) => {
    const value: unknown = name === "append" ? append : Reflect.get(target, name);
    return typeof value === "function" && name !== "append" ? value.bind(target) : value;
  },
});

const storage = await mastraStorage(store);
const memory = await storage.getStore("memory");
if (!memory) throw new Error("no memory");
const count = z.object({ n: z.number() });

const stepOf = (n: number) =>
  createStep({
    id: `step-${n}`,
    inputSchema: count,
    outputSchema: count,
    resumeSchema: z.object({ go: z.boolean() }),
    execute: async ({ inputData, resumeData, suspend }) => {
      if (n === ASKS && !resumeData) return suspend({});
      appendFileSync(witness, `step ${n}\n`);
      const content = { format: 2 as const, parts: [{ type: "text" as const, text: `did ${n}` }] };
      const message = {
        id: `m-${n}`,
        role: "assistant" as const,
        createdAt: new Date(1_800_000_000_000 + n),
        content,
      };
      await memory.saveMessages({ messages: [{ ...message, threadId: "notes", resourceId: "ada" }] });
      return { n: inputData.n + 1 };
    },
  });
const flow = createWorkflow({ id: "flow", inputSchema: count, outputSchema: count });
let chain = flow.then(stepOf(0));
for (let n = 1; n < STEPS; n++) chain = chain.then(stepOf(n));
const mastra = new Mastra({ logger: false, storage, workflows: { flow: chain.commit() } });

const runs = await storage.getStore("workflows");
const known = await runs?.loadWorkflowSnapshot({ workflowName: "flow", ...RUN });
const run = await mastra.getWorkflow("flow").createRun(RUN);
const resume = () => run.resume({ step: `step-${ASKS}`, resumeData: { go: true } });
let result: { readonly status: string };
if (!known || known.status === "pending") result = await run.start({ inputData: { n: 0 } });
else if (known.status === "suspended") result = await resume();
else if (known.status === "success") result = known;
else result = await run.restart();
if (result.status === "suspended") result = await resume();
const { messages } = await memory.listMessages({ threadId: "notes", perPage: false });
writeSync(1, JSON.stringify({ status: result.status, messages: messages.map(({ id }) => id), appends }));
await storage.close();
await inner.close();
process.exit(0);
