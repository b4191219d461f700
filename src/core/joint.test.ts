import { describe, expect, it } from "vitest";
import { Joint } from "./joint.ts";

/** A question whose answers come when they are given. */
function question() {
  const answers: { readonly resolve: (value: number) => void; readonly reject: (error: Error) => void }[] =
    [];
  const joint = new Joint(() => new Promise<number>((resolve, reject) => answers.push({ resolve, reject })));
  return { joint, answers };
}

describe("a question that many ask at once", () => {
  it("is asked once for all who come while an answer is on its way, after that answer", async () => {
    const { joint, answers } = question();
    const first = joint.ask();
    const others = Array.from({ length: 100 }, () => joint.ask());
    expect(answers).toHaveLength(1);
    answers[0]?.resolve(1);
    expect(await first).toBe(1);
    expect(answers).toHaveLength(2);
    const late = joint.ask();
    answers[1]?.resolve(2);
    expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
    answers[2]?.resolve(3);
    expect(await late).toBe(3);
    expect(answers).toHaveLength(3);
  });

  it("is asked anew by who comes after the answer", async () => {
    const { joint, answers } = question();
    const first = joint.ask();
    answers[0]?.resolve(1);
    await first;
    const second = joint.ask();
    answers[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it("fails only those who asked before it was asked", async () => {
    const { joint, answers } = question();
    const first = joint.ask();
    const other = joint.ask();
    answers[0]?.reject(new Error("no answer"));
    await expect(first).rejects.toThrow("no answer");
    answers[1]?.resolve(2);
    expect(await other).toBe(2);
  });
});
