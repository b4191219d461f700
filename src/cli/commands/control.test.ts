import { describe, expect, it } from "vitest";
import { FLOWS, hooks, useFlows } from "../../../test/support/cli-flows.ts";

const folder = useFlows();

const start = (id: string, flow = "greet -i name=Ada") =>
  folder.run(`run flows.mjs#${flow} --id ${id} --detach`);

describe("holdfast pause", () => {
  it("is heard by the process that has the run, and never claims more than is true", async () => {
    const hold = hooks.hold("look up");
    const first = folder.run("run flows.mjs#greet -i name=Ada --id p1");
    await hold.begun;
    const { code, stdout } = await folder.run(["pause", "p1", "--reason", "lunch"]);
    expect([code, stdout]).toEqual([0, "‖ pausing: finishing look up; it pauses after that\n"]);
    hold.release();
    expect((await first).code).toBe(75);
    expect(hooks.calls).toEqual(["look up"]);
    expect((await folder.run("pause p1")).stdout).toMatch(
      /^‖ Paused at #\d+ · resume: holdfast resume p1\n$/,
    );
  });

  it("reaches every run of a workflow", async () => {
    await start("p2");
    await start("p3");
    expect((await folder.run("pause --workflow greet")).stdout).toBe("2 runs paused\n");
    expect((await folder.run("pause --workflow greet --json")).json()).toMatchObject({
      done: [],
      refused: [],
    });
    expect((await folder.run("pause")).code).toBe(2);
  });

  it("needs a reason once an operator is configured, and records both", async () => {
    await start("p4");
    const env = { HOLDFAST_ACTOR: "ada" };
    const { code, stderr } = await folder.run("pause p4", { env });
    expect([code, stderr]).toEqual([8, expect.stringContaining("pause needs a reason.")]);
    expect((await folder.run(["pause", "p4", "--reason", "audit"], { env })).code).toBe(0);
    const { json } = await folder.run("pause p4 --json --as bob --reason x");
    expect(json()).toMatchObject({ headline: "paused by ada: audit" });
    folder.write("holdfast.config.json", JSON.stringify({ actor: "ada", require_reason: false }));
    expect((await folder.run("pause p4")).code).toBe(0);
  });
});

describe("holdfast cancel", () => {
  it("ends a run for good, wherever it is", async () => {
    await start("c1");
    expect((await folder.run("cancel c1")).stdout).toBe("✗ c1 is cancelled; its checkpoints are kept\n");
    expect((await folder.run("resume c1")).code).toBe(8);
  });

  it("undoes what was done with --compensate, and that is a success (C5)", async () => {
    hooks.fail = "broken";
    await folder.run("run flows.mjs#fragile --id c2");
    const { code, stderr } = await folder.run("cancel c2 --compensate");
    expect([code, stderr]).toEqual([0, expect.stringContaining("✓ c2 is cancelled · 1 step undone")]);
    expect(hooks.calls).toEqual(["prepare", "ask", "undo prepare"]);
    expect((await folder.until("c2", () => true)).status).toBe("cancelled");
  });

  it("asks before it cancels many, says how many, and cannot be talked into it by a script without --yes", async () => {
    await start("c3");
    await start("c4");
    const script = await folder.run("cancel --workflow greet");
    expect([script.code, script.stderr]).toEqual([
      8,
      expect.stringContaining("cancel was not confirmed: 2 runs of greet"),
    ]);
    expect((await folder.run("cancel --workflow greet", { answers: ["n"] })).code).toBe(8);
    expect((await folder.run("cancel --workflow greet", { answers: ["y"] })).stdout).toBe(
      "2 runs cancelled\n",
    );
  });
});

