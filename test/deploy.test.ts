import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { catalog } from "../src/cli/catalog.ts";
import type { Command } from "../src/cli/command.ts";
import { readDuration } from "../src/cli/config/engine-settings.ts";
import { ROOT } from "./source-tree.ts";

const text = (file: string): string => readFileSync(join(ROOT, "deploy", file), "utf8");

interface Service {
  readonly command?: string[];
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas: number };
  readonly ports?: string[];
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly args: string[];
  readonly ports: { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: Container[] };
    };
  };
}

const dockerfile = text("Dockerfile");
const { services } = parse(text("compose.yaml"), { merge: true }) as { services: Record<string, Service> };
const manifests = readdirSync(join(ROOT, "deploy/kubernetes")).flatMap((file) =>
  parseAllDocuments(text(`kubernetes/${file}`)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  }),
);
const pods = manifests.flatMap(({ spec }) => (spec.template ? [spec.template.spec] : []));

/** Every command line in the files, without `holdfast`. */
const lines: string[][] = [
  JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "[]") as string[],
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

const valueOf = (words: readonly string[], flag: string): string => words[words.indexOf(flag) + 1] ?? "";
const stopMs = (words: readonly string[]): number =>
  readDuration(valueOf(words, words[0] === "serve" ? "--grace" : "--stop-within")) ?? Number.NaN;

describe("the files for a deployment", () => {
  it("hold only commands and options that exist", async () => {
    expect(lines.map(([name]) => name)).toEqual(["worker", "worker", "serve", "serve", "worker"]);
    for (const line of lines) expect(await problemsOf(line)).toEqual([]);
    expect(await problemsOf(["worker", "a.ts", "--healthy"])).toEqual(["worker has no --healthy"]);
    expect(dockerfile).toContain('ENTRYPOINT ["node_modules/.bin/holdfast"]');
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
