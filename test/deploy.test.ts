import { describe, expect, it } from "vitest";
import { catalog } from "../src/cli/catalog.ts";
import type { Command } from "../src/cli/command.ts";
import { readDuration } from "../src/cli/config/engine-settings.ts";
import { image, manifests, pods, services, valueOf } from "./support/deployment.ts";

/** Every command line in the files, without `holdfast`. */
const lines: string[][] = [
  image.cmd,
  ...Object.values(services).flatMap(({ command }) => (command ? [command] : [])),
  ...pods.flatMap(({ containers }) => containers.map(({ args }) => args)),
];

/** What the command line would say against these words; reads each value as the command does. */
async function problemsOf([name, ...words]: string[]): Promise<string[]> {
  const command = (await catalog.find((one) => one.name === name)?.load()) as Command | undefined;
  if (!command) return [`no command ${name}`];
  const specs = Object.values(command.options ?? {});
  const problems: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!word.startsWith("--")) {
      if (!command.args?.length) problems.push(`${name} takes no ${word}`);
      continue;
    }
    const spec = specs.find(({ flag }) => flag.split(" ")[0] === word);
    if (!spec) problems.push(`${name} has no ${word}`);
    if (!spec?.flag.includes("<")) continue;
    const value = words[++at];
    if (value === undefined || value.startsWith("--")) problems.push(`${word} without a value`);
    else if ("parse" in spec) spec.parse?.(value);
  }
  return problems;
}

const stopMs = (words: readonly string[]): number =>
  readDuration(valueOf(words, words[0] === "serve" ? "--grace" : "--stop-within")) ?? Number.NaN;

describe("the files for a deployment", () => {
  it("hold only commands and options that exist", async () => {
    expect(lines.map(([name]) => name)).toEqual(["worker", "worker", "serve", "serve", "worker"]);
    for (const line of lines) expect(await problemsOf(line)).toEqual([]);
    expect(await problemsOf(["worker", "a.ts", "--healthy"])).toEqual(["worker has no --healthy"]);
    expect(image.entrypoint).toEqual(["node_modules/.bin/holdfast"]);
  });

  it("start two workers and a server on one store", () => {
    expect(Object.keys(services)).toEqual(["db", "worker", "server"]);
    expect(services["worker"]?.deploy?.replicas).toBe(2);
    expect(services["server"]?.ports).toEqual(["127.0.0.1:4100:4100"]);
    expect(manifests.map(({ kind, spec }) => [kind, spec.replicas])).toEqual([
      ["Deployment", 1],
      ["Service", undefined],
      ["Deployment", 2],
    ]);
  });

  it("give each process more time than it takes to stop", () => {
    for (const { command, stop_grace_period: grace = "" } of Object.values(services))
      if (command) expect(readDuration(grace)).toBeGreaterThan(stopMs(command));
    for (const { terminationGracePeriodSeconds: seconds, containers } of pods)
      for (const { args } of containers) expect(seconds * 1_000).toBeGreaterThan(stopMs(args));
  });

  it("ask for health where it is answered", () => {
    const asked = pods.flatMap(({ containers }) =>
      containers.map(({ args, ports, livenessProbe, readinessProbe }) => {
        const flag = args[0] === "serve" ? "--port" : "--health-port";
        expect(ports.map(({ containerPort }) => String(containerPort))).toEqual([valueOf(args, flag)]);
        const probes = [livenessProbe.httpGet, readinessProbe.httpGet];
        for (const { port } of probes) expect(ports[0]?.name).toBe(port);
        return [args[0], ...probes.map(({ path }) => path)];
      }),
    );
    expect(asked).toEqual([
      ["serve", "/healthz", "/readyz"],
      ["worker", "/live", "/ready"],
    ]);
  });
});
