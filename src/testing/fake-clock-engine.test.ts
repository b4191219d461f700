import { describe, expect, it } from "vitest";
import { createEngine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createFakeClock } from "./fake-clock.ts";

const DAY = 86_400_000;

const remind = workflow("remind", async (ctx) => {
  await ctx.sleep("a month", 30 * DAY);
  return "time is up";
});

describe("an engine on the fake clock", () => {
  it("sleeps 30 days in a few leaps (A15)", async () => {
    const clock = createFakeClock();
    const began = clock.now();
    const engine = createEngine({ store: createMemoryStore({ clock }), workflows: [remind], clock });
    const { id } = await clock.until(engine.start(remind, undefined));
    expect(await clock.until(engine.result(id))).toBe("time is up");
    expect(clock.now() - began).toBeGreaterThanOrEqual(30 * DAY);
    expect(clock.now() - began).toBeLessThan(33 * DAY);
    await clock.until(engine.close());
  });

  it("fires each timer once in a leap, in order (A15)", async () => {
    const clock = createFakeClock();
    const fired: string[] = [];
    const again = (): void => {
      fired.push("again");
      clock.setTimer(again, 1_000);
    };
    clock.setTimer(() => fired.push("late"), 5_000);
    clock.setTimer(again, 1_000);
    clock.setTimer(() => fired.push("never"), 2 * DAY);
    await clock.skip(DAY);
    expect(fired).toEqual(["again", "late"]);
  });

  it("says so when no time is enough (A15)", async () => {
    const clock = createFakeClock({ quietTurns: 1 });
    await expect(clock.until(new Promise(() => undefined))).rejects.toThrow("Ten years have passed");
  });
});
