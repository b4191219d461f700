import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { type AgentTool, type ModelProvider, runAgent, scriptedProvider } from "./index.ts";

const never = (signal: AbortSignal, told: () => void): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => {
      told();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true });
  });

describe("a cancel that another process writes", () => {
  it.each([
    { at: "tool", compensate: false },
    { at: "tool", compensate: true },
    { at: "model", compensate: false },
    { at: "model", compensate: true },
  ])("reaches an agent's $at within 2 s (with undoing: $compensate)", async ({ at, compensate }) => {
    const lab = createLab();
    const told: number[] = [];
    const hear = () => void told.push(lab.clock.now());
    const tools: AgentTool[] = [
      {
        name: "search",
        description: "Looks something up.",
        parameters: { type: "object", properties: {} },
        effect: "repeatable",
        run: (_input, { signal }) => never(signal, hear),
      },
    ];
    const scripted = scriptedProvider({ agents: { a: [{ calls: [{ tool: "search", input: {} }] }] } });
    const silent: ModelProvider = { name: "silent", generate: ({ signal }) => never(signal, hear) };
    const provider = at === "tool" ? scripted : silent;
    const flow = workflow("flow", (ctx) => runAgent(ctx, "a", { provider, model: "m", prompt: "go", tools }));
    const engine = lab.engine([flow], { claimMs: 15_000 });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(500);
    const desk = lab.engine([], { execute: false });
    const from = lab.clock.now();
    await lab.drive(desk.cancel("r", { compensate }));
    await lab.clock.advance(10_000);
    expect(told).toHaveLength(1);
    expect((told[0] ?? Infinity) - from).toBeLessThanOrEqual(2_000);
    expect(await desk.get("r")).toMatchObject({ status: "cancelled", control: "none" });
  });
});
