import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { fromText } from "../../../test/support/yaml.ts";
import type { ModelProvider } from "../../agent/model.ts";
import { scriptedProvider } from "../../agent/scripted.ts";
import type { Engine, Run } from "../../index.ts";
import type { YamlWorkflow } from "../index.ts";

const agent = (name: string, prompt: string, to = "$end", more = ""): string =>
  `  - name: ${name}\n    prompt: ${JSON.stringify(prompt)}\n${more}    routes: [{ to: ${to} }]\n`;
const field = (name: string, type = "string"): string => `    output: { ${name}: { type: ${type} } }\n`;
const flow = (entry: string, agents: string, rest = "", settings = ""): string =>
  `workflow:\n  name: w\n  entry_point: ${entry}\n${settings}agents:\n${agents}${rest}`;

async function begin(
  lab: Lab,
  { workflow }: YamlWorkflow,
  input: object = {},
): Promise<{ engine: Engine; run: Run }> {
  const engine = lab.engine([workflow]);
  await lab.drive(engine.start(workflow, input as never, { id: "r" }));
  return { engine, run: await lab.drive(engine.settled("r")) };
}

/** A provider that never answers one agent, so that a crash interrupts it. */
function stuckAt(name: string, calls: string[]): ModelProvider {
  const scripted = scriptedProvider({});
  return {
    name: "scripted",
    generate(request) {
      calls.push(request.agent);
      return request.agent === name ? hangs() : scripted.generate(request);
    },
  };
}

/** Runs the workflow until one of its agents hangs, crashes, and resumes with a provider that answers. */
async function crashAt(
  name: string,
  text: string,
  input: object = {},
): Promise<{ before: string[]; after: readonly string[]; run: Run; engine: Engine; lab: Lab }> {
  const lab = createLab();
  const before: string[] = [];
  const first = await fromText(text, {}, { providers: { model: stuckAt(name, before) } });
  const engine = lab.engine([first.workflow]);
  await lab.drive(engine.start(first.workflow, input as never, { id: "r" }));
  await lab.clock.advance(50);
  expect(before).toContain(name);
  const second = await fromText(text);
  const next = await lab.afterCrash(engine, [second.workflow], "r");
  return { before, after: second.calls, run: next.run, engine: next.engine, lab };
}

