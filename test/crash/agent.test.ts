import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import type { AgentResult } from "../../src/agent/index.ts";
import { type OpenAiAnswer, type OpenAiBody, startOpenAiServer } from "../../src/testing/openai-server.ts";
import type { AgentConfig } from "./agent-child.ts";

const CHILD = childScript("test/crash/agent-child");
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-agent-"));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** The model's requests in each turn; afterwards it answers with everything it was told. */
const TURNS = [
  ["look"],
  ["pay"],
  ["look", "look"],
  ["mail"],
  ["charge", "pay"],
  ["mail", "look"],
  ["pay"],
  ["charge"],
  ["pay", "mail"],
];

const turnOf = ({ messages }: OpenAiBody): number =>
  messages.filter(({ role }) => role === "assistant").length;

function answerTo(body: OpenAiBody): OpenAiAnswer {
  const turn = turnOf(body);
  const names = TURNS[turn];
  if (names) return { calls: names.map((tool, n) => ({ tool, input: { n: turn * 10 + n } })) };
  return {
    text: body.messages.flatMap(({ role, content }) => (role === "tool" ? [String(content)] : [])).join(", "),
  };
}

/** Where a process is killed: during a model call of a turn, or during a tool call with this name and number. */
type Kill = { readonly turn: number } | { readonly tool: string; readonly n: number };

interface Deed {
  readonly name: string;
  readonly n: number;
  readonly key: string;
}

/** The outside world: a model, and a witness of what tools do. Both outlive the processes, and can kill them. */
async function world() {
  let kill: { readonly at: Kill; readonly strike: () => void } | undefined;
  const strikes = (isHere: (at: Kill) => boolean): boolean => {
    if (!kill || !isHere(kill.at)) return false;
    kill.strike();
    kill = undefined;
    return true;
  };
  const model = await startOpenAiServer(({ body }) => {
    const isKilled = strikes((at) => "turn" in at && at.turn === turnOf(body));
    return isKilled ? { hang: true } : answerTo(body);
  });
  const deeds: Deed[] = [];
  const witness = createServer((request, response) => {
    void readText(request).then((body) => {
      const given = JSON.parse(body) as Deed & { step: string };
      const found = (matches: (deed: Deed) => boolean) => deeds.find(matches);
      const told = (deed: Deed | undefined) =>
        response.end(JSON.stringify({ text: deed ? `${deed.name} ${deed.n}` : null }));
      if (request.url === "/seen") return void told(found(({ key }) => key === given.key));
      if (request.url === "/looked-up")
        return void told(deeds.findLast(({ name }) => given.step.includes(`tool:${name}`)));
      // A known key isn't carried out twice.
      const known = given.name === "charge" ? found(({ key }) => key === given.key) : undefined;
      if (!known) deeds.push(given);
      if (!strikes((at) => "tool" in at && at.tool === given.name && at.n === given.n)) told(given);
    });
  });
  await new Promise<void>((resolve) => witness.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => model.close(),
    () => (witness.closeAllConnections(), witness.close()),
  );
  return {
    model,
    deeds,
    witness: `http://127.0.0.1:${(witness.address() as AddressInfo).port}`,
    killAt(at: Kill, child: ChildProcess) {
      kill = { at, strike: () => child.kill("SIGKILL") };
    },
  };
}

type World = Awaited<ReturnType<typeof world>>;

/** Runs a process on the run until it is done or killed. */
async function work(
  { model, witness, killAt }: World,
  { file, via, at }: { readonly file: string; readonly via: AgentConfig["via"]; readonly at?: Kill },
): Promise<AgentResult | "killed"> {
  const config: AgentConfig = { file, model: model.url, witness, via };
  const args = [CHILD, JSON.stringify(config)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  if (at) killAt(at, child);
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("close", (_, signal) => resolve(signal)),
  );
  const printed = await readText(child.stdout);
  return (await ended) === "SIGKILL" ? "killed" : (JSON.parse(printed) as AgentResult);
}

const KILLS: readonly Kill[] = [
  { turn: 0 },
  { tool: "pay", n: 10 },
  { tool: "mail", n: 30 },
  { tool: "charge", n: 40 },
  { turn: 9 },
];

const FRONTS: readonly AgentConfig["via"][] = ["runAgent", "generateText", "streamText"];

describe.each(FRONTS)("an agent driven by %s whose process is killed again and again", (via) => {
  it("gives the same answer, asks the model once more at most for each kill, and does nothing twice that it must not (S1-01, S1-20)", async () => {
    const calm = await world();
    const expected = (await work(calm, { file: path.join(folder, `${via}-calm.db`), via })) as AgentResult;
    expect(expected).toMatchObject({
      turns: 10,
      text: expect.stringContaining("pay 10, look 20, look 21, mail 30") as string,
    });
    expect(calm.model.requests).toHaveLength(10);

    const rough = await world();
    const file = path.join(folder, `${via}-rough.db`);
    for (const at of KILLS) expect(await work(rough, { file, via, at }), JSON.stringify(at)).toBe("killed");
    expect(await work(rough, { file, via })).toEqual(expected);

    const asked = rough.model.requests.map(({ body }) => turnOf(body));
    const again = asked.filter((turn, index) => asked.indexOf(turn) !== index);
    expect(again).toEqual(KILLS.flatMap((kill) => ("turn" in kill ? [kill.turn] : [])));
    const done = rough.deeds.filter(({ name }) => name !== "look").map(({ name, n }) => `${name} ${n}`);
    expect(done).toEqual([...new Set(done)]);
    expect(done.sort()).toEqual(
      calm.deeds
        .filter(({ name }) => name !== "look")
        .map(({ name, n }) => `${name} ${n}`)
        .sort(),
    );
  });
});
