import { createEngine } from "holdfast";
import { chatRoutes } from "holdfast/adapters/ai-sdk";
import { openSqliteStore } from "holdfast/stores/sqlite";
import { chat } from "./flow.ts";

const store = await openSqliteStore({ file: ".holdfast/holdfast.db" });
/** It starts runs and reads their streams. The answers are made by `holdfast worker flow.ts`. */
const engine = createEngine({ store, workflows: [chat], execute: false });

/** `POST /api/chat` and `GET /api/chat/{id}/stream`, as `useChat` calls them. */
export const { POST, GET } = chatRoutes(engine, chat, {
  input: ({ messages }) => ({ question: JSON.stringify(messages.at(-1)?.parts) }),
});

export async function close(): Promise<void> {
  await engine.close();
  await store.close();
}
