import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith, fromText } from "../../test/support/yaml.ts";
import type { Store } from "../core/store/contract.ts";
import { createEngine, type Engine, type Run, type Workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { type ScriptRequest, scriptRunner } from "./index.ts";

const node = JSON.stringify(process.execPath);
const run = scriptRunner();
const asked = (code: string, more: object = {}) => ({
  step: "s",
  command: process.execPath,
  args: ["-e", code],
  env: {},
  signal: new AbortController().signal,
  ...more,
});

describe("a script", () => {
  it("sees of the environment what a program needs to start, and otherwise only what is named (X8)", async () => {
    const env = { ...process.env, HOLDFAST_KEYS: "k", OPENAI_API_KEY: "o", NPM_TOKEN: "n", SHARED: "s" };
    const names = async (request: object, inherit?: readonly string[]): Promise<string[]> => {
      const runner = scriptRunner({ env, ...(inherit ? { inherit } : {}) });
      const { stdout } = await runner(
        asked("console.log(JSON.stringify(Object.keys(process.env)))", request),
      );
      return JSON.parse(stdout) as string[];
    };
    const secrets = ["HOLDFAST_KEYS", "NPM_TOKEN", "OPENAI_API_KEY", "SHARED"];
    const seen = await names({ env: { OWN: "1" } });
    expect(seen).toEqual(expect.arrayContaining(["PATH", "OWN"]));
    expect(seen.filter((name) => secrets.includes(name))).toEqual([]);
    const more = await names({ inherit: ["NPM_TOKEN"] }, ["SHARED"]);
    expect(more.filter((name) => secrets.includes(name)).sort()).toEqual(["NPM_TOKEN", "SHARED"]);
  });

  it("answers what it printed and how it ended, with the environment, folder and input it was given", async () => {
    const workingDir = folderWith({});
    const code = `process.stdin.on("data", d => { console.log(process.cwd(), process.env.A, String(d)); console.error("e"); process.exit(3) })`;
    expect(await run(asked(code, { env: { A: "1" }, workingDir, stdin: "in" }))).toEqual({
      stdout: `${workingDir} 1 in\n`,
      stderr: "e\n",
      exit_code: 3,
    });
  });

  it("that cannot be started says so, and that nothing ran", async () => {
    const refused = run({ ...asked(""), command: "no-such-command-here" });
    await expect(refused).rejects.toMatchObject({ code: "HF-4005", retryable: true });
  });

  it("that prints without end costs no more memory than is allowed, and its last lines are told", async () => {
    const small = scriptRunner({ outputBytes: 10_000 });
    const code = `const line = "x".repeat(1023) + "\\n"; for (let i = 0; i < 20000; i++) process.stdout.write(line); process.stdout.write("the end")`;
    const before = process.memoryUsage().arrayBuffers;
    await expect(small(asked(code))).rejects.toMatchObject({
      code: "HF-4006",
      detail: { limit: 10_000, exit: 0, tail: expect.stringMatching(/the end$/) },
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });

  it("is stopped with everything it has started", async () => {
    const folder = folderWith({});
    const file = join(folder, "pid");
    const child = `const { spawn } = require("node:child_process"); const c = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]); require("node:fs").writeFileSync(${JSON.stringify(file)}, String(c.pid)); console.log("up"); setInterval(() => {}, 1000)`;
    const controller = new AbortController();
    const ended = run(asked(child, { signal: controller.signal }));
    const pid = await fileText(file);
    controller.abort(new Error("time is up"));
    await expect(ended).rejects.toThrow("time is up");
    await gone(Number(pid));
  });
});

/** Polls on every turn of the event loop, because another process must write the file. */
async function fileText(file: string): Promise<string> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (text !== "") return text;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a script step", () => {
  const flow = (script: string, rest = ""): string =>
    `workflow: { name: w, entry_point: s, input: { out: { type: string } } }\nagents:\n  - name: s\n    type: script\n${script}${rest}`;
  const start = async (
    workflow: Workflow<never, unknown>,
    out: string,
    store: Store = createMemoryStore(),
  ): Promise<{ engine: Engine; run: Run }> => {
    const engine = createEngine({ store, workflows: [workflow], claimMs: 300, sweepMs: 50 });
    await engine.start(workflow, { out } as never, { id: "r" });
    return { engine, run: await engine.settled("r") };
  };

  it("gives its routes the exit code and the fields of the JSON it prints", async () => {
    const code = "console.log(JSON.stringify({ status: process.argv[1] })); process.exit(2)";
    const { workflow } = await fromText(
      flow(
        `    command: ${node}\n    args: ["-e", ${JSON.stringify(code)}, "{{ workflow.input.out }}"]\n    routes: [{ to: a, when: "exit_code == 2 and status == 'ready'" }, { to: $end }]\n`,
        '  - { name: a, prompt: "{{ s.output.stdout }}" }\noutput: { code: "{{ s.output.exit_code }}", a: "{{ a is defined }}" }\n',
      ),
    );
    const { engine, run: ended } = await start(workflow, "ready");
    expect(ended.error).toBeNull();
    expect(await engine.result("r")).toEqual({ code: 2, a: true });
    await engine.close();
  });

  it("with a declared output must print one JSON object that fits", async () => {
    const printing = async (text: string): Promise<string | null> => {
      const code = `console.log(${JSON.stringify(text)})`;
      const { workflow } = await fromText(
        flow(
          `    command: ${node}\n    args: ["-e", ${JSON.stringify(code)}]\n    output: { n: { type: number, minimum: 3 } }\n`,
        ),
      );
      const { engine, run: ended } = await start(workflow, "");
      await engine.close();
      return ended.error;
    };
    expect(await printing('{"n": 5, "more": 1}')).toBeNull();
    expect(await printing('{"n": 1}')).toContain("doesn't match its declared output");
    expect(await printing("log\n{}")).toContain("it must print one JSON object and nothing else");
  });

  it("is told by its file what it may inherit", async () => {
    const requests: ScriptRequest[] = [];
    const { workflow } = await fromText(
      flow("    command: x\n    inherit_env: [NPM_TOKEN]\n"),
      {},
      {
        scripts: async (request) => {
          requests.push(request);
          return { stdout: "", stderr: "", exit_code: 0 };
        },
      },
    );
    const { engine } = await start(workflow, "");
    expect(requests).toMatchObject([{ inherit: ["NPM_TOKEN"] }]);
    await engine.close();
  });

  it("stops at its time limit", async () => {
    const { workflow } = await fromText(
      flow(
        `    command: ${node}\n    args: ["-e", "setInterval(() => {}, 1000)"]\n    timeout: 1\n    effect: repeatable\n`,
      ),
    );
    const { engine, run: ended } = await start(workflow, "");
    expect(ended).toMatchObject({ status: "failed", error: expect.stringContaining("1000 ms") });
    await engine.close();
  });

  it("that was under way when the process died is not run again unless it says that it may be", async () => {
    const line = (out: string): number => readFileSync(out, "utf8").split("\n").length - 1;
    const code = `require("node:fs").appendFileSync(process.argv[1], "ran\\n"); setTimeout(() => {}, process.argv[2] === "slow" ? 1e6 : 0)`;
    for (const [effect, status, times] of [
      ["once", "waiting", 1],
      ["repeatable", "completed", 2],
    ] as const) {
      const out = join(folderWith({}), "out");
      const text = flow(
        `    command: ${node}\n    args: ["-e", ${JSON.stringify(code)}, "{{ workflow.input.out }}"]\n    effect: ${effect}\n`,
      );
      const store = createMemoryStore();
      // The first process hangs in the script. The two differ only in their environment.
      const slow = await fromText(
        text,
        {},
        { scripts: (request) => run({ ...request, args: [...request.args, "slow"] }) },
      );
      const first = createEngine({ store, workflows: [slow.workflow], claimMs: 300, sweepMs: 50 });
      await first.start(slow.workflow, { out }, { id: "r" });
      await fileText(out);
      await first.close({ drainMs: 1 });
      const again = await fromText(text);
      const second = createEngine({ store, workflows: [again.workflow], claimMs: 300, sweepMs: 50 });
      const stop = second.work();
      const ended = await until(second, status);
      expect(ended.waiting.map(({ kind }) => kind)).toEqual(effect === "once" ? ["decision"] : []);
      expect(line(out)).toBe(times);
      await stop;
      await second.close();
    }
  });
});

async function until(engine: Engine, status: string): Promise<Run> {
  for (;;) {
    const found = await engine.settled("r");
    if (found.status === status) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