describe("holdfast retry", () => {
  it("calls a failed step again and goes on", async () => {
    hooks.fail = "broken";
    hooks.retryAfterMs = undefined;
    await folder.run("run flows.mjs#fragile --id t1");
    hooks.fail = undefined;
    const { code, stdout } = await folder.run("retry t1:ask");
    expect([code, stdout]).toEqual([0, "asked\n"]);
    expect(hooks.calls).toEqual(["prepare", "ask", "ask"]);
  });

  it("refuses a step that has its result, a run that has completed, and a step that does not exist", async () => {
    hooks.fail = "broken";
    await folder.run("run flows.mjs#fragile --id t2");
    const { code, stderr } = await folder.run("retry t2:prepare");
    expect([code, stderr]).toEqual([8, expect.stringContaining("It already has a result.")]);
    const gone = await folder.run("run flows.mjs#greet -i name=Ada --id t3");
    folder.write("flows.mjs", "");
    const late = await folder.run("retry t3:compose");
    folder.write("flows.mjs", FLOWS);
    expect([gone.code, late.code, late.stderr]).toEqual([0, 8, expect.stringContaining("HF-1007")]);
    expect((await folder.run("retry t2:nothing")).code).toBe(4);
    expect((await folder.run("retry t2")).code).toBe(2);
  });
});

describe("holdfast inject", () => {
  it("gives a run context and other values, and the run finds them", async () => {
    await start("i1", "listens");
    expect((await folder.run(["inject", "i1", "--text", "first"])).stdout).toContain("✓ recorded for i1");
    folder.write("note.txt", "second");
    await folder.run("inject i1 --file note.txt");
    await folder.run(["inject", "i1", "--set", "memory.note=7"]);
    expect(JSON.parse((await folder.run("resume i1")).stdout)).toEqual({
      inbox: ["first", "second"],
      memory: 7,
    });
    expect((await folder.run("inject i1")).code).toBe(2);
  });

  it("reaches the runs below a run, and every run of a workflow", async () => {
    for (const id of ["i2", "i3"]) await start(id, "listens");
    expect((await folder.run(["inject", "--workflow", "listens", "--text", "all"])).stdout).toBe(
      "2 runs told\n",
    );
    expect(JSON.parse((await folder.run("resume i2")).stdout)).toMatchObject({ inbox: ["all"] });
    expect((await folder.run(["inject", "--text", "x"])).code).toBe(2);
    expect((await folder.run(["inject", "i3", "--children", "--set", "memory.a=1"])).code).toBe(2);
    folder.write("kin.mjs", KIN);
    const hold = hooks.hold("below");
    const first = folder.run("run kin.mjs#top --id kin");
    await hold.begun;
    expect((await folder.run(["inject", "kin", "--text", "below", "--children"])).code).toBe(0);
    expect((await folder.run("pause kin")).stdout).toContain("not paused yet below it: ");
    hold.release();
    expect((await first).code).toBe(75);
    expect(JSON.parse((await folder.run("resume kin")).stdout)).toEqual(["below"]);
    expect(hooks.calls.filter((call) => call === "below")).toHaveLength(1);
  });
});

/** A run whose child does something, then says what it was given. */
const KIN = `
const plain = (name, body) => ({ name, version: "1", schema: 1, migrations: [], compensateOnFailure: false, body });
export const low = plain("low", async (ctx) => {
  await ctx.step("below", () => globalThis.holdfastTestHooks.call("below"));
  await ctx.step("then", () => 1);
  return (await ctx.inbox()).map(({ payload }) => payload);
});
export const top = plain("top", (ctx) => ctx.child("below", low, {}));
`;

describe("holdfast signal", () => {
  it("sends the message that a run waits for, once under one id", async () => {
    folder.write("waits.mjs", WAITS);
    expect((await folder.run("run waits.mjs#waits --id s1")).code).toBe(75);
    const refused = await folder.run(["signal", "s1", "paid", "--data", "forty"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("isn't JSON")]);
    const line = ["signal", "s1", "paid", "--data", '{"amount":40}', "--id", "hook-1", "--json"];
    expect((await folder.run(line)).json()).toMatchObject({ run: "s1", signal: "paid" });
    expect((await folder.run(line)).code).toBe(0);
    expect((await folder.run("logs s1 --jsonl")).stdout.match(/"type":"signal_received"/g)).toHaveLength(1);
    expect((await folder.run("resume s1 --json")).json()).toMatchObject({ result: { amount: 40 } });
  });
});

const WAITS = `
export const waits = {
  name: "waits", version: "1", schema: 1, migrations: [], compensateOnFailure: false,
  body: async (ctx) => (await ctx.signal("paid")).payload,
};
`;
