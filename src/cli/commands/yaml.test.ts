import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";

const FLOW = `
workflow:
  name: ask
  entry_point: gather
  runtime: { provider: local, default_model: small }
  input:
    question: { type: string, required: true }
    rounds: { type: number, default: 2 }
  checkpoint: { enabled: true }
agents:
  - name: gather
    type: agent
    prompt: "Facts about {{ workflow.input.question }}, {{ workflow.input.rounds }} of them"
    routes: [{ to: decide }]
  - name: decide
    type: human_gate
    prompt: "Go on?"
    options:
      - { label: "Yes", value: go, route: finish }
      - { label: "No", value: stop, route: finish }
  - name: finish
    type: script
    command: echo
    args: ["done"]
    routes: [{ to: $end }]
output:
  answer: "{{ finish.output.stdout }}"
`;

/** Speaks OpenAI's protocol, and remembers what it was asked. */
const asked: string[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    asked.push(body);
    response.setHeader("content-type", "application/json");
    const message = { role: "assistant", content: "three facts" };
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    response.end(
      JSON.stringify({
        id: "1",
        model: "small",
        created: 1,
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      }),
    );
  });
});

let folder: CliFolder;
const folders: CliFolder[] = [];
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(async () => {
  folders.forEach((one) => one.remove());
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
  asked.length = 0;
  const { port } = server.address() as AddressInfo;
  folder.write("flows/ask.yaml", FLOW);
  folder.write(
    "holdfast.config.json",
    JSON.stringify({ providers: { local: { base_url: `http://127.0.0.1:${port}/v1` } } }),
  );
});

describe("a YAML workflow", () => {
  it("is run with the models of the configuration and inputs of the declared types, up to its gate (S3-15)", async () => {
    const { code, stderr } = await folder.run("run flows/ask.yaml -i question=007 -i rounds=3 --id y1");
    expect([code, stderr]).toEqual([
      75,
      expect.stringContaining("holdfast gate answer y1:decide --choice go"),
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("Facts about 007, 3 of them");
    expect((await folder.until("y1", () => true)).usage.tokens).toBe(10);
  });

  it("runs offline with canned answers from a file, a rate limit among them", async () => {
    folder.write(
      "holdfast.config.json",
      JSON.stringify({ providers: { local: { script: "replies.yaml" } } }),
    );
    const limit = "{ error: { status: 429, retryAfterMs: 1 } }";
    folder.write("replies.yaml", `agents: { gather: [${limit}, { text: three facts }] }\n`);
    expect((await folder.run("run flows/ask.yaml -i question=bolts --id y0")).code).toBe(75);
    const { stdout } = await folder.run("checkpoints show y0@last --json --reveal");
    expect([asked, stdout]).toEqual([[], expect.stringContaining("three facts")]);
    folder.write("replies.yaml", "agents: { gather: [{ txt: three facts }] }\n");
    const wrong = await folder.run("run flows/ask.yaml -i question=bolts");
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining("HF-4104")]);
  });

  it("refuses an input that its file does not declare, and starts nothing", async () => {
    const { code, stderr } = await folder.run("run flows/ask.yaml -i qestion=x");
    expect([code, stderr]).toEqual([2, expect.stringContaining("Did you mean question?")]);
    expect((await folder.run("resume @last")).code).toBe(4);
  });

  it("goes on with the file as it was at its start, and with the changed one only when told to", async () => {
    await folder.run("run flows/ask.yaml -i question=bolts --id y2");
    folder.write("flows/ask.yaml", FLOW.replace('args: ["done"]', 'args: ["changed"]'));
    const version = async (line: string) => {
      const { plan } = (await folder.run(`resume y2 --plan --json ${line}`)).json<{
        plan: { changed: { version: unknown } };
      }>();
      return plan.changed.version;
    };
    expect(await version("")).toBeNull();
    expect(await version("--allow-changed")).toMatchObject({
      from: expect.any(String),
      to: expect.any(String),
    });
  });

  it("names what is wrong with its file, with the line", async () => {
    folder.write("flows/bad.yaml", FLOW.replace("entry_point: gather", "entry_point: gathr"));
    const { code, stderr } = await folder.run("run flows/bad.yaml -i question=x");
    expect([code, stderr]).toEqual([3, expect.stringMatching(/bad\.yaml:\d+/)]);
  });

  it("refuses to store unencrypted what its file wants encrypted", async () => {
    folder.write(
      "flows/secret.yaml",
      FLOW.replace("{ enabled: true }", "{ enabled: true, encryption: true }"),
    );
    const { stderr } = await folder.run("run flows/secret.yaml -i question=x");
    expect(stderr).toMatch(/HF-3034[\s\S]*export HOLDFAST_KEYS=/);
    const config = JSON.parse(readFileSync(join(folder.path, "holdfast.config.json"), "utf8")) as object;
    folder.write("holdfast.config.json", JSON.stringify({ ...config, encryption: false }));
    const refused = await folder.run("run flows/secret.yaml -i question=x");
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("asks for encryption")]);
  });

  it("keeps its runs where its file says, and names that place in what is to be typed next", async () => {
    folder.write(
      "flows/own.yaml",
      FLOW.replace("{ enabled: true }", '{ enabled: true, path: "./own/${workflow.name}.db" }'),
    );
    const { stderr } = await folder.run("run flows/own.yaml -i question=x --id y3");
    const [, store = ""] = /gate answer y3:decide --choice go --store (\S+)/.exec(stderr) ?? [];
    expect(store).toMatch(/own\/ask\.db$/);
    expect((await folder.run(`resume y3 --plan --store ${store}`)).code).toBe(0);
  });
});
