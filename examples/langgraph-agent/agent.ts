import { appendFileSync } from "node:fs";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { HoldfastSaver } from "holdfast/adapters/langgraph";
import { openSqliteStore } from "holdfast/stores/sqlite";

type State = typeof MessagesAnnotation.State;

/** A scripted model: it looks at three invoices, one after the other, and then says what they come to. */
function model({ messages }: State) {
  const seen = messages.filter((message) => message instanceof ToolMessage);
  appendFileSync("calls.log", `model ${seen.length}\n`);
  console.log(`… model call ${seen.length}`);
  if (seen.length === 2 && process.argv[2] === "--crash") process.kill(process.pid, "SIGKILL");
  if (seen.length === 3) {
    const cents = seen.reduce((sum, { content }) => sum + Number(content), 0);
    return { messages: [new AIMessage(`The invoices come to ${cents} cents.`)] };
  }
  const call = { name: "invoice", args: { id: seen.length + 1 }, id: `call-${seen.length + 1}` };
  return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
}

/** The one tool: an invoice costs money to look up, so it is looked up once. */
function tools({ messages }: State) {
  const last = messages.at(-1);
  const calls = last instanceof AIMessage ? (last.tool_calls ?? []) : [];
  return {
    messages: calls.map(({ args, id = "" }) => {
      appendFileSync("calls.log", `invoice ${args["id"]}\n`);
      console.log(`… invoice ${args["id"]}`);
      return new ToolMessage({ content: String(Number(args["id"]) * 100), tool_call_id: id });
    }),
  };
}

const asksForTool = ({ messages }: State): "tools" | typeof END => {
  const last = messages.at(-1);
  return last instanceof AIMessage && (last.tool_calls?.length ?? 0) > 0 ? "tools" : END;
};

const store = await openSqliteStore({ file: ".holdfast/holdfast.db" });
const checkpointer = new HoldfastSaver(store);
const agent = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addNode("tools", tools)
  .addEdge(START, "model")
  .addConditionalEdges("model", asksForTool, ["tools", END])
  .addEdge("tools", "model")
  .compile({ checkpointer });

// With "sync", a step begins when the one before it is saved.
const thread = { configurable: { thread_id: "invoices" }, durability: "sync" as const };
const { next } = await agent.getState(thread);
const input = next.length > 0 ? null : { messages: [new HumanMessage("What do the invoices come to?")] };
const { messages } = await agent.invoke(input, thread);
console.log(messages.at(-1)?.content);
await checkpointer.close();
await store.close();
