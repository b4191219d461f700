import { createEngine, workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";

/** `<store> <model>`: a step that streams what the model at this address says, token by token. */
const [url = "", model = ""] = process.argv.slice(2);

const chat = workflow("chat", (ctx) =>
  ctx.step("ask", async () => {
    const answer = ctx.stream<string>("answer");
    for (let at = 0; ; at++) {
      const response = await fetch(`${model}/${at}`);
      if (response.status === 204) break;
      await answer.append(await response.text());
    }
    await answer.close();
  }),
);

const store = await openStore(url);
const engine = createEngine({
  store,
  workflows: [chat],
  claimMs: 1_000,
  sweepMs: 50,
  recovery: { maxAttempts: 100 },
});
await engine.start(chat, undefined, { id: "chat-1" });
await engine.result("chat-1");
await engine.close();
await store.close();
