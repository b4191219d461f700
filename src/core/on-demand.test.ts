import { describe, expect, it } from "vitest";
import { createFakeClock } from "../testing/fake-clock.ts";
import { onDemand } from "./on-demand.ts";

/** A load that a test ends by hand. */
function slowLoad<T>(part: T): { load: () => Promise<T>; end: () => void; begun: () => number } {
  let end = (): void => undefined;
  const loaded = new Promise<T>((resolve) => (end = () => resolve(part)));
  let begun = 0;
  const load = (): Promise<T> => {
    begun++;
    return loaded;
  };
  return { load, end: () => end(), begun: () => begun };
}

describe("onDemand", () => {
  it("loads a part when it is first asked for, and once", async () => {
    const { load, end, begun } = slowLoad("the part");
    const part = onDemand(load);
    expect(begun()).toBe(0);
    const asked = [part(), part()];
    end();
    expect(await Promise.all([...asked, part()])).toEqual(["the part", "the part", "the part"]);
    expect(begun()).toBe(1);
  });

  it("tries again after a load that failed", async () => {
    const loads = [() => Promise.reject(new Error("no file")), () => Promise.resolve("the part")];
    const part = onDemand(() => (loads.shift() as () => Promise<string>)());
    await expect(part()).rejects.toThrow("no file");
    expect(await part()).toBe("the part");
  });

  it("lets no time pass on a fake clock while a part is being loaded", async () => {
    const clock = createFakeClock({ start: 0 });
    const { load, end } = slowLoad("the part");
    const loaded = onDemand(load)().then(() => clock.now());
    const advanced = clock.advance(1_000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    end();
    await advanced;
    expect([await loaded, clock.now()]).toEqual([0, 1_000]);
  });
});
