import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { brief, fillStore, withRuns } from "../../../test/support/cli-runs.ts";

const folder = cliFolder();
beforeAll(() => fillStore(folder.path));
afterAll(() => folder.remove());

describe("checkpoints", () => {
  it("are listed newest first, of one run or of a workflow (S3-17, S3-36)", async () => {
    const { stdout } = await folder.run("checkpoints list done-1");
    expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "CHECKPOINT",
      "done-1@14",
      "done-1@13",
      "done-1@11",
      "done-1@9",
      "done-1@5",
      "",
    ]);
    expect(stdout).toMatch(/done-1@11 .*user requested .*scored/);
    const stock = await folder.run("checkpoints list --workflow stock-analysis --json");
    expect(stock.json<{ checkpoints: { id: string }[] }>().checkpoints.map(({ id }) => id)).toEqual([
      "aapl-17@7",
      "aapl-17@6",
      "aapl-17@4",
    ]);
    expect((await folder.run("checkpoints list --limit 2 --json")).json()).toMatchObject({ more: true });
    // "list" is what is meant when nothing is said, whatever flags come with it.
    const short = await folder.run("checkpoints --workflow stock-analysis --json");
    expect(short.json()).toEqual(stock.json());
  });

  it("can be looked at, with values shortened unless revealed (S3-18)", async () => {
    const { stdout } = await folder.run("checkpoints show done-1@scored");
    expect(stdout).toContain("done-1@11");
    expect(stdout).toContain("2 of 3; planned: write");
    expect(stdout).toContain("steps.score  0.9");
    const last = await folder.run("checkpoints show done-1@last --json");
    expect(last.stdout).not.toContain("sk-abcdef");
    expect(last.json()).toMatchObject({ id: "done-1@14", status: "completed" });
    expect((await folder.run("checkpoints show done-1@last --reveal")).stdout).toContain("sk-abcdef");
    expect((await folder.run("checkpoints show done-1@nowhere")).code).toBe(4);
  });

  it("are made and pinned by people, on record", async () => {
    const made = await folder.run(
      "checkpoints create recon-88 --label before-deploy --as ada --reason audit",
    );
    expect(made.stdout).toBe("✓ marked recon-88@11 as before-deploy\n");
    const shown = await folder.run("checkpoints show recon-88@before-deploy --json");
    expect(shown.json()).toMatchObject({
      trigger: "user_requested",
      actor: "ada",
      labels: ["before-deploy"],
    });
    expect((await folder.run("checkpoints pin recon-88@11")).code).toBe(0);
    expect((await folder.run("checkpoints list recon-88")).stdout).toMatch(/recon-88@11 .*pinned/);
    expect((await folder.run("checkpoints unpin recon-88@11 --json")).json()).toMatchObject({
      pinned: false,
    });
    expect((await folder.run("checkpoints pin recon-88 --all")).stdout).toBe("✓ pinned all of recon-88\n");
    expect((await folder.run("checkpoints unpin recon-88 --all --json")).json()).toMatchObject({
      run: "recon-88",
      pinned: false,
    });
    expect((await folder.run("checkpoints create recon-88 --as ada")).code).toBe(8);
  });
});

