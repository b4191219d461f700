import { afterAll, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";

const folder = cliFolder();
afterAll(() => folder.remove());

const listed = async (run: string): Promise<string[]> =>
  (await folder.run(`checkpoints list ${run} --json`))
    .json<{ checkpoints: { id: string }[] }>()
    .checkpoints.map(({ id }) => id);

it("leaves as many checkpoints as a workflow file allows, and each can be shown (S3-12)", async () => {
  const agents = ["one", "two", "three", "four"];
  const routes = agents.map(
    (name, at) => `  - { name: ${name}, prompt: p, routes: [{ to: ${agents[at + 1] ?? "$end"} }] }`,
  );
  folder.write(
    "flow.yaml",
    `workflow:
  name: kept
  entry_point: one
  checkpoint: { enabled: true, retention: { max_checkpoints: 2 } }
agents:
${routes.join("\n")}
`,
  );
  folder.write(
    "holdfast.config.json",
    JSON.stringify({ providers: { default: { script: "replies.yaml" } } }),
  );
  folder.write("replies.yaml", "agents: {}\n");
  expect((await folder.run("run flow.yaml --id y")).code).toBe(0);
  const ids = await listed("y");
  expect(ids).toHaveLength(2);
  for (const id of ids) expect((await folder.run(`checkpoints show ${id}`)).code).toBe(0);
});

it("deletes a run as soon as it has ended, where the configuration asks for that (S0-37)", async () => {
  const source = new URL("../../index.ts", import.meta.url).href;
  folder.write(
    "flow.mjs",
    `import { workflow } from ${JSON.stringify(source)};\nexport const a = workflow("a", (ctx) => ctx.step("s", () => 42));\n`,
  );
  folder.write("holdfast.config.json", JSON.stringify({ retention: "seed0" }));
  const { code, stdout } = await folder.run("run flow.mjs --id a");
  expect([code, stdout]).toEqual([0, expect.stringContaining("42")]);
  const { runs } = (await folder.run("list --json")).json<{ runs: { id: string }[] }>();
  expect(runs.map(({ id }) => id)).toEqual([]);
});
