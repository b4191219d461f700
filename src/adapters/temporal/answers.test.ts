import { describe, expect, it, vi } from "vitest";
import { Answers } from "./answers.ts";

describe("an answer of a sandbox", () => {
  it("is taken from a sandbox in this process, once that has shown that it is here", async () => {
    const answers = new Answers();
    const send = async (number: string) => answers.told("r", number, { ok: true });
    expect(await answers.to("r", "1", async () => undefined)).toBeUndefined();
    expect(await answers.to("r", "2", () => send("2"))).toEqual({ ok: true });
    expect(await answers.to("other", "3", async () => undefined)).toBeUndefined();
  });

  it("counts only when its message has been taken", async () => {
    const answers = new Answers();
    answers.here("r");
    const refused = answers.to("r", "1", async () => {
      answers.told("r", "1", { ok: true });
      throw new Error("the server is away");
    });
    await expect(refused).rejects.toThrow("away");
  });

  it("has to be asked for when the sandbox has moved, and is waited for once", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const answers = new Answers();
      answers.here("r");
      const late = answers.to("r", "1", async () => undefined);
      await vi.advanceTimersByTimeAsync(500);
      expect(await late).toBeUndefined();
      expect(await answers.to("r", "2", async () => undefined)).toBeUndefined();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
