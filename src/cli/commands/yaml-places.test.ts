import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";

const flow = (name: string, checkpoint: string, last = "value: done"): string => `
workflow:
  name: ${name}
  entry_point: first
  checkpoint: ${checkpoint}
agents:
  - { name: first, type: set, value: one, routes: [{ to: decide }] }
  - name: decide
    type: human_gate
    prompt: Go on?
    options: [{ label: "Yes", value: go, route: last }]
  - { name: last, type: set, ${last} }
output: { answer: "{{ last.output }}" }
`;

let folder: CliFolder;
const folders: CliFolder[] = [];
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterAll(() => folders.forEach((one) => one.remove()));

const PATH = '{ enabled: true, path: ".conductor/checkpoints/${workflow.name}/" }';

describe("a path in a workflow file (Y8)", () => {
  it.each([PATH, PATH.replace("${workflow.name}", "{TASK}")])(
    "is where every command looks without being told: %s (S3-10, S3-16, S3-17)",
    async (path) => {
      folder.write("long.yaml", flow("long-analysis", path));
      folder.write("other.yaml", flow("other", "{ enabled: true }"));
      expect((await folder.run("run long.yaml --id far")).code).toBe(75);
      expect((await folder.run("run other.yaml --id near")).code).toBe(75);
      const { runs } = (await folder.run("list --json")).json<{ runs: { id: string }[] }>();
      expect(runs.map(({ id }) => id).sort()).toEqual(["far", "near"]);
      expect((await folder.run("list long-analysis")).stdout).toContain("far");
      expect((await folder.run("checkpoints list far")).stdout).toContain("first");
      expect((await folder.run("checkpoints list --workflow long-analysis")).code).toBe(0);
      expect((await folder.run("gate list --json")).stdout).toContain("far");
      expect((await folder.run("show long-analysis")).stdout).toContain("far");
      expect((await folder.run("gate answer far:decide --choice go")).code).toBe(0);
      const { code, stdout } = await folder.run("resume long-analysis");
      expect([code, stdout]).toEqual([0, expect.stringContaining('"answer": "done"')]);
      expect((await folder.run("resume near --plan")).code).toBe(0);
    },
  );

  it("of the configuration may name the workflow as well", async () => {
    folder.write("holdfast.config.json", JSON.stringify({ path: "runs/${workflow.name}/" }));
    folder.write("long.yaml", flow("long-analysis", "{}"));
    expect((await folder.run("list")).stdout).toContain("No runs yet");
    expect((await folder.run("run long.yaml --id far")).code).toBe(75);
    expect((await folder.run("list")).stdout).toContain("far");
    expect((await folder.run("gate answer far:decide --choice go")).code).toBe(0);
    expect((await folder.run("resume far")).code).toBe(0);
  });
});

