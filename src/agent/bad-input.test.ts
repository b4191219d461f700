import { describe, expect, it } from "vitest";
import { calls, stage } from "../../test/support/agent-stage.ts";
import { hangs } from "../../test/support/lab.ts";
import type { AgentTool } from "./index.ts";

class Account {
  readonly owner = "ada";
  readonly #balance = 7;
  get balance(): number {
    return this.#balance;
  }
}

const tool = (run: () => unknown): AgentTool => ({ name: "t", parameters: {}, effect: "repeatable", run });

/** What the model is told of a tool's result. */
async function toldOf(run: () => unknown): Promise<string> {
  const scene = stage([calls(["t"]), { text: "end" }], { tools: [tool(run)] });
  const engine = await scene.begin();
  expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
  return scene.requests[1]?.messages.at(-1)?.text ?? "";
}

describe("a tool's odd result", () => {
  it("of 100 MB is cut, as a text and inside an object", async () => {
    const large = "x".repeat(100_000_000);
    for (const result of [large, { large }]) {
      const told = await toldOf(() => result);
      expect(told.length).toBeLessThan(201_000);
      expect(told).toContain("is left out");
    }
  });

  it("that is the instance of a class, or has halves of characters, is told as text", async () => {
    expect(await toldOf(() => new Account())).toBe('{"owner":"ada"}');
    expect(await toldOf(() => "half \uD83D of it")).toBe("half \uFFFD of it");
    expect(await toldOf(() => `${"x".repeat(199_999)}😀`)).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  });
});

describe("a tool that never answers", () => {
  it("is given up after its time: the model is told of one that may be repeated, a person is asked about another", async () => {
    const waits = { timeoutMs: 1_000, retry: { attempts: 2 } };
    const read = stage([calls(["t"]), { text: "end" }], { tools: [{ ...tool(hangs), ...waits }] });
    const engine = await read.begin();
    expect(await read.lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
    expect(read.requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: expect.stringMatching("within 1000 ms"),
    });
    const pay = stage([calls(["t"])], { tools: [{ ...tool(hangs), ...waits, effect: "once" }] });
    const other = await pay.begin();
    const run = await pay.lab.drive(other.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "decision", step: "a[0]/tool:t" }]);
  });
});

describe("tools that changed between versions", () => {
  it("leave a recorded call its result, and refuse only new calls", async () => {
    const first = stage(
      [
        calls(["t", { n: 1 }]),
        async () => Promise.reject(Object.assign(new Error("no"), { retryable: false })),
      ],
      {
        tools: [tool(() => "the old result")],
      },
    );
    const engine = await first.begin();
    await first.lab.drive(engine.result("r")).catch(() => undefined);
    await first.lab.crash(engine);
    const second = stage([{}, calls(["t", { n: 2 }]), { text: "end" }], {
      tools: [{ ...tool(() => "new"), parameters: { type: "object", required: ["name"] } }],
    });
    const next = first.lab.engine([second.flow]);
    await first.lab.drive(next.resume("r"));
    expect(await first.lab.drive(next.result("r"))).toMatchObject({ output: "end" });
    expect(second.requests[0]?.messages.at(-1)?.text).toBe("the old result");
    expect(second.requests[1]?.messages.at(-1)).toMatchObject({ isError: true });
  });
});
