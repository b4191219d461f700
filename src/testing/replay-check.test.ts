import { describe, expect, it } from "vitest";
import { careful, careless } from "../../test/support/outside-steps.ts";
import { createEngine, type Workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { checkReplay } from "./replay-check.ts";

async function checked(flow: Workflow<never, unknown>): Promise<readonly string[]> {
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
  const run = await engine.start(flow, undefined as never, { id: "r" });
  await run.settled();
  const before = [Date, Date.now, Math.random, fetch, setTimeout];
  const { ok, problems } = await checkReplay(engine, "r");
  expect([Date, Date.now, Math.random, fetch, setTimeout]).toEqual(before);
  expect(ok).toBe(problems.length === 0);
  await engine.close();
  return problems;
}

describe("a replay check", () => {
  it("names what the function uses outside of steps, with the place", async () => {
    const problems = await checked(careless);
    for (const what of ["Date.now", "new Date\\(\\)", "Math.random"])
      expect(problems).toContainEqual(
        expect.stringMatching(
          new RegExp(`^The function uses ${what} at .*outside-steps\\.ts:\\d+ outside of steps\\.$`),
        ),
      );
    expect(problems).toContainEqual(expect.stringMatching(/^Recorded steps aren't asked for: load \d+/));
    expect(problems).toContainEqual(
      expect.stringMatching(/^Two replays differ in the place where it stops: /),
    );
  });

  it("is content with a function that takes time and chance from ctx", async () => {
    expect(await checked(careful)).toEqual([]);
  });
});
