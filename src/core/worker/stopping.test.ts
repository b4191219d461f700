import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { withParts } from "../../testing/with-parts.ts";

const flow = workflow("flow", (ctx) => ctx.signal("go"));

it("an engine that is closed waits for the claim of a run it was just told about", async () => {
  const inner = createMemoryStore();
  let release: (() => void) | undefined;
  let isHeld = false;
  const store = withParts(inner, {
    async append(batch) {
      const isClaim = batch.some(({ entries }) => entries.some(({ head }) => head.includes("run_claimed")));
      if (isHeld && isClaim) await new Promise<void>((resolve) => (release = resolve));
      return inner.append(batch);
    },
  });
  const engine = createEngine({ store, workflows: [flow], quietMs: 1 });
  await engine.start(flow, undefined, { id: "r" });
  await engine.settled("r");
  isHeld = true;
  await engine.signal("r", "go", 1);
  while (!release) await turn();
  let isClosed = false;
  const closing = engine.close().then(() => (isClosed = true));
  for (let n = 0; n < 20; n++) await turn();
  expect(isClosed).toBe(false);
  release();
  await closing;
});
