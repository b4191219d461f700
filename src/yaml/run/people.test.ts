import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { fromText } from "../../../test/support/yaml.ts";
import type { Engine } from "../../index.ts";
import type { YamlWorkflow } from "../index.ts";

const flow = (entry: string, agents: string, rest = "", settings = ""): string =>
  `workflow:\n  name: w\n  entry_point: ${entry}\n${settings}agents:\n${agents}${rest}`;

async function begin(lab: Lab, { workflow }: YamlWorkflow, input: object = {}): Promise<Engine> {
  const engine = lab.engine([workflow]);
  await lab.drive(engine.start(workflow, input as never, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return engine;
}

async function answer(lab: Lab, engine: Engine, gate: string, choice: string, text?: string): Promise<void> {
  await lab.drive(engine.answer("r", gate, { choice, ...(text === undefined ? {} : { text }) }));
  await lab.drive(engine.settled("r"));
}

const gates = async (lab: Lab, engine: Engine): Promise<string[]> =>
  (await lab.drive(engine.gates("r"))).map(({ gate }) => gate);

describe("a human gate", () => {
  const text = flow(
    "draft",
    `  - { name: draft, prompt: write, routes: [{ to: ok }] }
  - name: ok
    type: human_gate
    prompt: "Good? {{ draft.output.result }}"
    options:
      - { label: Yes, value: yes, route: $end }
      - { label: Again, value: again, route: draft, prompt_for: feedback }
`,
    'output: { said: "{{ ok.output.selected }}", why: "{{ ok.output.additional_input.feedback | default(\'\') }}" }\n',
  );

  it("shows its prompt, goes where the answer says, and asks anew each time it is reached", async () => {
    const lab = createLab();
    const loaded = await fromText(text, { agents: { draft: [{ text: "D" }] } });
    const engine = await begin(lab, loaded);
    expect(await lab.drive(engine.gates("r"))).toMatchObject([
      {
        gate: "ok",
        choices: ["yes", "again"],
        text: true,
        show: { prompt: "Good? D", options: [{ label: "Yes" }, { asks_for: "feedback" }] },
      },
    ]);
    expect((await lab.drive(engine.checkpoints.show("r"))).progress.text).toBe("1 of 2");
    await answer(lab, engine, "ok", "again", "longer");
    expect((await lab.drive(engine.checkpoints.show("r"))).progress.text).toBe("3 of 4");
    expect(await gates(lab, engine)).toEqual(["ok#2"]);
    await answer(lab, engine, "ok#2", "yes");
    expect(await lab.drive(engine.result("r"))).toEqual({ said: "yes", why: "" });
    expect(loaded.calls).toEqual(["draft", "draft"]);
  });

  it("does not ask again after a crash (S3-29)", async () => {
    const lab = createLab();
    const engine = await begin(lab, await fromText(text));
    const desk = (await lab.afterCrash(engine, [], "r")).engine;
    await lab.drive(desk.answer("r", "ok", { choice: "yes" }));
    const next = await fromText(text);
    const { run } = await lab.afterCrash(desk, [next.workflow], "r");
    expect(run.status).toBe("completed");
    expect(next.calls).toEqual([]);
  });
});

describe("questions", () => {
  const text = (more = ""): string =>
    flow(
      "ask",
      `  - name: ask
    type: questions
    questions:
      - { text: "Where, {{ workflow.input.who }}?", choices: [here, there] }
      - { id: why, text: Why?, required: true }
      - { id: how, text: How?, default: slowly }
${more}`,
      'output: { answers: "{{ ask.output.answers }}", outcome: "{{ ask.output.outcome }}", n: "{{ ask.output.answered_count }}" }\n',
      "  input: { who: { type: string } }\n",
    );

  it("are asked one by one, may be gone back to and skipped, and required ones may not be", async () => {
    const lab = createLab();
    const engine = await begin(lab, await fromText(text()), { who: "Ada" });
    expect(await lab.drive(engine.gates("r"))).toMatchObject([
      {
        gate: "ask/q1",
        choices: ["here", "there", "answer", "skip", "skip_all"],
        show: { question: "Where, Ada?", number: 1, of: 3 },
      },
    ]);
    await answer(lab, engine, "ask/q1", "there");
    await answer(lab, engine, "ask/why", "skip");
    expect(await lab.drive(engine.gates("r"))).toMatchObject([
      { gate: "ask/why#2", show: { note: "Why? needs an answer." } },
    ]);
    await answer(lab, engine, "ask/why#2", "back");
    await answer(lab, engine, "ask/q1#2", "here");
    await answer(lab, engine, "ask/why#3", "answer", "because");
    await answer(lab, engine, "ask/how", "skip");
    await answer(lab, engine, "ask/review", "finish");
    expect(await lab.drive(engine.result("r"))).toEqual({
      answers: { q1: "here", why: "because", how: "slowly" },
      outcome: "completed",
      n: 3,
    });
  });

  it("that were answered are not asked again after a crash", async () => {
    const lab = createLab();
    const engine = await begin(lab, await fromText(text("    allow_back: false\n")), { who: "Ada" });
    await answer(lab, engine, "ask/q1", "answer", "on the moon");
    const { workflow } = await fromText(text("    allow_back: false\n"));
    const { engine: next } = await lab.afterCrash(engine, [workflow], "r");
    expect(await gates(lab, next)).toEqual(["ask/why"]);
    await answer(lab, next, "ask/why", "answer", "x");
    await answer(lab, next, "ask/how", "skip_all");
    expect(await lab.drive(next.result("r"))).toEqual({
      answers: { q1: "on the moon", why: "x", how: "slowly" },
      outcome: "skipped_remaining",
      n: 3,
    });
  });

  it("of a model are taken as they are, and may be given up", async () => {
    const lab = createLab();
    const loaded = await fromText(
      flow(
        "a",
        `  - { name: a, prompt: p, output: { open: { type: array } }, routes: [{ to: ask }] }
  - { name: ask, type: questions, source: a.output.open, allow_abort: true, abort_route: $end }
`,
        'output: { outcome: "{{ ask.output.outcome }}" }\n',
      ),
      { agents: { a: [{ json: { open: ["Use {{ user.id }}?", { question: "Which?", choices: ["x"] }] } }] } },
    );
    const engine = await begin(lab, loaded);
    expect(await lab.drive(engine.gates("r"))).toMatchObject([{ show: { question: "Use {{ user.id }}?" } }]);
    await answer(lab, engine, "ask/q1", "abort");
    expect(await lab.drive(engine.result("r"))).toEqual({ outcome: "aborted" });
  });
});

describe("waits and limits", () => {
  it("a wait ends when it was to end, whatever happened to the process meanwhile", async () => {
    const text = flow(
      "w",
      "  - { name: w, type: wait, duration: '{{ workflow.input.n }}m', routes: [{ to: a }] }\n  - { name: a, prompt: p }\n",
      'output: { s: "{{ w.output.waited_seconds }}" }\n',
      "  input: { n: { type: number } }\n",
    );
    const lab = createLab();
    const engine = await begin(lab, await fromText(text), { n: 2 });
    const { waiting: before } = await lab.drive(engine.settled("r"));
    expect(before).toMatchObject([{ kind: "timer", step: "w" }]);
    const next = await fromText(text);
    const after = await lab.afterCrash(engine, [next.workflow], "r");
    expect(after.run.waiting).toEqual(before);
    expect(await lab.drive(after.engine.result("r"))).toEqual({ s: 120 });
    expect(next.calls).toEqual(["a"]);
  });

  it("max_iterations asks a person, who may allow more or stop", async () => {
    const text = flow(
      "a",
      "  - { name: a, prompt: p, routes: [{ to: a, when: '{{ context.iteration < 5 }}' }, { to: $end }] }\n",
      "",
      "  limits: { max_iterations: 2 }\n",
    );
    const lab = createLab();
    const loaded = await fromText(text);
    const engine = await begin(lab, loaded);
    expect(await gates(lab, engine)).toEqual(["max_iterations"]);
    await answer(lab, engine, "max_iterations", "continue", "1");
    await answer(lab, engine, "max_iterations#2", "continue");
    expect((await lab.drive(engine.settled("r"))).status).toBe("completed");
    expect(loaded.calls).toHaveLength(5);
    const other = createLab();
    const stopped = await begin(other, await fromText(text));
    await answer(other, stopped, "max_iterations", "stop");
    expect(await other.drive(stopped.settled("r"))).toMatchObject({
      status: "failed",
      error: expect.stringContaining("limit of 2 executions"),
    });
  });

  it("a budget is noted in audit mode and holds the run in enforce mode", async () => {
    const text = (mode: string): string =>
      flow(
        "a",
        "  - { name: a, prompt: p, model: m, routes: [{ to: b }] }\n  - { name: b, prompt: p, model: m }\n",
        "",
        `  limits: { budget_usd: 1, budget_mode: ${mode} }\n  cost: { pricing: { m: { input_per_mtok: 1, output_per_mtok: 1 } } }\n`,
      );
    const script = { agents: { a: [{ text: "x", usage: { inputTokens: 2_000_000, outputTokens: 0 } }] } };
    const lab = createLab();
    const audited = await begin(lab, await fromText(text("audit"), script));
    expect((await lab.drive(audited.settled("r"))).status).toBe("completed");
    expect((await lab.drive(audited.checkpoints.show("r"))).decisions).toMatchObject([{ type: "budget" }]);
    const other = createLab();
    const held = await begin(other, await fromText(text("enforce"), script));
    expect(await other.drive(held.settled("r"))).toMatchObject({
      status: "waiting",
      waiting: [{ kind: "budget" }],
    });
    await other.drive(held.resume("r", { budget: { costUsd: 9 } }));
    expect((await other.drive(held.settled("r"))).status).toBe("completed");
  });
});

describe("endings", () => {
  const text = flow(
    "s",
    `  - name: s
    type: set
    values: { n: "{{ workflow.input.n * 2 }}", big: "{{ workflow.input.n > 3 }}", list: "{{ [1, 'b'] }}" }
    routes: [{ to: bad, when: "big" }, { to: good }]
  - { name: good, type: terminate, status: success, reason: "small: {{ s.output.n }}" }
  - { name: bad, type: terminate, status: failed, reason: "too big: {{ s.output.n }}", output_template: { aborted: "true" } }
`,
    'output: { n: "{{ s.output.n }}", list: "{{ s.output.list }}", why: "{{ good.output.reason }}" }\n',
    "  input: { n: { type: number } }\n",
  );

  it("a terminate step ends the run as it says", async () => {
    const lab = createLab();
    const good = await begin(lab, await fromText(text), { n: 2 });
    expect(await lab.drive(good.result("r"))).toEqual({ n: 4, list: [1, "b"], why: "small: 4" });
    const other = createLab();
    const bad = await begin(other, await fromText(text), { n: 9 });
    expect(await other.drive(bad.settled("r"))).toMatchObject({
      status: "failed",
      error: "bad ended the run: too big: 18",
    });
  });

  it("hooks are noted with the run", async () => {
    const lab = createLab();
    const hooks =
      '  hooks: { on_start: "begin {{ workflow.name }}", on_complete: "got {{ result.n }}", on_error: "{{ error.message }}" }\n';
    const loaded = await fromText(text.replace("  input:", `${hooks}  input:`));
    const engine = await begin(lab, loaded, { n: 1 });
    expect((await lab.drive(engine.checkpoints.show("r"))).decisions).toMatchObject([
      { type: "hook", description: "begin w" },
      { type: "hook", description: "got 2" },
    ]);
  });

  it("a failure is passed over, or makes the run final, where the file says so", async () => {
    const failing = (mode: string): string =>
      flow(
        "a",
        "  - { name: a, prompt: p, retry: { max_attempts: 1 }, routes: [{ to: x, when: 'score > 3' }, { to: b }] }\n  - { name: b, prompt: '{{ a.output.error.message }}' }\n  - { name: x, prompt: p }\n",
        'output: { b: "{{ b.output.result }}" }\n',
        `  checkpoint: { on_failure: ${mode} }\n`,
      );
    const script = {
      agents: { a: [{ error: { status: 500, message: "down" } }], b: [{ when: "down", text: "saw it" }] },
    };
    const lab = createLab();
    const passed = await begin(lab, await fromText(failing("continue"), script));
    expect(await lab.drive(passed.result("r"))).toEqual({ b: "saw it" });
    const other = createLab();
    const back = await fromText(failing("rollback"), script);
    const engine = await begin(other, back);
    const run = await other.drive(engine.settled("r"));
    expect(run.status).toMatch(/failed|cancelled/);
    await expect(other.drive(engine.resume("r"))).rejects.toThrow();
    expect(back.checkpoint).toMatchObject({ onFailure: "rollback", retention: { failedMaxAge: 0 } });
  });
});