describe("checkpoints prune and clear", () => {
  it("say how much first, and do nothing without being told to go on", async () => {
    const dry = await folder.run("checkpoints prune --older-than 0s --dry-run");
    expect([dry.code, dry.stdout.split("\n")[0]]).toEqual([
      0,
      expect.stringMatching(/^would drop \d+ checkpoints of 3 runs/),
    ]);
    const { code, stderr } = await folder.run("checkpoints prune --older-than 0s");
    expect(code).toBe(8);
    expect(stderr).toMatch(/would drop \d+ checkpoints of 3 runs: 8 values/);
    expect(stderr).toContain("--yes");
    const said = await folder.run("checkpoints prune --older-than 0s", { answers: ["n"] });
    expect(said.code).toBe(8);
    expect((await folder.run("checkpoints show done-1")).code).toBe(0);
  });

  it("leave as many as asked for, and list only what can be restored (C11, S3-12, S3-19)", async () => {
    const other = cliFolder();
    await fillStore(other.path);
    const ids = async (line: string) =>
      (await other.run(`checkpoints list ${line} --json`))
        .json<{ checkpoints: { id: string }[] }>()
        .checkpoints.map(({ id }) => id);
    const before = await ids("done-1");
    const { code, stdout } = await other.run("checkpoints prune --keep 2 --workflow brief --yes");
    expect([code, stdout.split("\n")[0]]).toEqual([
      0,
      `✓ dropped ${before.length - 2} checkpoints of 1 run: 0 values, 0 B`,
    ]);
    expect(await ids("done-1")).toEqual(before.slice(0, 2));
    for (const id of before)
      expect((await other.run(`checkpoints show ${id}`)).code).toBe(before.indexOf(id) < 2 ? 0 : 4);
    expect((await other.run("checkpoints prune --keep 2 --workflow brief --yes")).stdout).toContain(
      "nothing to drop",
    );
    expect((await ids("done-1 --all")).length).toBe(3);
    other.remove();
  });

  it("are refused to a coding agent without consent", async () => {
    const env = { HOLDFAST_AGENT: "some-agent" };
    expect((await folder.run("checkpoints clear brief --yes", { env })).stderr).toContain("HF-4313");
  });

  it("clear deletes ended runs, or only what they knew (S3-20)", async () => {
    const other = cliFolder();
    await fillStore(other.path);
    const { code, stdout } = await other.run("checkpoints clear brief --keep-record --yes");
    expect([code, stdout.split("\n")[0]]).toEqual([
      0,
      expect.stringMatching(/^✓ dropped 5 checkpoints of 1 run: 5 values/),
    ]);
    expect((await other.run("checkpoints show done-1")).code).toBe(4);
    expect((await other.run("logs done-1")).stdout).toContain("completed");
    expect((await other.run("show recon-88")).code).toBe(0);
    expect((await other.run("checkpoints clear brief --keep-record --yes --json")).json()).toMatchObject({
      dropped: false,
      runs: [],
    });
    expect((await other.run("checkpoints clear brefi")).stderr).toContain("did you mean brief");
    expect((await other.run("checkpoints clear brief --yes")).stdout).toContain("the run is deleted");
    expect((await other.run("logs done-1")).code).toBe(4);
    // C11: a cleared run is not offered for a resume.
    expect((await other.run("list")).stdout).toMatch(/aapl-17 .*failed, resumable/);
    await other.run("checkpoints clear stock-analysis --keep-record --yes");
    expect((await other.run("list")).stdout).toMatch(/aapl-17 .*failed, dropped/);
    await other.run("checkpoints clear stock-analysis --yes");
    expect((await other.run("list")).stdout).not.toContain("aapl-17");
    other.remove();
  });
});

describe("diff", () => {
  it("tells what came between two checkpoints", async () => {
    const { stdout } = await folder.run("diff done-1@collect done-1@9 --only steps");
    expect(stdout).toBe("done-1@5 → done-1@9\nsteps\n  + score: 0.9\n");
    const stat = await folder.run("diff done-1@first done-1@last --stat");
    expect(stat.stdout).toContain("steps +2 (score, write)");
    expect(stat.stdout).toContain("+6,400 tok");
  });

  it("compares two runs, below a path", async () => {
    await withRuns(folder.path, async (engine) => {
      await engine.start(brief, { topic: "nuts" }, { id: "done-2" });
      await engine.result("done-2");
    });
    const { stdout } = await folder.run("diff done-1 done-2 --path input");
    expect(stdout).toBe('done-1@14 → done-2@14\nstate\n  ~ input.topic: "bolts" → "nuts"\n');
    const patch = await folder.run("diff done-1 done-2 --path input --format jsonpatch");
    expect(JSON.parse(patch.stdout)).toEqual([{ op: "replace", path: "/input/topic", value: "nuts" }]);
    expect((await folder.run("checkpoints diff done-1 done-2 --only cost --json")).json()).toMatchObject({
      from: "done-1@14",
      same: false,
      patch: [],
    });
  });

  it("masks secrets by name and by look in every format, unless told to reveal them", async () => {
    const secret = "hunter2-and-more";
    const topic = { password: secret, nested: { apiKey: [secret] }, text: `sk-ant-api03-${"a".repeat(95)}` };
    await withRuns(folder.path, async (engine) => {
      for (const [id, given] of [
        ["masked-1", "plain"],
        ["masked-2", topic],
      ] as const) {
        await engine.start(brief, { topic: given as string }, { id });
        await engine.result(id);
        await engine.checkpoints.mark(id, "end");
      }
      await engine.start(brief, { topic: { password: "another one" } as never }, { id: "masked-3" });
      await engine.result("masked-3");
    });
    for (const pair of ["masked-1 masked-2", "masked-2 masked-1", "masked-2 masked-3"])
      for (const how of ["", "--json", "--format json", "--format jsonpatch", "--stat --json"]) {
        const { stdout, stderr } = await folder.run(`diff ${pair} ${how}`);
        expect(stdout + stderr, how).not.toMatch(/hunter2|sk-ant|another one/);
      }
    const patch = JSON.parse((await folder.run("diff masked-2 masked-3 --format jsonpatch --reveal")).stdout);
    expect(patch).toContainEqual({ op: "replace", path: "/input/topic/password", value: "another one" });
    const masked = await folder.run("diff masked-2 masked-3 --format jsonpatch");
    expect(JSON.parse(masked.stdout)).toContainEqual({
      op: "replace",
      path: "/input/topic/password",
      value: "***",
    });
    expect(masked.stderr).toContain("--reveal");
    expect((await folder.run("diff masked-2 masked-3 --reveal")).stdout).toContain(secret);
  });
});

