import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, type CliOptions, cliFolder, type Result } from "../../../test/support/cli.ts";
import type { StopSignal } from "../host.ts";

let folder: CliFolder;
const folders: CliFolder[] = [];
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterAll(() => {
  for (const one of folders) one.remove();
});

const FLOW = `import { workflow } from "${new URL("../../index.ts", import.meta.url).pathname}";
export const hello = workflow("hello", (ctx) => ctx.step("one", () => 1));`;

/** Starts the command, and returns what it printed once it listens; `stop` presses Ctrl-C and returns the result. */
async function serving(line: string, options: CliOptions = {}) {
  let heard = (_: (signal: StopSignal) => void): void => undefined;
  const listening = new Promise<(signal: StopSignal) => void>((resolve) => (heard = resolve));
  const ended = folder.run(line, { ...options, onListening: heard });
  const press = await Promise.race([listening, ended.then((result) => Promise.reject(refused(result)))]);
  return {
    stop: async (): Promise<Result> => {
      press("SIGTERM");
      return ended;
    },
  };
}

const refused = ({ code, stderr }: Result): Error => Object.assign(new Error(stderr), { code });

describe("holdfast serve", () => {
  it("prints its address and the first token once, and stops on a signal (A1)", async () => {
    const server = await serving("serve --port 0");
    const { code, stderr, stdout } = await server.stop();
    expect(code).toBe(0);
    expect(stdout).toBe("✓ stopped\n");
    expect(stderr).toMatch(/Holdfast serves http:\/\/127\.0\.0\.1:\d+/);
    expect(stderr).toMatch(/! {3}hf_0{16}_[\w-]{43}\n/);
    const again = await (await serving("serve --port 0")).stop();
    expect(again.stderr).not.toContain("hf_");
  });

  it("advances runs of the files that it is given, and says which", async () => {
    folder.write("flow.ts", FLOW);
    const { stderr } = await (await serving("serve flow.ts --port 0")).stop();
    expect(stderr).toContain("advanced here: 1 workflow (hello)");
  });

  it("doesn't listen on the network without TLS or a proxy, and says what to do (A1, A12)", async () => {
    const { code, stderr } = await folder.run("serve --host 0.0.0.0 --port 0");
    expect([code, stderr]).toEqual([2, expect.stringContaining("--behind-proxy")]);
  });

  it("takes its settings from the configuration, and checks them", async () => {
    folder.write(
      "holdfast.config.yaml",
      "server: { port: 0, allow_hosts: [ops.example.com], limits: { streams: 10 } }\n",
    );
    expect((await (await serving("serve")).stop()).code).toBe(0);
    folder.write("holdfast.config.yaml", "server: { allow_origins: ['*'] }\n");
    const wrong = await folder.run("serve");
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining("exact origin")]);
    folder.write("holdfast.config.yaml", "");
    expect((await folder.run("serve --port 99999")).code).toBe(2);
    expect((await folder.run("serve --tls-cert a.pem")).code).toBe(2);
    expect((await folder.run("serve --allow-origin https://ops.example.com/path")).code).toBe(2);
    expect((await folder.run("serve --trust-proxy 10.0.0.0/99")).code).toBe(2);
  });

  it("refuses to start when every token was revoked (A1)", async () => {
    await (await serving("serve --port 0")).stop();
    expect((await folder.run("token revoke first")).code).toBe(0);
    const { code, stderr } = await folder.run("serve --port 0");
    expect([code, stderr]).toEqual([8, expect.stringContaining("HF-6060")]);
    expect((await folder.run("token create boss --role admin")).stdout).toMatch(
      /^hf_[0-9a-f]{16}_[\w-]{43}\n$/,
    );
    expect((await (await serving("serve --port 0")).stop()).code).toBe(0);
  });
});

describe("holdfast token", () => {
  it("creates, lists, replaces and revokes tokens, and shows a secret only once (A4)", async () => {
    const made = await folder.run(
      "token create ci --role operator --role approver --for ada --label team=a --json",
    );
    const { token } = made.json<{ token: string }>();
    const replaced = await folder.run("token rotate ci --overlap 1m --json");
    const next = replaced.json<{ token: string; info: { id: string } }>();
    await folder.run(`token revoke ${next.info.id}`);
    const list = await folder.run("token list --json");
    const { tokens } = list.json<{
      tokens: { name: string; actor: string; state: string; scope: unknown }[];
    }>();
    expect(tokens).toMatchObject([
      {
        name: "ci",
        actor: "ada",
        state: "valid",
        roles: ["operator", "approver"],
        scope: { labels: { team: "a" } },
      },
      { name: "ci", actor: "ada", state: "revoked" },
    ]);
    for (const secret of [token, next.token]) expect(list.stdout).not.toContain(secret.slice(20));
    expect(list.stdout).not.toContain("hash");
    expect((await folder.run("token list")).stdout).toContain("team=a");
    expect((await folder.run("token revoke nobody")).code).toBe(4);
    expect((await folder.run("token create x --role root")).code).toBe(2);
  });
});
