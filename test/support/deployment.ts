import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "../source-tree.ts";

/** The files of `deploy/`, read by the parsers of their formats. */
const text = (file: string): string => readFileSync(join(ROOT, "deploy", file), "utf8");

interface Service {
  readonly command?: string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: string[] };
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas: number };
  readonly ports?: string[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface Container {
  readonly args: string[];
  readonly ports: { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: Container[];
}

interface Manifest {
  readonly kind: string;
  readonly spec: { readonly replicas?: number; readonly template?: { readonly spec: Pod } };
}

/** The JSON list behind a word at the beginning of a line. */
function listIn(dockerfile: string, word: string): string[] {
  const [, list] = new RegExp(`^${word} (\\[.*\\])$`, "m").exec(dockerfile) ?? [];
  if (list === undefined) throw new Error(`The Dockerfile has no ${word}`);
  return JSON.parse(list) as string[];
}

const dockerfile = text("Dockerfile");
export const image = { entrypoint: listIn(dockerfile, "ENTRYPOINT"), cmd: listIn(dockerfile, "CMD") };

export const { services } = parse(text("compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};

export const manifests = readdirSync(join(ROOT, "deploy/kubernetes"))
  .sort()
  .flatMap((file) =>
    parseAllDocuments(text(`kubernetes/${file}`)).map((document) => {
      const [error] = document.errors;
      if (error) throw error;
      return document.toJS() as Manifest;
    }),
  );

export const pods = manifests.flatMap(({ spec }) => (spec.template ? [spec.template.spec] : []));

/** The value behind a flag of a command line. */
export const valueOf = (words: readonly string[], flag: string): string =>
  words[words.indexOf(flag) + 1] ?? "";
