import { createEngine, workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";

/** `<url>`: a run of instant steps that writes to the store without a break. */
const [url = ""] = process.argv.slice(2);
const busy = workflow("busy", async (ctx) => {
  for (let n = 0; ; n++) await ctx.step(`step ${n}`, () => n);
});
const store = await openStore(url);
const engine = createEngine({ store, workflows: [busy], retention: "forever" });
await engine.start(busy, undefined, { id: "busy" });
process.send?.("started");
await engine.settled("busy");
process.send?.("settled");
await engine.close();
await store.close();
process.disconnect();
