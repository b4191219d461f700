import { appendFileSync } from "node:fs";
import { createEngine, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * `<file> <log> <how> <dies>`: one step that writes a line, then 500 ms without a turn of the event loop, then possibly
 * SIGKILL.
 */
const [file = "", log = "", how = "", dies = ""] = process.argv.slice(2);
const flow = workflow("flow", async (ctx) => {
  await ctx.step("effect", () => appendFileSync(log, "done\n"), { flush: how === "option" });
  if (how === "flush") await ctx.flush();
  const end = performance.now() + 500;
  while (performance.now() < end);
  if (dies === "dies") process.kill(process.pid, "SIGKILL");
});
const store = await openSqliteStore({ file });
const engine = createEngine({ store, workflows: [flow], claimMs: 200, sweepMs: 20 });
await engine.start(flow, undefined, { id: "r" });
await engine.result("r");
await engine.close();
await store.close();