describe("agents of models", () => {
  it("hand their outputs on, take routes by them, and report how far the run is", async () => {
    const lab = createLab();
    const text = flow(
      "a",
      agent("a", "About {{ workflow.input.topic }}", "b", field("points", "array")) +
        `  - name: b\n    prompt: "{{ a.output.points | join('+') }}"\n    output: { score: { type: number } }\n` +
        `    routes: [{ to: c, when: "score > 5" }, { to: $end, output: { low: "true" } }]\n` +
        agent("c", "{{ b.output.score }}"),
      'output: { points: "{{ a.output.points }}", last: "{{ c.output.result | default(\'none\') }}" }\n',
      "  input: { topic: { type: string } }\n",
    );
    const loaded = await fromText(text, {
      agents: { a: [{ json: { points: ["x", "y"] } }], b: [{ json: { score: 9 } }], c: [{ text: "fin" }] },
    });
    const { engine, run } = await begin(lab, loaded, { topic: "bolts" });
    expect(run.status).toBe("completed");
    expect(await lab.drive(engine.result("r"))).toEqual({ points: ["x", "y"], last: "fin" });
    expect((await lab.drive(engine.checkpoints.show("r"))).progress.text).toBe("3 of 3");
  });

  it("are not asked again after a crash", async () => {
    const text = flow("a", agent("a", "1", "b") + agent("b", "2", "c") + agent("c", "3"));
    const { before, after, run } = await crashAt("b", text);
    expect(before).toEqual(["a", "b"]);
    expect(after).toEqual(["b", "c"]);
    expect(run.status).toBe("completed");
  });

  it("are re-asked once when the validator finds something, and neither is asked again after a crash", async () => {
    const text = flow(
      "a",
      agent("a", "1", "z", "    validator: { criteria: must be good }\n") + agent("z", "2"),
    );
    const lab = createLab();
    const verdicts = [{ json: { passed: false, issues: ["too short"] } }];
    const loaded = await fromText(text, {
      agents: { "a (validator)": verdicts, a: [{ text: "bad" }, { when: "too short", text: "good" }] },
    });
    const { engine } = await begin(lab, loaded);
    expect(loaded.calls).toEqual(["a", "a (validator)", "a", "z"]);
    expect((await lab.drive(engine.checkpoints.show("r"))).decisions).toMatchObject([
      { type: "validation", rationale: "too short" },
    ]);
    const { before, after } = await crashAt("z", text);
    expect(before).toEqual(["a", "a (validator)", "z"]);
    expect(after).toEqual(["z"]);
  });

  it("see only what the context mode and their inputs allow", async () => {
    const agents =
      agent("a", "1", "b") +
      agent("b", "2", "c") +
      agent(
        "c",
        "{{ a is defined }} {{ b is defined }} {{ workflow.input.x is defined }}",
        "$end",
        "    input: [a.output]\n",
      );
    const seen = async (mode: string): Promise<string> => {
      const prompts: string[] = [];
      const scripted = scriptedProvider({});
      const model: ModelProvider = {
        name: "m",
        generate(request) {
          if (request.agent === "c") prompts.push(request.messages[0]?.text ?? "");
          return scripted.generate(request);
        },
      };
      const loaded = await fromText(
        flow("a", agents, "", `  context: { mode: ${mode} }\n  input: { x: { type: number } }\n`),
        {},
        { providers: { model } },
      );
      expect((await begin(createLab(), loaded, { x: 1 })).run.status).toBe("completed");
      return prompts.join();
    };
    expect(await seen("accumulate")).toBe("True True True");
    expect(await seen("last_only")).toBe("False True True");
    expect(await seen("explicit")).toBe("True False False");
  });

  it("fail a run that can be resumed, and only what failed is done again (S3-02, S3-24)", async () => {
    const lab = createLab();
    const text = flow(
      "a",
      agent("a", "1", "b") + agent("b", "2", "$end", "    retry: { max_attempts: 1 }\n"),
    );
    const broken = await fromText(text, { agents: { b: [{ error: { status: 500 } }] } });
    const { engine, run } = await begin(lab, broken);
    expect(run.status).toBe("failed");
    await lab.crash(engine);
    const mended = await fromText(text);
    const next = lab.engine([mended.workflow]);
    await lab.drive(next.resume("r"));
    expect((await lab.drive(next.settled("r"))).status).toBe("completed");
    expect(mended.calls).toEqual(["b"]);
  });
});

