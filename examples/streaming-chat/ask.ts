import { parseJsonEventStream, uiMessageChunkSchema } from "ai";
import { close, POST } from "./routes.ts";

/** A chat in the terminal: it sends a message as `useChat` does, and prints each piece of the answer as it comes. */
const message = { id: "1", role: "user", parts: [{ type: "text", text: "Why is the sky blue?" }] };
console.log(`you    ${message.parts[0]?.text}`);
const body = JSON.stringify({ id: "terminal", messages: [message] });
const response = await POST(new Request("http://localhost/api/chat", { method: "POST", body }));
process.stdout.write("model  ");
if (response.body)
  for await (const event of parseJsonEventStream({ stream: response.body, schema: uiMessageChunkSchema }))
    if (event.success && event.value.type === "text-delta") process.stdout.write(event.value.delta);
console.log();
await close();
