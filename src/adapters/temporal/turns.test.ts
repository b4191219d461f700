import { describe, expect, it, vi } from "vitest";
import { signalled } from "../../../test/support/lab.ts";
import { Turns } from "./turns.ts";

/** So many requests, each of which is answered when the test says so. */
function requests(turns: Turns, count: number) {
  const sent: number[] = [];
  const answers = Array.from({ length: count }, () => signalled());
  const ended = answers.map(({ promise }, n) =>
    turns.take(async () => {
      sent.push(n);
      await promise;
      return n;
    }),
  );
  return { sent, answers, ended };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("requests to Temporal", () => {
  it("go a few at a time, in the order in which they came", async () => {
    const { sent, answers, ended } = requests(new Turns(), 100);
    expect(sent).toEqual(upTo(12));
    answers[5]?.resolve();
    await ended[5];
    expect(sent).toEqual(upTo(13));
    for (const { resolve } of answers) resolve();
    expect(await Promise.all(ended)).toEqual(upTo(100));
    expect(sent).toEqual(upTo(100));
  });

  it("are waited for before their connection is closed, whatever comes of them", async () => {
    const turns = new Turns();
    const { answers, ended } = requests(turns, 2);
    let isSettled = false;
    const settled = turns.settled().then(() => (isSettled = true));
    answers[0]?.resolve();
    await ended[0];
    expect(isSettled).toBe(false);
    answers[1]?.reject(new Error("no"));
    await expect(ended[1]).rejects.toThrow("no");
    await settled;
    await turns.settled();
  });

  it("aren't held up by others that fail, or that nobody answers", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const turns = new Turns();
      const { sent, answers, ended } = requests(turns, 30);
      vi.advanceTimersByTime(999);
      await Promise.resolve();
      expect(sent).toEqual(upTo(12));
      vi.advanceTimersByTime(1);
      await vi.waitUntil(() => sent.length === 24);
      answers[23]?.reject(new Error("no"));
      await expect(ended[23]).rejects.toThrow("no");
      expect(sent).toEqual(upTo(25));
      for (const { resolve } of answers) resolve();
      await Promise.allSettled(ended);
      expect(sent).toEqual(upTo(30));
    } finally {
      vi.useRealTimers();
    }
  });
});
