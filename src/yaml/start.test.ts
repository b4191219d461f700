import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { fromText } from "../../test/support/yaml.ts";
import { type StartOptions, workflow } from "../index.ts";

const text = (start: string, more = "") => `workflow:
  name: w
  entry_point: a
  input: { customer: { type: string }, urgent: { type: boolean, default: false } }
  start: ${start}
  ${more}
agents:
  - { name: a, type: set, value: "{{ workflow.input.customer }}" }
`;

const IN_QUEUE = '{ queue: mail, key: "c-{{ workflow.input.customer }}", priority: 7 }';

/** Starts a run of the file, and returns its row. */
async function started(start: string, options: StartOptions = {}) {
  const lab = createLab();
  const { workflow, parseInputs } = await fromText(text(start));
  const engine = lab.engine([workflow]);
  const run = await lab.drive(engine.start(workflow, parseInputs({ customer: "ada" }), options));
  const row = await engine.get(run.id);
  await lab.drive(run.result());
  await lab.crash(engine);
  return row;
}

describe("what a workflow file says of its starts", () => {
  it("puts runs into the queue, with the key that their input gives", async () => {
    expect(await started(IN_QUEUE)).toMatchObject({ queue: "mail", key: "c-ada", priority: 7 });
    expect(await started("{ priority: -3 }")).toMatchObject({ queue: null, key: null, priority: -3 });
  });

  it("counts where the caller says nothing", async () => {
    const row = await started(IN_QUEUE, { queue: "bulk", priority: 0 });
    expect(row).toMatchObject({ queue: "bulk", key: "c-ada", priority: 0 });
  });

  it("joins runs of a key, or refuses them, unless the caller decides that", async () => {
    const lab = createLab();
    const joining = await fromText(text('{ key: "{{ workflow.input.customer }}", singleton: join }'));
    const engine = lab.engine([joining.workflow], { execute: false });
    const start = async (customer: string, options: StartOptions = {}) =>
      (await lab.drive(engine.start(joining.workflow, { customer }, options))).id;
    const first = await start("ada");
    expect(await start("ada")).toBe(first);
    expect(await start("bob")).not.toBe(first);
    await expect(start("ada", { singleton: "refuse" })).rejects.toMatchObject({ code: "HF-5060" });
    await lab.crash(engine);
  });

  it("postpones a run while others of its key come, but not one with a time of its own", async () => {
    const lab = createLab();
    const { workflow } = await fromText(text('{ key: "{{ workflow.input.customer }}", debounce: 5s }'));
    const engine = lab.engine([workflow], { execute: false });
    const input = { customer: "ada" };
    const { id } = await lab.drive(engine.start(workflow, input));
    await lab.clock.advance(4_000);
    const since = lab.clock.now();
    expect((await lab.drive(engine.start(workflow, { ...input, urgent: true }))).id).toBe(id);
    expect((await engine.get(id))?.wakeAt).toBeGreaterThanOrEqual(since + 5_000);
    const startAt = lab.clock.now() + 60_000;
    const other = await lab.drive(engine.start(workflow, input, { startAt }));
    expect((await engine.get(other.id))?.wakeAt).toBe(startAt);
    await lab.crash(engine);
  });

  it("holds for runs of its schedule and for children, which join no other run", async () => {
    const lab = createLab();
    const start = '{ queue: mail, key: "{{ workflow.input.customer }}", singleton: refuse }';
    const file = await fromText(
      text(start, "schedule: { every: 60s, overlap: allow, input: { customer: bob } }"),
    );
    const above = workflow("above", (ctx) => ctx.child("below", file.workflow, { customer: "ada" }));
    const engine = lab.engine([above, file.workflow], { execute: true });
    await lab.drive(engine.start(file.workflow, { customer: "ada" }, { startAt: 1e15 }));
    await lab.drive(engine.start(above, undefined, { queue: "bulk" }).then((run) => run.result()));
    await lab.drive(engine.work());
    await lab.clock.advance(120_000);
    const { runs } = await engine.list({ workflow: "w" });
    const told = runs.map(({ key, parent, queue }) => [key, parent?.runId !== undefined, queue]);
    expect(told.filter(([, isChild]) => isChild)).toEqual([["ada", true, "mail"]]);
    expect(told.filter(([key]) => key === "bob")).toEqual([
      ["bob", false, "mail"],
      ["bob", false, "mail"],
    ]);
    await lab.crash(engine);
  });

  it("refuses inputs that give no key, and creates nothing", async () => {
    const lab = createLab();
    const { workflow } = await fromText(text(IN_QUEUE.replace("c-", "")));
    const engine = lab.engine([workflow], { execute: false });
    await expect(engine.start(workflow, {})).rejects.toMatchObject({ code: "HF-4004" });
    await expect(engine.start(workflow, { customer: " " })).rejects.toMatchObject({ code: "HF-1050" });
    expect((await engine.list()).runs).toEqual([]);
    await lab.crash(engine);
  });

  it.each([
    ["{ singleton: join }", "it goes by key, and none is given"],
    ["{ key: a, singleton: join, debounce: 5s }", "it can't be combined with singleton"],
    ["{ key: a, singleton: sometimes }", "singleton"],
    ["{ key: a, debounce: soon }", "a duration such as 500ms"],
    ["{ priority: 101 }", "priority"],
    ['{ queue: "" }', "queue"],
    ['{ key: "{{ a.output }}" }', "asks for a"],
    ['{ key: "{{ workflow.input.costumer }}" }', "Did you mean customer?"],
    ["{ queues: mail }", "queues"],
  ])("is checked with the file: %s", async (start, problem) => {
    await expect(fromText(text(start))).rejects.toThrow(problem);
  });
});
