import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { silentLogger } from "../logger.ts";
import { Emitter } from "./emitter.ts";
import type { EngineEvent } from "./event-types.ts";

const hello = workflow("hello", (ctx, name: string) => ctx.step("greet", () => `Hello ${name}`));
const event = (n: number): EngineEvent => ({ type: "store_failing", at: n, error: n });

async function rest(events: AsyncIterable<EngineEvent>): Promise<EngineEvent[]> {
  const found: EngineEvent[] = [];
  for await (const one of events) found.push(one);
  return found;
}

describe("engine.events()", () => {
  it("gives what has happened since it was called, also before anybody reads (E11)", async () => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    const events = engine.events();
    await lab.drive(engine.start(hello, "Ada", { id: "r" }));
    await lab.drive(engine.result("r"));
    await lab.drive(engine.close());
    const types = (await rest(events)).map(({ type }) => type);
    expect(types[0]).toBe("run_created");
    expect(types).toContain("step_completed");
    expect(types.at(-1)).toBe("run_completed");
  });

  it("keeps the newest events for a slow reader, and says how many it has missed (E11)", async () => {
    const emitter = new Emitter(silentLogger);
    const events = emitter.stream({ most: 3 });
    for (let n = 1; n <= 20; n++) emitter.emit(event(n));
    emitter.close();
    const [missed, ...kept] = await rest(events);
    expect(missed).toEqual({ type: "events_missed", at: 18, count: 17 });
    expect(kept).toEqual([event(18), event(19), event(20)]);
  });

  it("lets go of a reader that stops, whether it has begun or not (E11)", async () => {
    const emitter = new Emitter(silentLogger);
    for (const begun of [false, true]) {
      const events = emitter.stream();
      emitter.emit(event(1));
      if (begun) await events.next();
      await events.return();
      emitter.emit(event(2));
      expect(await events.next()).toEqual({ done: true, value: undefined });
    }
    expect(emitter.readers).toBe(0);
  });

  it("ends for a reader that waits when the engine is closed (E11)", async () => {
    const emitter = new Emitter(silentLogger);
    const waiting = emitter.stream().next();
    emitter.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await rest(emitter.stream())).toEqual([]);
    expect(emitter.readers).toBe(0);
  });

  it("refuses a bound that is none (E11)", () => {
    const { events } = { events: createLab().engine([hello]) };
    for (const most of [0, -1, 1.5, Number.NaN])
      expect(() => events.events({ most })).toThrow(expect.objectContaining({ code: "HF-1003" }));
  });
});

describe("engine.on()", () => {
  it("refuses an event that does not exist, and names the one that was meant (E18)", () => {
    const engine = createLab().engine([hello]);
    // @ts-expect-error there is no such event
    expect(() => engine.on("run_complete", () => undefined)).toThrow(/Did you mean run_completed\?/);
    // @ts-expect-error a listener is a function
    expect(() => engine.on("run_completed", "log")).toThrow(expect.objectContaining({ code: "HF-1003" }));
  });
});