describe("export, import and validate", () => {
  const key = (): { secret: string; open: string } => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const secret = folder.write("key.pem", privateKey.export({ type: "pkcs8", format: "pem" }).toString());
    const open = folder.write("public.pem", publicKey.export({ type: "spki", format: "pem" }).toString());
    return { secret, open };
  };

  it("carry a run to another store", async () => {
    const { secret, open } = key();
    const made = await folder.run(["export", "recon-88", "-o", "recon.jsonl", "--sign", secret]);
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringContaining("exported recon-88 to recon.jsonl"),
    ]);
    expect((await folder.run("export recon-88 -o recon.jsonl")).code).toBe(8);
    const bundle = join(folder.path, "recon.jsonl");
    const there = cliFolder();
    expect((await there.run(["validate", bundle, "--verify", open])).stdout).toContain(
      "checksums and signature are right",
    );
    const { code, stdout } = await there.run(["import", bundle, "--verify", open]);
    expect([code, stdout]).toEqual([0, "✓ imported 1 run: recon-88\n"]);
    expect((await there.run("gate list")).stdout).toContain("recon-88:approve");
    expect((await there.run(["import", bundle])).code).toBe(8);
    expect((await there.run(["import", bundle, "--on-conflict", "skip", "--json"])).json()).toMatchObject({
      skipped: ["recon-88"],
    });
    there.remove();
  });

  it("write to standard output, and read from standard input", async () => {
    const { stdout: input } = await folder.run("export done-1");
    const there = cliFolder();
    expect((await there.run("import -", { input })).stdout).toContain("imported 1 run");
    expect((await folder.run("export done-1 --json")).code).toBe(2);
    there.remove();
  });

  it("answer 6 for a bundle that was changed, and 2 for a key that is none", async () => {
    const { stdout } = await folder.run("export done-1");
    folder.write("changed.jsonl", stdout.replace("bolts", "nails"));
    const { code, stderr } = await folder.run("validate changed.jsonl");
    expect([code, stderr]).toEqual([6, expect.stringContaining("HF-4359")]);
    expect((await folder.run("import changed.jsonl")).code).toBe(6);
    expect((await folder.run("validate changed.jsonl --verify changed.jsonl")).code).toBe(2);
  });

  it("check a run and a checkpoint from the first entry on", async () => {
    const { code, stdout } = await folder.run("validate done-1@scored");
    expect(code).toBe(0);
    expect(stdout).toContain("✓ done-1@11: chain and values are as they were written");
    expect((await folder.run("validate done-1 --json")).json()).toMatchObject({
      kind: "run",
      ok: true,
      checkpoints: 5,
      readable: true,
    });
    expect((await folder.run("validate nobody")).code).toBe(4);
  });

  it("tell what of a YAML workflow is wrong, with its line, and answer 3", async () => {
    folder.write(
      "flow.yaml",
      "workflow:\n  name: x\n  entry_point: nowhere\nagents:\n  - name: a\n    prompt: hi\n",
    );
    const { code, stdout } = await folder.run("validate flow.yaml");
    expect(code).toBe(3);
    expect(stdout).toMatch(/✗ error {2}flow\.yaml:3:\d+ {2}.*nowhere/);
    const annotated = await folder.run("validate flow.yaml", { env: { GITHUB_ACTIONS: "true" } });
    expect(annotated.stdout).toMatch(/^::error file=flow\.yaml,line=3,/m);
  });

  it("read modules and the configuration", async () => {
    const source = new URL("../../../src/index.ts", import.meta.url).href;
    folder.write(
      "flow.mjs",
      `import { workflow } from ${JSON.stringify(source)};\nexport const a = workflow("a", async () => 1);\nexport const b = workflow("b", { version: "2" }, async () => 1);\n`,
    );
    expect((await folder.run("validate flow.mjs")).stdout).toContain("exports 2 workflows");
    expect((await folder.run("validate config")).stdout).toContain("the defaults are used");
    writeFileSync(join(folder.path, "holdfast.config.json"), '{ "stroe": "x" }');
    const { code, stderr } = await folder.run("validate holdfast.config.json");
    expect([code, stderr]).toEqual([3, expect.stringContaining("did you mean store?")]);
    expect(readFileSync(join(folder.path, "holdfast.config.json"), "utf8")).toContain("stroe");
  });
});
