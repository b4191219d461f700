import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Context, HoldfastError, workflow } from "../../index.ts";

const noCalls = (): never => {
  throw new Error("was called");
};

/** The refusal of what the body does, as "option: problem", and the number of events after the claim. */
async function refusal(body: (ctx: Context) => unknown): Promise<string> {
  const lab = createLab();
  let told = "was taken";
  const flow = workflow("flow", async (ctx) => {
    try {
      await body(ctx);
    } catch (error) {
      if (HoldfastError.is(error, "HF-1003")) told = `${error.detail["option"]}: ${error.detail["problem"]}`;
      else throw error;
    }
  });
  const engine = lab.engine([flow]);
  const run = await lab.drive(engine.start(flow, undefined));
  const { status } = await lab.drive(run.settled());
  expect(status).toBe("completed");
  return told;
}

const child = workflow("child", async () => 1);
const never = (value: unknown): never => value as never;

describe("ctx refuses a mistake before anything is called", () => {
  it.each<readonly [string, (ctx: Context) => unknown, string | RegExp]>([
    [
      "an option with a typo",
      (ctx) => ctx.step("s", noCalls, never({ retires: 3 })),
      "retires: there is no such option (did you mean retry?)",
    ],
    ["an unknown effect", (ctx) => ctx.step("s", noCalls, never({ effect: "onse" })), /^effect: it must be/],
    ["a time as text", (ctx) => ctx.step("s", noCalls, never({ timeoutMs: "5s" })), /^timeoutMs: /],
    ["a hook that is no function", (ctx) => ctx.step("s", noCalls, never({ verify: true })), /^verify: /],
    [
      "a typo in an undo",
      (ctx) => ctx.step("s", noCalls, never({ compensate: { undoo: 1 } })),
      /^compensate\.undoo/,
    ],
    [
      "a typo in a rate limit",
      (ctx) => ctx.step("s", noCalls, never({ limit: { nam: "x" } })),
      /^limit\.nam: /,
    ],
    ["options of beginStep", (ctx) => ctx.beginStep("s", never({ efect: "once" })), /^efect: /],
    [
      "a gate without choices",
      (ctx) => (ctx.gate as (name: string) => unknown)("ok?"),
      'options: they must be an object with the gate\'s choices: { choices: ["approve", "reject"] }',
    ],
    ["options of a group", (ctx) => ctx.each("e", [1], noCalls, never({ concurency: 2 })), /^concurency: /],
    [
      "a way to fail that there isn't",
      (ctx) => ctx.all("a", [noCalls], never({ failure: "ignore" })),
      /^failure: /,
    ],
    ["a quorum that wouldn't count", (ctx) => ctx.all("a", [noCalls], never({ quorum: 1 })), /^quorum: /],
    ["options of a loop", (ctx) => ctx.loop("l", {}, noCalls, never({ max: 2 })), /^max: /],
    ["options of a signal", (ctx) => ctx.signal("go", never({ timeout: 2 })), /^timeout: /],
    [
      "options of a transaction",
      (ctx) => ctx.transaction("t", noCalls, never({ effect: "once" })),
      /^effect: /,
    ],
    [
      "a value instead of a function",
      (ctx) => ctx.step("s", never(5)),
      "work: it must be a function, such as () => call()",
    ],
    [
      "a set instead of a list",
      (ctx) => ctx.each("e", never(new Set([1])), noCalls),
      /^items: it must be a list/,
    ],
    ["a loop whose state is no object", (ctx) => ctx.loop("l", never(0), noCalls), /^initial: /],
    ["options of a child", (ctx) => ctx.child("c", child, undefined, never({ lables: {} })), /^lables: /],
    ["a provider's own usage", (ctx) => ctx.usage(never({ inputTokens: 5 })), /^usage\.inputTokens: /],
    ["a decision that is a text", (ctx) => ctx.decide(never("yes")), /^decision: /],
    [
      "a decision without its description",
      (ctx) => ctx.decide(never({ what: "x" })),
      /^decision\.description: /,
    ],
    ["an agent's state as a text", (ctx) => ctx.agent("a", never("busy")), /^state: /],
    ["a plan that is no list", (ctx) => ctx.plan(never("load")), /^steps: /],
  ])("%s", async (_, body, expected) => {
    expect(await refusal(body)).toMatch(expected);
  });

  it("says what a promise in place of a function means, and doesn't leave it without a handler", async () => {
    const said = "it is a promise, so its call was already made. Pass a function: () => call()";
    const call = (): never => never(Promise.reject(new Error("nobody awaits it")));
    expect(await refusal((ctx) => ctx.step("s", call()))).toBe(`work: ${said}`);
    expect(await refusal((ctx) => ctx.all("a", [call()]))).toBe(`branch 0: ${said}`);
  });

  it("takes options that are there and undefined", async () => {
    const options = { effect: undefined, retry: undefined, timeoutMs: undefined, limit: undefined };
    expect(await refusal((ctx) => ctx.step("s", () => 1, never(options)))).toBe("was taken");
  });
});
