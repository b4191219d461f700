import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { folderWith } from "../support/yaml.ts";

const CHILD = childScript("test/crash/yaml-child");

const FLOW = `workflow:
  name: w
  entry_point: first
  input: { items: { type: array } }
agents:
  - { name: first, prompt: p, routes: [{ to: log }] }
  - name: log
    type: script
    command: sh
    args: ["-c", "echo ran >> \\"$0\\"", "{{ workflow.dir }}/script"]
    routes: [{ to: sides }]
  - { name: left, prompt: p }
  - { name: right, prompt: p }
  - { name: sub, type: workflow, workflow: ./inner.yaml, routes: [{ to: last }] }
  - { name: last, prompt: "{{ each.outputs | length }}" }
parallel:
  - { name: sides, agents: [left, right], routes: [{ to: each }] }
for_each:
  - { name: each, type: for_each, source: workflow.input.items, as: item, max_concurrent: 1, agent: { name: one, prompt: "{{ item }}" }, routes: [{ to: sub }] }
output: { n: "{{ each.count }}", last: "{{ last.output.result }}" }
`;
const INNER = `workflow: { name: inner, entry_point: deep }
agents:
  - { name: deep, prompt: p, routes: [{ to: deeper }] }
  - { name: deeper, prompt: p }
`;

it("a workflow file whose process is killed at model calls goes on, and no call that was answered is made again (S3-02, S3-03, S3-26)", () => {
  const folder = folderWith({ "flow.yaml": FLOW, "inner.yaml": INNER });
  const killedAt = ["first", "right", "deeper", "last"];
  let output = "";
  let processes = 0;
  while (output === "" && processes++ < 10) {
    const args = [CHILD, folder, killedAt.join(",")];
    const { stdout, stderr, signal, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(signal === "SIGKILL" || status === 0, stderr).toBe(true);
    output = stdout;
  }
  expect(JSON.parse(output)).toEqual({ n: 3, last: "last" });
  expect(processes).toBe(killedAt.length + 1);
  const calls = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
  const times = (agent: string): number => calls.filter((one) => one === agent).length;
  for (const agent of killedAt) expect(times(agent), agent).toBe(2);
  // Work beside a call that died with its process may have been in progress too.
  expect(times("left")).toBeLessThanOrEqual(2);
  expect([times("one"), times("deep")]).toEqual([3, 1]);
  expect(existsSync(join(folder, "script")) && readFileSync(join(folder, "script"), "utf8")).toBe("ran\n");
});