describe("a checkpoint of a workflow file", () => {
  it("is shown under the names of the document: done, in progress, outputs (S3-18, S3-22)", async () => {
    folder.write("long.yaml", flow("long-analysis", "{}"));
    await folder.run("run long.yaml --id far");
    expect((await folder.run("checkpoints show far")).stdout).toMatch(
      /agents +done: first; in progress: decide \(iteration 1\)/,
    );
    expect((await folder.run("checkpoints show far --json")).json()).toMatchObject({
      checkpoint_id: expect.stringMatching(/^far@\d+$/),
      workflow_name: "long-analysis",
      workflow_inputs: {},
      current_agent: "decide",
      in_progress: "decide",
      completed_agents: ["first"],
      agent_outputs: { first: "one" },
      context_snapshot: { history: ["first"] },
      iteration: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  it("is gone on from wherever its file keeps it, when an option names it (S3-16)", async () => {
    folder.write("long.yaml", flow("long-analysis", PATH));
    folder.write("other.yaml", flow("other", PATH));
    await folder.run("run long.yaml --id far");
    await folder.run("run other.yaml --id near");
    for (const id of ["far", "near"]) {
      const { stderr } = await folder.run(`resume --checkpoint-id ${id}@first`);
      expect(stderr).toMatch(new RegExp(`continues from ${id}@`));
    }
    const { runs } = (await folder.run("list --json")).json<{ runs: { workflow: string }[] }>();
    expect(runs.map(({ workflow }) => workflow).sort()).toEqual([
      "long-analysis",
      "long-analysis",
      "other",
      "other",
    ]);
  });
});

describe("checkpoint settings of a workflow file (Y8)", () => {
  it("that name a kind of store without its address are refused with what is missing, before a run (S3-09)", async () => {
    folder.write("pg.yaml", flow("pg", "{ storage: postgres }"));
    for (const command of ["validate pg.yaml", "run pg.yaml"]) {
      const { code, stderr } = await folder.run(command);
      expect([code, stderr]).toEqual([3, expect.stringContaining("HF-4031")]);
      expect(stderr).toContain("Add the address as path beside storage");
    }
    expect((await folder.run("validate pg.yaml --store sqlite:./x.db")).code).toBe(0);
    folder.write("pg.yaml", flow("pg", '{ storage: postgres, path: "${PG}" }'));
    const env = { PG: "postgres://nobody@127.0.0.1:1/none" };
    expect((await folder.run("validate pg.yaml", { env })).code).toBe(0);
    folder.write("odd.yaml", flow("odd", "{ storage: postgress }"));
    expect((await folder.run("validate odd.yaml")).stdout).toContain("Did you mean postgres?");
  });

  it("that save nothing do not speak of checkpoints and resume (S0-48)", async () => {
    folder.write("off.yaml", flow("off", "{ enabled: false }"));
    const { code, stdout, stderr } = await folder.run("run off.yaml --id gone");
    expect(code).toBe(1);
    expect(stderr).toContain("None of it is saved (enabled: false)");
    expect(stdout + stderr).not.toMatch(/resume gone|checkpoint #|gate answer|saved \(checkpoint/);
    const failing = flow("off", "{ enabled: false }", 'value: "{{ nothing.here }}"').replace(
      'type: human_gate\n    prompt: Go on?\n    options: [{ label: "Yes", value: go, route: last }]',
      'type: set\n    value: "[]"\n    output_type: dict\n    routes: [{ to: last }]',
    );
    folder.write("off.yaml", failing.replace("{{ nothing.here }}", "x"));
    const failed = await folder.run("run off.yaml --id gone");
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("which isn't a mapping")]);
    expect(failed.stdout + failed.stderr).not.toMatch(/resume gone|steps saved/);
  });

  it("that keep checkpoints for some days drop those of older runs too, however short the command (S3-13)", async () => {
    const kept = (days: number) =>
      flow("aged", `{ retention: { max_age_days: ${days} } }`).replace(
        / {2}- name: decide[^]*?last \}\]\n/,
        "",
      );
    const count = async (run: string) =>
      (await folder.run(`checkpoints list ${run} --json`)).json<{ checkpoints: unknown[] }>().checkpoints
        .length;
    folder.write("aged.yaml", kept(7).replace("to: decide", "to: last"));
    expect((await folder.run("run aged.yaml --id old")).code).toBe(0);
    expect(await count("old")).toBeGreaterThan(0);
    folder.write("aged.yaml", kept(0).replace("to: decide", "to: last"));
    expect((await folder.run("run aged.yaml --id new")).code).toBe(0);
    expect(await count("old")).toBe(0);
  });

  it("that roll back delete the run with its checkpoints, and say what stays done (S3-11)", async () => {
    const text = flow("back", "{ on_failure: rollback }").replace(
      'type: human_gate\n    prompt: Go on?\n    options: [{ label: "Yes", value: go, route: last }]',
      'type: set\n    value: "[]"\n    output_type: dict\n    routes: [{ to: last }]',
    );
    folder.write("back.yaml", text);
    const { code, stderr } = await folder.run("run back.yaml --id b1");
    expect(code).toBe(1);
    expect(stderr.replace(/\s+/g, " ")).toContain("The run and its checkpoints are deleted");
    expect(stderr).not.toMatch(/undone|fork|show b1/);
    expect((await folder.run("checkpoints list b1")).code).toBe(4);
    expect((await folder.run("list --json")).json<{ runs: unknown[] }>().runs).toEqual([]);
    expect((await folder.run("resume b1")).code).not.toBe(0);
  });
});
