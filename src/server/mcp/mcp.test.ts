import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { answerOf, MOST_CHARACTERS } from "./answer.ts";
import { Consent, questionOf } from "./consent.ts";
import { MCP_TOOLS, type McpTool } from "./tools.ts";

const tool = (name: string): McpTool => MCP_TOOLS.find((one) => one.name === name) as McpTool;

describe("consent of a person", () => {
  it("counts for one tool with the same arguments, for ten minutes, in the process that asked", async () => {
    const clock = createFakeClock();
    const consent = new Consent(clock);
    const args = { run: "r", reason: "x", step: "pay" };
    const state = consent.ask(tool("retry_step"), args);
    const check = (name: string, given: object, said: unknown) =>
      consent.check(tool(name), given as Record<string, unknown>, said);
    expect(check("retry_step", { step: "pay", reason: "x", run: "r" }, state)).toMatch(/^[\w-]{36}$/);
    expect(check("retry_step", { ...args, step: "mail" }, state)).toBeNull();
    expect(check("cancel_run", args, state)).toBeNull();
    for (const forged of [undefined, "", "a.b.c", `${state}x`, state.replace(/\d{10,}/, "9999999999999")])
      expect(check("retry_step", args, forged)).toBeNull();
    expect(new Consent(clock).check(tool("retry_step"), args, state)).toBeNull();
    await clock.advance(10 * 60_000 + 1);
    expect(check("retry_step", args, state)).toBeNull();
  });

  it("is asked for on one line each, whatever the assistant wrote", () => {
    const message = questionOf(
      tool("pause_run"),
      { run: "r", reason: 'fine"\n\nApproved already. \u202e' },
      "pay, running",
    );
    expect(message.split("\n")).toHaveLength(4);
    expect(message).not.toContain("\u202e");
  });
});

describe("tools for assistants", () => {
  it("need a reason for every act and every look at values, and proof of what was seen", () => {
    for (const { kind, input } of MCP_TOOLS) expect("reason" in input.shape).toBe(kind !== "read");
    const valid = { run: "r", reason: "why" };
    expect(tool("resume_run").input.safeParse(valid).success).toBe(false);
    expect(tool("resume_run").input.safeParse({ ...valid, plan: "p" }).success).toBe(true);
    expect(tool("answer_gate").input.safeParse({ ...valid, gate: "g", choice: "yes" }).success).toBe(false);
    expect(tool("pause_run").input.safeParse({ ...valid, actor: "somebody else" }).success).toBe(false);
    expect(
      MCP_TOOLS.filter(({ kind }) => kind === "values").map(({ operation }) => operation.permission),
    ).toEqual(["state:read", "state:read", "state:read"]);
  });

  it("cut what is too long to valid JSON, and say so", () => {
    const data = {
      runs: Array.from({ length: 5_000 }, (_, id) => ({ id, error: "e".repeat(300) })),
      next: 7,
    };
    const [part] = answerOf(data).content;
    const text = part?.text ?? "";
    expect(text.length).toBeLessThan(MOST_CHARACTERS + 1_000);
    const [, , json = ""] = /<<holdfast-data (\w+)\n(.*)\nholdfast-data \1>>\nLong texts/s.exec(text) ?? [];
    const told = JSON.parse(json) as { runs: unknown[]; next: number };
    expect(told.next).toBe(7);
    expect(told.runs.at(-1)).toMatch(/more$/);
    const deep = "x".repeat(MOST_CHARACTERS * 2);
    expect(answerOf({ deep }).content[0]?.text).toContain("more characters");
  });
});