describe("groups", () => {
  const members = "  - { name: p, prompt: one }\n  - { name: q, prompt: two }\n";
  const parallel = (mode: string): string =>
    flow(
      "g",
      members + agent("s", "{{ g.outputs | length }} {{ g.errors | length }}"),
      `parallel:\n  - { name: g, agents: [p, q], failure_mode: ${mode}, routes: [{ to: s }] }\noutput: { g: "{{ g.outputs }}" }\n`,
    );

  it("run agents side by side; a crash repeats only the one that had not ended (S3-02, S3-27)", async () => {
    const { before, after, run } = await crashAt("q", parallel("fail_fast"));
    expect(before).toEqual(["p", "q"]);
    expect(after).toEqual(["q", "s"]);
    expect(run.status).toBe("completed");
  });

  it("go on or fail with a failed member as their mode says, and a resume repeats only that one", async () => {
    const script = { agents: { q: [{ error: { status: 400, message: "no" } }] } };
    const lab = createLab();
    const passed = await fromText(parallel("continue_on_error"), script);
    const { engine } = await begin(lab, passed);
    expect(await lab.drive(engine.result("r"))).toMatchObject({ g: { p: { result: expect.any(String) } } });
    for (const mode of ["fail_fast", "all_or_nothing"]) {
      const other = createLab();
      const failing = await begin(other, await fromText(parallel(mode), script));
      expect(failing.run.status).toBe("failed");
      await other.crash(failing.engine);
      const mended = await fromText(parallel(mode));
      const next = other.engine([mended.workflow]);
      await other.drive(next.resume("r"));
      expect((await other.drive(next.settled("r"))).status).toBe("completed");
      expect(mended.calls).toEqual(["q", "s"]);
    }
  });

  it("never give two items one key (Y1)", async () => {
    const text = flow(
      "f",
      agent("s", "p"),
      `for_each:\n  - name: f\n    type: for_each\n    source: workflow.input.items\n    as: item\n    key_by: item.id\n    agent: { name: one, type: set, value: "{{ _index }}" }\noutput: { f: "{{ f.outputs }}" }\n`,
      "  input: { items: { type: array } }\n",
    );
    const loaded = await fromText(text);
    const lab = createLab();
    const items = [{ id: 1 }, { id: 2 }, { id: null }, { id: true }, {}];
    const { engine } = await begin(lab, loaded, { items });
    expect(await lab.drive(engine.result("r"))).toEqual({ f: { 1: 0, 2: 1, None: 2, True: 3, 4: 4 } });
    const other = createLab();
    const { run } = await begin(other, loaded, { items: [{ id: 1 }, { id: "1" }] });
    expect(run).toMatchObject({ status: "failed", error: expect.stringContaining("have the key 1") });
  });

  it("do one agent for every item, keep the ones that ended, and answer by key (S3-28)", async () => {
    const text = flow(
      "f",
      agent("s", "{{ f.count }}"),
      `for_each:\n  - name: f\n    type: for_each\n    source: workflow.input.items\n    as: item\n    key_by: item.id\n    max_concurrent: 1\n    agent: { name: one, prompt: "{{ _index }} {{ _key }} {{ item.id }}" }\n    routes: [{ to: s }]\noutput: { f: "{{ f.outputs }}" }\n`,
      "  input: { items: { type: array } }\n",
    );
    const lab = createLab();
    const loaded = await fromText(text, {
      agents: {
        one: [
          { when: "0 a a", text: "A" },
          { when: "1 b b", text: "B" },
        ],
      },
    });
    const { engine } = await begin(lab, loaded, { items: [{ id: "a" }, { id: "b" }] });
    expect(await lab.drive(engine.result("r"))).toEqual({ f: { a: { result: "A" }, b: { result: "B" } } });
    const crashed = createLab();
    let asked = 0;
    const scripted = scriptedProvider({});
    const model: ModelProvider = {
      name: "m",
      generate: (request) => (++asked === 2 ? hangs() : scripted.generate(request)),
    };
    const first = await fromText(text, {}, { providers: { model } });
    const running = crashed.engine([first.workflow]);
    await crashed.drive(
      running.start(first.workflow, { items: [{ id: "a" }, { id: "b" }, { id: "c" }] }, { id: "r" }),
    );
    await crashed.clock.advance(50);
    const second = await fromText(text);
    await crashed.afterCrash(running, [second.workflow], "r");
    expect(second.calls).toEqual(["one", "one", "s"]);
  });
});

describe("sub-workflows", () => {
  const inner = flow(
    "x",
    agent("x", "{{ workflow.input.q }}", "y") + agent("y", "2"),
    'output: { got: "{{ x.output.result }}" }\n',
    "  input: { q: { type: string } }\n",
  );
  const outer = flow(
    "sub",
    `  - name: sub\n    type: workflow\n    workflow: ./inner.yaml\n    input_mapping: { q: "about {{ workflow.input.t }}" }\n    routes: [{ to: z }]\n${agent("z", "{{ sub.output.got }}")}`,
    'output: { got: "{{ sub.output.got }}" }\n',
    "  input: { t: { type: string } }\n",
  );

  it("run inside the same run, and after a crash go on in the middle", async () => {
    const lab = createLab();
    const before: string[] = [];
    const first = await fromText(
      outer,
      {},
      { files: { "inner.yaml": inner }, providers: { model: stuckAt("y", before) } },
    );
    const engine = lab.engine([first.workflow]);
    await lab.drive(engine.start(first.workflow, { t: "bolts" }, { id: "r" }));
    await lab.clock.advance(50);
    const second = await fromText(outer, {}, { files: { "inner.yaml": inner } });
    const { run } = await lab.afterCrash(engine, [second.workflow], "r");
    expect(run.status).toBe("completed");
    expect([before, second.calls]).toEqual([
      ["x", "y"],
      ["y", "z"],
    ]);
  });

  it("end at a depth that is allowed", async () => {
    const lab = createLab();
    const self = flow("sub", "  - { name: sub, type: workflow, workflow: ./flow.yaml, max_depth: 2 }\n");
    const { run } = await begin(lab, await fromText(self));
    expect(run).toMatchObject({
      status: "failed",
      error: expect.stringContaining("a sub-workflow 3 levels deep"),
    });
  });
});
