import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { fromText } from "../../test/support/yaml.ts";

const text = (schedule: string) => `workflow:
  name: w
  entry_point: a
  input: { topic: { type: string } }
  schedule: ${schedule}
agents:
  - { name: a, prompt: "About {{ workflow.input.topic }}" }
`;

describe("the schedule of a workflow file", () => {
  it("starts runs of the file", async () => {
    const lab = createLab();
    const { workflow } = await fromText(text("{ every: 60s, overlap: allow, input: { topic: tides } }"));
    expect(workflow.schedule).toEqual({ everyMs: 60_000, overlap: "allow", input: { topic: "tides" } });
    const engine = lab.engine([workflow]);
    await lab.drive(engine.work());
    await lab.clock.advance(2 * 60_000);
    expect((await engine.schedules.get("w"))?.counts.started).toBe(2);
    await lab.crash(engine);
  });

  it.each([
    ['{ cron: "61 * * * *" }', "is not a valid cron line"],
    ['{ cron: "* * * * *", every: 60s }', "exactly one of cron, everyMs and at"],
    ['{ cron: "* * * * *", timezone: Mars }', "is not a known time zone"],
    ["{ every: soon }", "a duration such as 500ms"],
    ["{ every: 60s, often: true }", "often"],
  ])("is checked with the file: %s", async (schedule, problem) => {
    await expect(fromText(text(schedule), {})).rejects.toThrow(problem);
  });
});
