import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { brief, whole, wholeJson } from "./brief-messages.ts";
import { StoredValues } from "./stored.ts";

const { serde } = new MemorySaver();
const textOf = async (value: unknown): Promise<string> =>
  new TextDecoder().decode((await serde.dumpsTyped(value))[1]);

const reply = {
  content: "",
  tool_calls: [{ name: "look", args: { at: 1 }, id: "c" }],
  id: "r",
  response_metadata: { model: "x" },
  usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
};
const MESSAGES: Readonly<Record<string, unknown>> = {
  human: new HumanMessage({ content: "hello", id: "h" }),
  "human with parts": new HumanMessage({ content: [{ type: "text", text: "hello" }] }),
  system: new SystemMessage("be brief"),
  reply: new AIMessage({ content: "hi", id: "a" }),
  "reply with calls": new AIMessage(reply as never),
  chunk: new AIMessageChunk({ content: "h", id: "1" }),
  result: new ToolMessage({ content: "r", tool_call_id: "c", name: "look", status: "error" }),
  removal: new RemoveMessage({ id: "h" }),
  "message in a message": new HumanMessage({ content: "x", additional_kwargs: { of: new AIMessage("y") } }),
  document: new Document({ pageContent: "p", metadata: { constructor: 1, "~AIMessage": {} } }),
  "an own object that looks like a brief message": { "~AIMessage": { content: "x" } },
  "a message of another package": {
    lc: 1,
    type: "constructor",
    id: ["other", "messages", "AIMessage"],
    kwargs: {},
  },
  "a message with another field": {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "AIMessage"],
    kwargs: { content: "x" },
    more: 1,
  },
};

describe("a message of LangChain", () => {
  it.each(Object.keys(MESSAGES))("is restored exactly as it was serialized: %s", async (name) => {
    const text = await textOf([MESSAGES[name], { inner: MESSAGES[name] }]);
    const [type, data] = await new StoredValues().dump([MESSAGES[name], { inner: MESSAGES[name] }], name);
    expect(type).toBe("json");
    expect(wholeJson(data)).toBe(text);
  });

  it("is stored without what all messages have in common", async () => {
    expect(brief(JSON.parse(await textOf(MESSAGES["reply"])))).toEqual({
      "~AIMessage": { content: "hi", id: "a" },
    });
    expect(brief(JSON.parse(await textOf(MESSAGES["human"])))).toEqual({
      "~HumanMessage": { content: "hello", id: "h" },
    });
  });

  it("stays whole where it would not be restored", () => {
    const message = (kwargs: object) => ({
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "AIMessage"],
      kwargs,
    });
    const early = message({ content: "x" });
    expect(brief(early)).toEqual(early);
    const swapped = message({ response_metadata: {}, additional_kwargs: {}, content: "x" });
    expect(JSON.stringify(whole(brief(swapped)))).toBe(JSON.stringify(swapped));
  });
});
