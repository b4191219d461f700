// Prints a CycloneDX bill of materials of what an installed copy needs: the dependencies of package.json and theirs. npm's own
// `--omit dev` also leaves out what a development tool happens to share.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { BUILT_IN } from "./built-in.mjs";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const whole = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx"], {
  encoding: "utf8",
  maxBuffer: 1 << 28,
  stdio: ["ignore", "pipe", "ignore"],
});
const bom = JSON.parse(whole);
/** @type {Map<string, string[]>} */
const needs = new Map(
  bom.dependencies.map((/** @type {{ ref: string, dependsOn?: string[] }} */ one) => [
    one.ref,
    one.dependsOn ?? [],
  ]),
);
const roots = [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), ...BUILT_IN];

/** @type {Set<string>} */
const reached = new Set();
const queue = (needs.get(bom.metadata.component["bom-ref"]) ?? []).filter((/** @type {string} */ ref) =>
  roots.some((name) => ref.startsWith(`${name}@`)),
);
for (const ref of queue) {
  if (reached.has(ref)) continue;
  reached.add(ref);
  queue.push(...(needs.get(ref) ?? []));
}

bom.metadata.component.name = manifest.name;
bom.components = bom.components.filter((/** @type {{ "bom-ref": string }} */ one) =>
  reached.has(one["bom-ref"]),
);
bom.dependencies = bom.dependencies.filter(
  (/** @type {{ ref: string }} */ one) =>
    reached.has(one.ref) || one.ref === bom.metadata.component["bom-ref"],
);
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
